"""Foreign files for the tests, and what is read in them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from batchproof.reports.history.imports import found_in
from batchproof.reports.history.imports.source import Found, Source

HERE = Path(__file__).parent


def read(path: Path) -> Found:
    """Return the one run in a file."""
    (found,) = found_in(Source.of(path))
    return found


def read_text(folder: Path, text: str) -> Found:
    """Return the one run in a file with this text."""
    path = folder / "file"
    path.write_text(text)
    return read(path)


def read_json(folder: Path, data: Any) -> Found:
    """Return the one run in a file with this JSON."""
    return read_text(folder, json.dumps(data))


def stored(name: str) -> Any:
    """Return the data of a file alongside this one."""
    return json.loads((HERE / name).read_text())


def values(found: Found) -> dict[str, float]:
    """Return the value of each figure."""
    return {figure.id: figure.value for figure in found.figures}
