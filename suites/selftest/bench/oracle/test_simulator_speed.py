"""The simulator's speed is shown for every kind of configuration."""

from __future__ import annotations

import pytest

from batchproof.bench.oracle import simulator_speed


def test_every_case_has_a_row(capsys: pytest.CaptureFixture[str]) -> None:
    """The table prints each of its cases by name."""
    simulator_speed.print_table(300)

    printed = capsys.readouterr().out
    assert all(f"| {name} |" in printed for name, *_ in simulator_speed.CASES)
