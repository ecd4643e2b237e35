"""What report.jsonl and bench.jsonl have in common: a header, a body and a footer, in lines of JSON of known types."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path
from types import MappingProxyType
from typing import Any

from batchproof import __version__
from batchproof.host.plain_files import read_plain
from batchproof.reports.formats.schemas import flaw, schema, version
from batchproof.reports.wording import clean

Line = Mapping[str, Any]  # what one line says, as the schema of its file describes it

NOTHING: Mapping[str, Any] = MappingProxyType({})


class ReportError(Exception):
    """This is not a report, or it contradicts itself; the message names the file, the line and the reason."""


class ReportFolderError(Exception):
    """The report cannot be written there; the message says why."""


@dataclass(frozen=True)
class Lines:
    """The content of a file, in its order. footer: None if the file is truncated; cut: its last line ends in the middle."""

    header: Line
    body: tuple[Line, ...]
    footer: Line | None
    cut: bool


def lines(raw: bytes, name: str, *, own: bool = False) -> Lines:
    """Read the content of a file of the format with this schema; ReportError says which line is wrong and why.

    own: they are not compared with the schema, because the run that wrote them has done that. It takes longer than all else.
    """
    header: Line | None = None
    footer: Line | None = None
    body: list[Line] = []
    cut = False
    for number, line in _objects(raw):
        if header is None:
            header = _header(line, name, own=own)
        elif footer is not None:
            raise ReportError(f"line {number}: something follows the footer")
        elif line is None:
            cut = True
        elif line.get("type") == "header":
            raise ReportError(f"line {number}: a second header; two runs wrote into one file")
        elif _checked(line, number, name, own=own)["type"] == "footer":
            footer = line
        else:
            body.append(line)
    if header is None:
        raise ReportError("the file is empty")
    return Lines(header, tuple(body), footer, cut)


def _objects(raw: bytes) -> Iterator[tuple[int, Line | None]]:
    """Yield each line's number and object; None for a last line that is not JSON, as a killed run leaves it."""
    # Split at b"\n" alone: str.splitlines() also splits at characters that JSON allows inside a string.
    texts = [(number, text) for number, text in enumerate(raw.split(b"\n"), 1) if text.strip()]
    for number, text in texts:
        try:
            data = json.loads(text.decode(), parse_constant=str)  # NaN becomes "NaN", which report.json can hold
        except (ValueError, RecursionError):
            if number != texts[-1][0]:
                raise ReportError(f"line {number} is not JSON") from None
            yield number, None
            continue
        if not isinstance(data, dict):
            raise ReportError(f"line {number} is not a JSON object")
        yield number, data


def _header(line: Line | None, name: str, *, own: bool) -> Line:
    if line is None or line.get("type") != "header":
        raise ReportError(f"the first line is not a header, so this is not {name}.jsonl")
    known = version(name, "header")
    if line.get("format") != known:
        raise ReportError(f"its format is {line.get('format')!r}, and this version of Batchproof reads format {known}")
    return _checked(line, 1, name, own=own)


def _checked(line: Line, number: int, name: str, *, own: bool) -> Line:
    kind = line.get("type")
    if {"$ref": f"#/$defs/{kind}"} not in schema(name)["oneOf"]:
        raise ReportError(f"line {number}: unknown type {kind!r}")
    if not own and (wrong := flaw(name, str(kind), line)):
        raise ReportError(f"line {number}, {kind}: {wrong}")
    return line


@contextmanager
def opened(path: str | Path, name: str) -> Iterator[bytes]:
    """Yield the content of a file, or of the file of this name in a folder. A ReportError in the block names the file."""
    file = Path(path)
    try:
        file = file / name if file.is_dir() else file
        yield read_plain(file)
    except FileNotFoundError:
        raise ReportError(f"{file}: no such file") from None
    except OSError as error:
        raise ReportError(f"{file}: cannot be read ({error.strerror})") from None
    except ReportError as error:
        raise ReportError(f"{file}: {clean(error)}") from None


@contextmanager
def prepared(folder: Path, what: str) -> Iterator[None]:
    """Turn an OSError about a folder into a ReportFolderError. what: the thing to be written there, `report` or `bench`."""
    try:
        yield
    except OSError as error:
        raise ReportFolderError(f"cannot write a {what} into {folder}: {error.strerror}; choose another --report") from None


class LineWriter:
    """Writes a file line by line while the run goes on: without its footer, the file is truncated.

    plain: turns a value that JSON cannot hold into one that it can. awake: whether the host is kept awake. more: the file
    is there, and the lines go behind those that it has.
    """

    def __init__(
        self, path: Path, name: str, plain: Callable[[Any], Any] = str, *, awake: bool = False, more: bool = False
    ) -> None:
        self._file = path.open("a" if more else "w", encoding="utf-8", buffering=1)
        self._name, self._plain, self._awake = name, plain, awake

    def header(self, *, host: Mapping[str, Any] = NOTHING, **fields: Any) -> None:
        """Write the first line, or close the file. host: what else is known of the machine."""
        about = {"format": version(self._name, "header"), "batchproof": __version__, "started": now()}
        try:
            self.write(type="header", **about, host={**host_facts(awake=self._awake), **host}, **fields)
        except OSError:
            with suppress(OSError):  # what could not be written is still in its buffer
                self.close()
            raise

    def write(self, **fields: Any) -> None:
        """Write one line."""
        self._file.write(json.dumps(fields, default=self._plain) + "\n")

    def footer(self, exit_status: int, *, complete: bool, reason: str, **fields: Any) -> None:
        """Write the last line."""
        self.write(type="footer", ended=now(), exit_status=int(exit_status), complete=complete, reason=reason, **fields)
        self.close()

    def close(self) -> None:
        """End, without a footer if none was written. Safe to call twice."""
        self._file.close()


def target_name(header: Line) -> str:
    """Return the name and version of the target in a header."""
    return f"{header['target']['name']} {header['target']['version']}".strip()


def now() -> str:
    """Return the time in UTC, ISO 8601."""
    return datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


def host_facts(*, awake: bool = False) -> dict[str, Any]:
    """Return what a reader needs to know about the machine, but neither its name nor its user."""
    return {
        "python": platform.python_version(),
        "kernel": platform.release(),
        "machine": platform.machine(),
        "cpus": os.cpu_count(),
        "awake": awake,
    }
