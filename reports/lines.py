"""What report.jsonl and bench.jsonl have in common: a header, lines, a footer, each one JSON object of a known type."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from batchproof.reports.wording import clean

Line = Mapping[str, Any]  # one JSON object, as a file in schema/ describes it
Fields = Mapping[str, Mapping[str, type | tuple[type, ...]]]  # by type of line: what must be there, and of which type


class ReportError(Exception):
    """This is no report, or one that contradicts itself; the message names the file, the line and the reason."""


@contextmanager
def opened(path: str | Path, name: str) -> Iterator[Path]:
    """Yield the file, or the one of this name in the folder; what goes wrong meanwhile is a ReportError that names it."""
    file = Path(path)
    file = file / name if file.is_dir() else file
    try:
        yield file
    except OSError as error:
        raise ReportError(f"{file}: cannot be read ({error.strerror})") from None
    except ReportError as error:
        raise ReportError(f"{file}: {clean(error)}") from None


def objects(raw: bytes) -> Iterator[tuple[int, Line | None]]:
    """Yield each line's number and object; None for a last line that is no JSON, as a killed run leaves it."""
    # Split at b"\n" alone: str.splitlines() also splits at characters that JSON allows inside a string.
    lines = [(number, text) for number, text in enumerate(raw.split(b"\n"), 1) if text.strip()]
    for number, text in lines:
        try:
            data = json.loads(text.decode(), parse_constant=str)  # NaN becomes "NaN", which report.json can hold
        except (ValueError, RecursionError):
            if number != lines[-1][0]:
                raise ReportError(f"line {number} is no JSON") from None
            yield number, None
            continue
        if not isinstance(data, dict):
            raise ReportError(f"line {number} is no JSON object")
        yield number, data


def checked(line: Line, number: int, known: Fields, version: int) -> str:
    """Return the line's type, once it has the fields of that type; a header must be of the format of this version."""
    kind = line.get("type")
    if not isinstance(kind, str) or kind not in known:
        raise ReportError(f"line {number}: unknown type {kind!r}")
    if kind == "header" and line.get("format") != version:
        raise ReportError(f"format {line.get('format')!r} is unknown; this version reads format {version}")
    for field, types in known[kind].items():
        if not isinstance(line.get(field), types):
            raise ReportError(f"line {number}: this {kind} has no valid '{field}'")
    return kind


def target_name(header: Line) -> str:
    """Return the name and version of the target in a header."""
    return f"{header['target']['name']} {header['target']['version']}".strip()
