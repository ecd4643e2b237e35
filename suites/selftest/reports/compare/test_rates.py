"""How often comparisons end with which answer: counted, and not assumed."""

import numpy as np
import pytest

from batchproof.reports.compare.rates import ALL, DRAWS, rates, spreads
from batchproof.suites.selftest.runs import best, p99, run_of


def runs(folder, rates, spread=1.01):
    """Return runs of these rates."""
    return [run_of(folder / str(number), best(float(rate), spread), p99(5e6)) for number, rate in enumerate(rates)]


def test_every_pair_is_compared_both_ways(tmp_path):
    """Of three runs, one of which is slower, there are six comparisons."""
    found = rates(runs(tmp_path, [400, 400, 360]))

    counts = {"UNPROVEN": 2, "SLOWER": 2, "FASTER": 2}
    assert found == {ALL: counts, best(1.0).id: counts}


def test_runs_with_a_difference(tmp_path):
    """Each of the base is compared with each of the others, in this direction alone."""
    found = rates(runs(tmp_path / "base", [400, 402]), runs(tmp_path / "new", [360, 361, 362]))

    assert found[ALL] == {"SLOWER": 6}


def test_several_runs_a_side_are_drawn(tmp_path):
    """Of equal runs that differ by 1 %, at most 1 % of the draws and some end as SLOWER; most as SAME."""
    chance = np.random.default_rng(5)
    found = rates(runs(tmp_path, np.exp(chance.normal(6, 0.01, 24)), 1.001), each=5)[ALL]

    assert found.total() == DRAWS
    assert found["SLOWER"] <= 30
    assert found["SAME"] > 900


def test_how_much_equal_runs_vary(tmp_path):
    """Within each side: a difference between the sides is not part of it."""
    chance = np.random.default_rng(5)
    base, new = (runs(tmp_path / str(rate), rate * np.exp(chance.normal(0, 0.03, 200))) for rate in (400, 360))

    assert spreads(base, new)[best(1.0).id] == pytest.approx(0.03, rel=0.15)
    assert spreads(base[:1], new[:1]) == {}


@pytest.mark.parametrize(("count", "each"), [(1, 1), (3, 2)])
def test_too_few_runs_are_refused(tmp_path, count, each):
    """A rate over nothing is not a rate."""
    with pytest.raises(ValueError, match="a side need more runs than"):
        rates(runs(tmp_path, [400] * count), each=each)
