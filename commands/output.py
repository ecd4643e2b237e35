"""Files that commands write."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import TextIO


@contextlib.contextmanager
def whole(path: Path) -> Iterator[TextIO]:
    """Yield a file that appears under its name only when it is whole. OSError if it cannot be written.

    A link stays one, and what it leads to is written. A pipe or a device is written to, and never replaced.
    """
    if path.exists() and not path.is_file():
        with path.open("w", encoding="utf-8", newline="") as file:
            yield file
        return
    place = path.resolve()
    beside = place.with_name(f".{place.name}.{os.getpid()}")
    try:
        with beside.open("w", encoding="utf-8", newline="") as file:
            yield file
        beside.replace(place)
    finally:
        beside.unlink(missing_ok=True)
