"""The documents' examples: their commands print what the page shows, in the order in which it shows it."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from batchproof.targets.witness.probe import COLUMNS

ROOT = Path(__file__).parents[2]
FENCE = "```"
FILES = {"docs/adapters.md": "claims.toml", "docs/ci.md": "known.toml", "docs/verdicts.md": None}  # a TOML block each
HERE = re.compile(r"--target (?:mutant:|virtual|example_adapter)|--replay report/|new adapter example")  # needs no server
SECONDS = re.compile(r"\b\d+(?:\.\d+)? s\b")
PATIENT_S = 120

pytestmark = pytest.mark.skipif(not (ROOT / "docs").is_dir(), reason="no docs here: the documentation is not installed")


def blocks(text: str, kind: str) -> list[str]:
    """Return the blocks of one kind of a page."""
    return re.findall(rf"^{FENCE}{kind}\n(.*?){FENCE}", text, re.MULTILINE | re.DOTALL)


def lines(text: str) -> list[str]:
    """Return the lines that a reader compares: without times, and with single spaces."""
    plain = (" ".join(SECONDS.sub("N s", line).split()) for line in text.splitlines())
    return [line for line in plain if line not in ("", "...")]


def missing(shown: str, printed: str) -> list[str]:
    """Return the lines of an example that were not printed, or not in this order."""
    rest = iter(lines(printed))
    return [line for line in lines(shown) if line not in rest]


def run(command: str, folder: Path) -> str:
    """Run one line of a console; return what it prints."""
    printed = ""
    for part in command.split(" && "):
        word, *arguments = shlex.split(part)
        if word == "cd":
            folder /= arguments[0]
            continue
        words = [sys.executable, "-m", word, *arguments]
        done = subprocess.run(words, cwd=folder, capture_output=True, text=True, timeout=PATIENT_S, check=False)
        printed += done.stderr + done.stdout
    return printed


def examples(text: str) -> list[tuple[list[str], str]]:
    """Return the commands of each block that runs here, and what the block shows of the last one's output."""
    found = []
    for block in blocks(text, "console"):
        commands = re.findall(r"^\$ (.*)", block, re.MULTILINE)
        shown = re.sub(r"^\$ .*\n", "", block, flags=re.MULTILINE)
        if shown.strip() and HERE.search(commands[-1]):
            found.append((commands, shown))
    return found


@pytest.mark.parametrize(("page", "file"), FILES.items())
def test_an_example_prints_what_its_page_shows(page: str, file: str | None, tmp_path: Path) -> None:
    """Whoever types the commands of a page, in an empty folder with its files, sees what the page shows, but for times."""
    text = (ROOT / page).read_text(encoding="utf-8")
    if file is not None:
        (tmp_path / file).write_text(next(one for one in blocks(text, "toml") if one.startswith(("[claims]", "[[issue]]"))))

    found = [missing(shown, run(" && ".join(commands), tmp_path)) for commands, shown in examples(text)]

    assert found
    assert [line for one in found for line in one] == []


def test_a_line_that_is_not_printed_is_found() -> None:
    """Times may differ; words, numbers and the order may not."""
    shown = "one  0.3 s\n...\ntwo\n"

    assert missing(shown, "zero\none 12 s\n\ntwo\nthree\n") == []
    assert missing(shown, "two\none 0.3 s\n") == ["two"]
    assert missing(shown, "one 0.3 ms\ntwo\n") == ["one N s", "two"]


def test_the_messages_of_stdio_have_all_columns() -> None:
    """A line that people copy has as many numbers as a request."""
    text = (ROOT / "docs" / "stdio.md").read_text(encoding="utf-8")
    found = [json.loads(line[2:]) for line in text.splitlines() if line.startswith('> {"do":"infer"')]

    assert found
    assert {len(row) for message in found for row in message["input"]} == {len(COLUMNS)}
