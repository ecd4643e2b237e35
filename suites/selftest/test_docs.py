"""The documents: what they link to, run and name exists, and the pages that people read first stay short."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import typer.main
from typer.testing import CliRunner

from batchproof.cli import app
from batchproof.suites.selftest.strangers.exam import EXAMINED
from batchproof.suites.selftest.strangers.exam import SERIES as STRANGER_SERIES

if TYPE_CHECKING:
    from collections.abc import Iterator

    import click

ROOT = Path(__file__).parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").glob("**/*.md")])
ROOMS = "bench|cli|commands|docs|fixtures|host|load|reference_batcher|reports|stats|suites|targets"
MOST_WORDS = {"README.md": 1650, "docs/performance.md": 1000, "docs/load.md": 1000}
INSTALLS = re.compile(r"pip install [^\n]*(?:batchproof(?!-)\b|'?\"?\.(?:\[|\s|$))")
FENCE = "```"
EXAM = "python -m batchproof.suites.selftest.strangers.exam"

pytestmark = pytest.mark.skipif(not (ROOT / "docs").is_dir(), reason="no docs here: the documentation is not installed")


def prose(text: str) -> str:
    """Return a page without its blocks of code."""
    return "".join(text.split(FENCE)[::2])


def anchors(text: str) -> set[str]:
    """Return the anchors of a page's headings, as GitHub makes them."""
    headings = re.findall(r"^#+ (.*)$", prose(text), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-") for heading in headings}


def dead_links(page: Path, text: str) -> list[str]:
    """Return the relative links of a page that lead to no file, or to no heading in it."""
    dead = []
    for link in re.findall(r"\]\(([^)\s]+)\)", prose(text)):
        name, _, anchor = link.partition("#")
        target = page.parent / name if name else page
        if "://" in link:
            continue
        if not target.exists() or (anchor and anchor not in anchors(target.read_text(encoding="utf-8"))):
            dead.append(link)
    return dead


def commands(text: str) -> Iterator[list[str]]:
    """Yield the words of each `batchproof ...` in the console blocks of a page, without comments."""
    for block in re.findall(rf"^ *{FENCE}(?:console|sh|yaml)\n(.*?){FENCE}", text, re.MULTILINE | re.DOTALL):
        for line in block.splitlines():
            for command in re.findall(r"(?:^\$ |[ /(])batchproof ((?!batchproof)[a-z].*)", line.partition(" #")[0]):
                yield command.split()


@cache
def command_line() -> click.Command:
    """Return the whole command line."""
    return typer.main.get_command(app)


def unknown_words(words: list[str]) -> list[str]:
    """Return the verbs and options of a command that the command line does not have."""
    command = command_line()
    while words and (inner := getattr(command, "commands", None)):
        verb, *words = words
        if verb not in inner:
            return [verb]
        command = inner[verb]
    if "command" in {parameter.name for parameter in command.params}:  # `lab awake COMMAND`: the rest is another's
        return []
    known = {option for parameter in command.params for option in parameter.opts}
    return [word for word in words if word.startswith("--") and word.partition("=")[0] not in known]


def missing_modules(text: str) -> list[str]:
    """Return the `room/file.ext` in a page's prose that do not exist."""
    named = re.findall(rf"`((?:{ROOMS})/[\w/.-]+\.(?:py|toml|md|json))`", prose(text))
    return [path for path in named if not re.search("[A-Z]{2}", path) and not (ROOT / path).exists()]  # NAME is the reader's


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_what_a_page_names_exists(page: Path) -> None:
    """Every relative link leads somewhere, and every command, option and module exists."""
    text = page.read_text(encoding="utf-8")

    unknown = [(words, found) for words in commands(text) if (found := unknown_words(words))]

    assert (dead_links(page, text), unknown, missing_modules(text)) == ([], [], [])


@pytest.mark.parametrize(
    "page", [page for page in PAGES if EXAM in page.read_text(encoding="utf-8")], ids=lambda page: page.stem
)
def test_a_page_says_what_the_program_does_that_judges_strangers(page: Path) -> None:
    """Its name alone does not, and each stranger that it is given exists."""
    text = page.read_text(encoding="utf-8")
    given = [name for line in re.findall(rf"{EXAM}(.*)", text) for name in line.partition(" #")[0].split()]

    assert "as a table" in text
    assert [name for name in given if name not in {**EXAMINED, **STRANGER_SERIES}] == []


@pytest.mark.parametrize(("page", "most"), MOST_WORDS.items())
def test_a_manual_stays_short(page: str, most: int) -> None:
    """The README and the manual of performance are read to the end; results and reasons have pages of their own."""
    lines = (ROOT / page).read_text(encoding="utf-8").splitlines()

    assert sum(len(line.split()) for line in lines if not line.startswith("| ")) < most  # the matrix is looked at, not read


def test_one_page_says_how_to_install() -> None:
    """Only the README installs Batchproof, so that one place changes on the day of a release."""
    pages = [path.relative_to(ROOT).as_posix() for path in PAGES if INSTALLS.search(path.read_text(encoding="utf-8"))]

    assert pages == ["README.md"]


def test_the_failure_in_the_readme_is_real(monkeypatch: pytest.MonkeyPatch) -> None:
    """The README shows what the recorded evidence of F-2026-02 shows when it is judged again."""
    (shown,) = re.findall(rf"{FENCE}\n(FAIL .*?){FENCE}", (ROOT / "README.md").read_text(encoding="utf-8"), re.DOTALL)

    monkeypatch.chdir(ROOT)
    result = CliRunner().invoke(app, ["check", "--replay", "docs/findings/f-2026-02.zip"])

    assert (result.exit_code, shown in result.output) == (1, True)


def test_every_page_is_in_an_index() -> None:
    """Each page and each result is linked from the README of its folder."""
    for folder in (ROOT / "docs", ROOT / "docs" / "results", ROOT / "docs" / "decisions"):
        index = (folder / "README.md").read_text(encoding="utf-8")
        names = {page.name for page in folder.glob("*.md")} - {"README.md"}
        assert [name for name in sorted(names) if f"({name})" not in index] == []


@cache
def glossary() -> list[str]:
    """Return the words of the glossary, in its order."""
    return re.findall(r"^\*\*(.*)\.\*\*$", (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8"), re.MULTILINE)


@cache
def texts() -> list[str]:
    """Return every page and module except the glossary and the selftests, in lower case; an underscore counts as a space."""
    modules = [path for room in ROOMS.split("|") for path in (ROOT / room).glob("**/*.py") if "selftest" not in path.parts]
    files = [path for path in (*PAGES, *modules) if path.name != "glossary.md"]
    return [path.read_text(encoding="utf-8").lower().replace("_", " ") for path in files]


def files_with(word: str) -> int:
    """Return in how many files a word or its plural occurs."""
    lower = word.lower()
    return sum(lower in text and re.search(rf"\b{lower}s?\b", text) is not None for text in texts())


@pytest.mark.parametrize("word", glossary() if (ROOT / "docs").is_dir() else [])
def test_a_word_of_the_glossary_is_used_in_two_files(word: str) -> None:
    """A word that occurs in a single file is explained there."""
    assert files_with(word) >= 2


def test_the_glossary_is_in_alphabetical_order() -> None:
    """A word is found where the alphabet puts it."""
    assert glossary() == sorted(glossary(), key=str.lower)


def test_a_word_without_a_file_is_found() -> None:
    """A word that occurs in no file is not counted, whatever the glossary says."""
    assert files_with("flibbertigibbet") == 0


def test_a_dead_link_is_found(tmp_path: Path) -> None:
    """A link to a file that does not exist is dead, and so is one to a heading that does not."""
    (tmp_path / "other.md").write_text("# A heading with `code`\n")
    text = "[1](other.md) [2](gone.md) [3](other.md#a-heading-with-code) [4](other.md#gone) [5](https://example.com/x)"

    assert dead_links(tmp_path / "page.md", text) == ["gone.md", "other.md#gone"]


@pytest.mark.parametrize(
    ("command", "unknown"),
    [
        ("check --target null --report x", []),
        ("lab theory --requests 2000", []),
        ("lab awake sh --whatever", []),
        ("chekc --target null", ["chekc"]),
        ("lab thoery", ["thoery"]),
        ("check --tarket null", ["--tarket"]),
    ],
)
def test_an_unknown_verb_or_option_is_found(command: str, unknown: list[str]) -> None:
    """A command in a console block is looked up word by word."""
    (words,) = commands(f"```console\n$ batchproof {command}   # a comment with --options\n```\n")

    assert unknown_words(words) == unknown


def test_a_missing_module_is_found() -> None:
    """A path in backticks that begins with a room has to exist."""
    assert missing_modules("`load/schedule.py` and `load/gone.py`") == ["load/gone.py"]


@pytest.mark.parametrize("what", ["batchproof", "'batchproof[triton]'", ".", "'.[triton]'"])
def test_an_installation_is_found(what: str) -> None:
    """Whatever installs Batchproof counts, and commands that install other things do not."""
    assert INSTALLS.search(f"$ pip install {what}\n")
    assert not INSTALLS.search("$ pip install tox\n")
