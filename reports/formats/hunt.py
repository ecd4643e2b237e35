"""hunt.jsonl: the corpus of a hunt, what it found, and where it stands. Written line by line, and added to by `--resume`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from batchproof.host.plain_files import read_plain
from batchproof.reports.formats.jsonl import Line, LineWriter, ReportError, now
from batchproof.reports.formats.schemas import flaw, version

NAME = "hunt"
FILE = f"{NAME}.jsonl"
BEFORE = f"{NAME}.before.jsonl"
KINDS = ("kept", "found", "state")


@dataclass(frozen=True)
class HuntFile:
    """What a hunt has written, in its order. damaged: what is wrong with the lines that cannot be used, one text each."""

    header: Line
    kept: tuple[Line, ...]
    found: tuple[Line, ...]
    state: Line | None
    damaged: tuple[str, ...]

    @property
    def campaigns(self) -> int:
        """The number of the last campaign that left a trace."""
        states = [self.state["campaigns"]] if self.state else []
        return max([line["campaign"] for line in (*self.kept, *self.found)] + states, default=0)


def read(folder: Path) -> HuntFile:
    """Read the hunt of a folder. ReportError if it is missing, or its first line is not the header of this format.

    Any other line that cannot be used is left out and told: a killed hunt leaves half a line.
    """
    path = folder / FILE
    try:
        raw = read_plain(path)
    except FileNotFoundError:
        raise ReportError(f"{path}: no such file") from None
    except OSError as error:
        raise ReportError(f"{path}: cannot be read ({error.strerror})") from None
    texts = [(number, text) for number, text in enumerate(raw.split(b"\n"), 1) if text.strip()]
    header = _header(path, texts[0][1] if texts else b"")
    found: dict[str, list[Line]] = {kind: [] for kind in KINDS}
    damaged = []
    for number, text in texts[1:]:
        line = _object(text)
        kind = str(line.get("type")) if line else ""
        if line is None or kind not in found:
            damaged.append(f"line {number} is not a line of {FILE}")
        elif wrong := flaw(NAME, kind, line):
            damaged.append(f"line {number}, {kind}: {wrong}")
        else:
            found[kind].append(line)
    state = found["state"][-1] if found["state"] else None
    return HuntFile(header, tuple(found["kept"]), tuple(found["found"]), state, tuple(damaged))


def _header(path: Path, text: bytes) -> Line:
    line = _object(text)
    if line is None or line.get("type") != "header":
        raise ReportError(f"{path}: the first line is not a header, so this is not the corpus of a hunt")
    known = version(NAME, "header")
    if line.get("format") != known:
        raise ReportError(
            f"{path}: its format is {line.get('format')!r}, and this version of Batchproof reads format {known}"
        )
    if wrong := flaw(NAME, "header", line):
        raise ReportError(f"{path}: line 1, header: {wrong}")
    return line


def _object(text: bytes) -> Line | None:
    try:
        data = json.loads(text.decode())
    except (ValueError, RecursionError):
        return None
    return data if isinstance(data, dict) else None


class HuntWriter:
    """Writes the hunt of a folder. more: it goes on with the file that is there, which else is kept under another name."""

    def __init__(self, folder: Path, *, more: bool) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / FILE
        if more:
            _end_last_line(path)
        elif path.exists():
            path.replace(folder / BEFORE)
        self.folder = folder
        self._lines = LineWriter(path, NAME, more=more)

    def header(self, target: Mapping[str, Any], seed: int) -> None:
        """Write the first line."""
        self._lines.header(target=dict(target), seed=seed)

    def line(self, what: str, **fields: Any) -> None:
        """Write a line of one of KINDS, with the fields of the schema."""
        self._lines.write(type=what, **fields)

    def state(self, **fields: Any) -> None:
        """Write where the hunt stands."""
        self._lines.write(type="state", at=now(), **fields)

    def close(self) -> None:
        """End. Safe to call twice."""
        self._lines.close()


def _end_last_line(path: Path) -> None:
    """Let new lines begin on a line of their own: a killed hunt may have left half a line."""
    with path.open("rb+") as file:
        if file.seek(0, 2) and (file.seek(-1, 2), file.read(1))[1] != b"\n":
            file.write(b"\n")
