"""The simulator's speed is told for every kind of configuration."""

from __future__ import annotations

import pytest

from batchproof.bench.oracle import simulator_speed


def test_every_case_has_a_row(capsys: pytest.CaptureFixture[str]) -> None:
    """Each of the table's cases is printed by its name."""
    simulator_speed.print_table(300)

    printed = capsys.readouterr().out
    assert all(f"| {name} |" in printed for name, *_ in simulator_speed.CASES)
