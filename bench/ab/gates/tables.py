"""The tables of `batchproof lab gates`, made from all decisions that a folder has."""

from __future__ import annotations

from pathlib import Path


def print_tables(folder: Path) -> None:
    """Print them."""
    print(folder)
