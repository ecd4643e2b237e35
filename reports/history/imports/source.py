"""What a reader of foreign files is given, and what it gives back."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from batchproof.host.plain_files import read_plain
from batchproof.reports.figures import LONGEST, Better, Figure, figure_id
from batchproof.reports.history.run import LARGEST, Commit, HistoryError, seconds_of

MOST = 64 << 20  # bytes of a file; it is read as a whole
NS = {"ns": 1, "us": 1e3, "µs": 1e3, "ms": 1e6, "s": 1e9, "sec": 1e9}  # of a unit of time
KEPT = 80  # characters of a foreign name in an id


class NotImported(HistoryError):
    """The file cannot be imported; the message names it and says why."""


@dataclass(frozen=True)
class Source:
    """A foreign file. data: what it holds as JSON; None if it is not JSON. modified: when, in seconds since 1970."""

    path: Path
    text: str
    data: Any
    modified: int

    @classmethod
    def of(cls, path: Path) -> Source:
        """Read a file; NotImported if that is impossible."""
        try:
            about = path.stat()
            if about.st_size > MOST:
                raise NotImported(f"{path}: it has {about.st_size >> 20} MiB, and at most {MOST >> 20} are read")
            raw = read_plain(path)
        except OSError as error:
            raise NotImported(f"{path}: cannot be read ({error.strerror})") from None
        try:
            text = raw.decode("utf-8-sig")
        except UnicodeDecodeError:
            raise NotImported(f"{path}: it is not text") from None
        return cls(path, text, _json(text), int(about.st_mtime))

    @property
    def raw(self) -> bytes:
        """The text as bytes."""
        return self.text.encode()

    def first_line(self) -> str:
        """Return the first line that is not empty."""
        return next((line.strip() for line in self.text.splitlines() if line.strip()), "")

    def lines_of_json(self) -> bool:
        """Return whether the first line is JSON by itself, and others follow."""
        return "\n" in self.text.strip() and _json(self.first_line()) is not None

    def rows(self) -> list[dict[str, str]]:
        """Return the rows of a CSV file under their heads; a row that is cut off lacks its last cells."""
        table = csv.DictReader(io.StringIO(self.text.lstrip()))
        return [{key: value for key, value in row.items() if isinstance(key, str) and value is not None} for row in table]


def _json(text: str) -> Any:
    try:
        return json.loads(text, parse_constant=lambda _constant: None)
    except (ValueError, RecursionError):
        return None


@dataclass(frozen=True)
class Found:
    """One run in a foreign file. when, commit: None if the file does not say. host: facts, as a report has them."""

    origin: str
    form: str
    figures: tuple[Figure, ...]
    when: int | None = None
    commit: Commit | None = None
    target: str = ""
    version: str = ""
    host: Mapping[str, Any] = field(default_factory=dict)


class Figures:
    """Collects figures below a prefix. What is not a finite number is left out, as tools write N/A, NaN or nothing."""

    def __init__(self, prefix: str) -> None:
        self._prefix = prefix
        self._found: dict[str, Figure] = {}
        self._meant: dict[str, tuple[object, ...]] = {}

    def add(
        self,
        name: str,
        value: object,
        unit: str,
        better: Better,
        where: Mapping[str, object],
        *,
        times: float = 1.0,
        n: object = 1,
        valid: bool = True,
    ) -> None:
        """Add a figure. where: the conditions that tell it from its siblings. times: what turns the value into `unit`."""
        number, count = as_number(value), as_number(n)
        if number is None or not math.isfinite(number * times):
            return
        whole = min(max(int(count), 0), LARGEST) if count is not None else 1
        key = self._id(f"{self._prefix}.{name}", where)
        self._found[key] = Figure(key, number * times, unit, better, n=whole, valid=valid)

    def all(self) -> tuple[Figure, ...]:
        """Return what was collected."""
        return tuple(self._found.values())

    def _id(self, name: str, conditions: Mapping[str, object]) -> str:
        """Return an id. Two names that would become one, and a name that is cut, get some digits of their hash."""
        meant = (name, *map(str, conditions.values()))
        cut = any(len(str(value)) > KEPT for value in conditions.values())
        key = figure_id(name, **{word: short(value) for word, value in conditions.items()})
        if cut or self._meant.setdefault(key, meant) != meant or len(key) > LONGEST:
            digits = hashlib.sha256(repr(meant).encode()).hexdigest()[:8]
            last = list(conditions)[-1]
            values = {word: short(value)[:KEPT // 2] for word, value in conditions.items()}
            key = figure_id(name, **{**values, last: f"{values[last]}-{digits}"})
        return key


def short(value: object) -> str:
    """Return a foreign name in the letters that an id may have."""
    if isinstance(value, float):
        return f"{value:g}"
    return re.sub(r"[^A-Za-z0-9_.+]+", "-", str(value))[:KEPT].strip("-") or "none"


def as_number(value: object) -> float | None:
    """Return a number, also one in a text, with `,` between thousands or not; None if it is none, or not finite."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        number = float(value.replace(",", "") if isinstance(value, str) else value)
    except (ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None


def as_seconds(value: object) -> int | None:
    """Return the seconds of a date or time in a text; None if it is none."""
    try:
        return seconds_of(value) if isinstance(value, str) and value else None
    except (ValueError, OverflowError):
        return None


def as_mapping(value: object) -> Mapping[str, Any]:
    """Return a JSON object; an empty one for anything else."""
    return value if isinstance(value, dict) else {}


def as_list(value: object) -> list[Any]:
    """Return a JSON list; an empty one for anything else."""
    return value if isinstance(value, list) else []
