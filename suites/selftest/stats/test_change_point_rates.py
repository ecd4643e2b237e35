"""The error rates of the search for change points under test: with no noise they are exact."""

from __future__ import annotations

import pytest

from batchproof.stats.change_point_rates import NOISES, RUNS, print_table, rates

pytest.importorskip("otava", reason="Apache Otava is not installed: pip install --no-deps apache-otava==0.8.0")


def test_without_noise_nothing_is_wrong() -> None:
    """No alarm without a change, and every change is found at once, except what is too small to be asked for."""
    found = rates("independent", 3, spread=0.0, least_change=0.04, seed=1)

    assert (found.false, found.found, found.runs) == (0.0, (0.0, 0.0, 1.0, 1.0), 1)


@pytest.mark.parametrize("noise", NOISES)
def test_more_noise_finds_less(noise: str) -> None:
    """A change that the noise buries is found less often."""
    quiet, loud = (rates(noise, 10, spread=spread, least_change=0.0, seed=3) for spread in (0.005, 0.2))

    assert quiet.found[2] > loud.found[2] + 0.3


def test_the_table_has_a_line_for_each_kind_of_noise(capsys: pytest.CaptureFixture[str]) -> None:
    """Under what was asked."""
    print_table(2, spread=0.02, least_change=0.02, seed=1)
    lines = capsys.readouterr().out.splitlines()

    assert lines[0] == f"2 series of {RUNS} runs, standard deviation 2 %, a change before run 41"
    assert [line[:14].strip() for line in lines[2:]] == list(NOISES)
