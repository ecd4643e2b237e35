"""The plan of a bench: what is measured, in which order, and about how long it takes."""

from __future__ import annotations

from batchproof.bench.plan import MEASUREMENTS, by_name
from batchproof.bench.result import Result


def test_the_calibration_comes_first() -> None:
    """Everything else compares with the calibration."""
    assert MEASUREMENTS[0].name == "static"
    assert list(by_name()) == [one.name for one in MEASUREMENTS]


def test_the_quick_form_takes_about_two_minutes() -> None:
    """Each measurement also takes less time than its full form. No machine without CUDA has `gpu`."""
    assert all(0 < one.quick_s <= one.full_s for one in MEASUREMENTS)
    assert sum(one.quick_s for one in MEASUREMENTS if one.name != "gpu") < 130


def test_without_figures_there_is_no_table() -> None:
    """A measurement that was skipped has a headline and nothing else."""
    assert [one.tables_of(Result.nothing("why")) for one in MEASUREMENTS] == [()] * len(MEASUREMENTS)
