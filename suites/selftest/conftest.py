"""Fixtures that several of these tests use."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from batchproof.bench.measurement import Bench
from batchproof.bench.record import Record
from batchproof.targets import resolve

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Callable[..., Bench]]:
    """`bench(target="virtual", ...)`: a quick bench into a folder of its own."""
    records: list[Record] = []

    def make(target: str = "virtual", **more: Any) -> Bench:
        records.append(Record(tmp_path / f"out{len(records)}"))
        return Bench(resolve(target), records[-1], quick=True, **more)

    yield make
    for one in records:
        one.writer.close()


@pytest.fixture
def longer(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make runs longer than people would want them: in simulated time that costs little."""
    monkeypatch.setattr(Bench, "seconds", lambda _, _full, quick: 2.5 * quick)
