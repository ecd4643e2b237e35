"""Exit statuses under test: one table, and every help text and document agrees with it."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest
import typer

from batchproof.cli import app
from batchproof.exit_status import COMMANDS, ExitStatus, help_text, markdown, refuse

ROOT = Path(__file__).parents[2]
MARKS = "<!-- exit statuses: what batchproof.exit_status.markdown() returns -->\n", "\n<!-- end of exit statuses -->"


def test_each_number_has_one_meaning() -> None:
    """All numbers and meanings are different, and the numbers are those that CI scripts know."""
    numbers = [int(status) for status in ExitStatus]

    assert numbers == sorted(set(numbers)) == [0, 1, 2, 4, 5, 75, 130]
    assert len({status.meaning for status in ExitStatus}) == len(numbers)


def declared() -> dict[str, str]:
    """Return the epilog of every command that the command line declares, by the first word of its name."""
    group = typer.main.get_command(app)
    found = {}
    for name, command in group.commands.items():  # type: ignore[attr-defined]
        inner = getattr(command, "commands", {"": command})
        (found[name],) = {one.epilog for word, one in inner.items() if word != "awake"}  # it passes on a status
    return found


@pytest.mark.parametrize("command", declared())
def test_help_ends_with_the_statuses(command: str) -> None:
    """Each command's help ends with the statuses that it can return, from the table."""
    epilog = declared()[command]

    assert epilog == help_text(command)
    assert re.findall(r"^  (\d+) +\S", epilog, re.MULTILINE) == [str(int(status)) for status in COMMANDS[command]]
    assert max(map(len, epilog.splitlines())) <= 80


def test_the_table_knows_the_commands() -> None:
    """The table has a line for each command that is declared."""
    assert set(declared()) == set(COMMANDS)


@pytest.mark.parametrize("document", ["README.md"])
def test_documents_show_the_table(document: str) -> None:
    """Between its marks, a document shows the table unchanged. To repair it, copy what is expected here."""
    text = (ROOT / document).read_text(encoding="utf-8")

    shown = text.partition(MARKS[0])[2].partition(MARKS[1])[0]

    assert shown == markdown()


def test_a_refusal_is_one_line_on_standard_error(capsys: pytest.CaptureFixture[str]) -> None:
    """The reason is printed on standard error under the command's name, and the status is returned."""
    assert refuse("no such file") is ExitStatus.MISUSE
    assert refuse("no server", ExitStatus.UNAVAILABLE) is ExitStatus.UNAVAILABLE
    assert capsys.readouterr() == ("", "batchproof: no such file\nbatchproof: no server\n")


ENDS = ("exit", "_exit", "Exit", "SystemExit")


def literals(source: str) -> list[str]:
    """Return where a module states an exit status as a number: 75 or 130 anywhere, or any number that it exits with."""
    found = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Constant) and type(node.value) is int and node.value in (75, 130):
            found.append(f"line {node.lineno}: {node.value}")
        if isinstance(node, ast.Call) and ast.unparse(node.func).rpartition(".")[2] in ENDS:
            found += [f"line {node.lineno}: {ast.unparse(node)}" for one in node.args if isinstance(one, ast.Constant)
                      and type(one.value) is int]
    return found


def test_a_literal_status_is_found() -> None:
    """The search finds what it is meant to find, and nothing else."""
    assert literals("return_value = 1 if wrong else 75") == ["line 1: 75"]
    assert literals("sys.exit(3)\nraise SystemExit(1)\nraise typer.Exit(ExitStatus.FINE)") == [
        "line 1: sys.exit(3)", "line 2: SystemExit(1)",
    ]


def test_no_exit_status_is_a_literal_number() -> None:
    """Outside the table, no command exits with a number of its own."""
    rooms = [path.parent for path in ROOT.glob("*/__init__.py") if path.parent.name != "suites"]
    sources = [*ROOT.glob("*.py"), *(path for room in rooms for path in room.rglob("*.py"))]
    found = {path.name: literals(path.read_text(encoding="utf-8")) for path in sources if path.name != "exit_status.py"}

    assert len(found) > 100

    assert {name: places for name, places in found.items() if places} == {}


def test_a_message_cannot_steer_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    """It may quote what a server sent, or the name of a file."""
    assert refuse("cannot reach \x1b[31mx\x07\u202e\x9b: is it running?\n  there") is ExitStatus.MISUSE

    assert capsys.readouterr().err == "batchproof: cannot reach [31mx: is it running?\n  there\n"
