"""Which files `lint` reads, and their text: folders, patterns and standard input, and nothing that is not a plain file."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from glob import glob, has_magic
from pathlib import Path

from batchproof.commands.lint.neighbours import CONFIG, neighbours
from batchproof.fixtures.judging.checkers.config.common import Beside, alone
from batchproof.fixtures.judging.pbtxt import is_of_another_program
from batchproof.host.plain_files import read_plain

STDIN = "-"
LARGEST = 64 << 20  # bytes; real ones have a few thousand
IN_FOLDER = ("config.pbtxt", *(f"{one}.pbtxt" for one in ("config.*", "config_*", "config-*", "*_config", "*-config")))


@dataclass(frozen=True)
class Source:
    """One file: its path as it is shown, and its text, or why it cannot be read.

    folder: the name of the folder of a model that can be served from there; empty if it is not clear that one can.
    called: what the server calls the model if it has no name; empty if that is not known.
    beside: finds the models that lie next to it.
    """

    path: str
    text: str = ""
    why: str = ""
    folder: str = ""
    called: str = ""
    beside: Beside = alone


def sources(names: Sequence[str], release: tuple[int, int] | None = None) -> Iterator[Source]:
    """Read all files that the names stand for, each once, one at a time. release: of the server."""
    seen: set[str] = set()
    for name in names:
        for path in _paths(name):
            if isinstance(path, Source):
                yield path
            elif path not in seen:
                seen.add(path)
                yield _read(path, release)


def _paths(name: str) -> Iterator[str | Source]:
    if name == STDIN:
        yield name
    elif not name:
        yield Source(name, why="this name is empty")
    elif os.path.isdir(name):  # noqa: PTH112 - pathlib's raises where a folder above it must not be read
        yield from _in_folder(name)
    elif has_magic(name) and not os.path.lexists(name):
        found = sorted(path for path in glob(name, recursive=True) if not Path(path).is_dir())  # noqa: PTH207 - as in a shell
        yield from found
        if not found:
            yield Source(name, why="no file matches this pattern")
    else:
        yield name


def _in_folder(name: str) -> Iterator[str | Source]:
    """Yield the configurations in a folder and below it, in order; links to folders are not followed."""
    found: list[str] = []
    closed: list[OSError] = []
    for folder, below, files in os.walk(name, onerror=closed.append):
        below[:] = sorted(one for one in below if one != ".git")
        special = Path(folder).name == "configs"  # Triton reads configs/NAME.pbtxt when it is told to
        chosen = (one for one in files if special or any(fnmatchcase(one, pattern) for pattern in IN_FOLDER))
        paths = (os.path.normpath(Path(folder, one)) for one in sorted(chosen) if one.endswith(".pbtxt"))
        found += [path for path in paths if not _is_of_another_program(path)]
    yield from found
    yield from (Source(str(error.filename), why=error.strerror or str(error)) for error in closed)
    if not (found or closed):
        yield Source(name, why="there is no config.pbtxt in this folder")


def _is_of_another_program(path: str) -> bool:
    """Return whether a file whose name does not say so is no model's; what cannot be read is told later."""
    if Path(path).name == CONFIG:
        return False
    try:
        return is_of_another_program(read_plain(path, LARGEST + 1).decode("utf-8", "surrogateescape"))
    except (OSError, ValueError):
        return False


def _read(path: str, release: tuple[int, int] | None) -> Source:
    if path == STDIN and sys.stdin is None:
        return Source("<stdin>", why="standard input is closed")
    try:
        data = sys.stdin.buffer.read(LARGEST + 1) if path == STDIN else read_plain(path, LARGEST + 1)
    except (OSError, ValueError) as error:
        return Source(path, why=(error.strerror if isinstance(error, OSError) else None) or str(error))
    if len(data) > LARGEST:
        return Source(path, why=f"it is larger than {LARGEST >> 20} MiB")
    text = data.decode("utf-8", "surrogateescape")
    if path == STDIN:
        return Source("<stdin>", text)
    absolute = Path(os.path.abspath(path))  # noqa: PTH100 - the server takes the folder's name, not that of a link's target
    if absolute.name != CONFIG:
        return Source(path, text)
    beside = neighbours(absolute, _read_neighbour, release)
    return Source(path, text, folder=_folder(absolute.parent), called=absolute.parent.name, beside=beside)


def _folder(here: Path) -> str:
    """Return the name of a configuration's folder if a version of the model is next to the configuration."""
    try:
        versions = any(one.name.isdecimal() and one.is_dir() for one in here.iterdir())
    except OSError:
        return ""
    return here.name if versions else ""


def _read_neighbour(path: Path) -> bytes:
    return read_plain(path, LARGEST + 1)
