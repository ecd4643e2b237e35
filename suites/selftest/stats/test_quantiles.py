"""Quantiles: they are those of scipy's distributions, and exact where counting is possible."""

from __future__ import annotations

import math
import subprocess
import sys
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from batchproof.stats.quantiles import binomial, bounding_ranks, share_bounds, student

PROFILE = settings(max_examples=60, derandomize=True, database=None, deadline=None)
STARTS = ("cli", "bench.run", "bench.tune.command", "fixtures.plugin", "fixtures.judging.checkers.performance.saturation",
          "stats.gates", "stats.percentile")


@PROFILE
@given(st.integers(1, 200_000), st.sampled_from([0.001, 0.5, 0.9, 0.999]), st.sampled_from([0.005, 0.51, 0.99]))
def test_the_binomial_quantile_is_scipy_s(count: int, share: float, level: float) -> None:
    """No level is used that a sum could meet exactly, because the answer then depends on rounding."""
    from scipy import stats

    assert binomial(count, share, level) == stats.binom.ppf(level, count, share)


@PROFILE
@given(st.integers(1, 60), st.sampled_from([Fraction(1, 2), Fraction(9, 10)]), st.sampled_from([0.001, 0.01, 0.4, 0.99]))
def test_the_binomial_quantile_is_exact(count: int, share: Fraction, level: float) -> None:
    """The reference is counted in fractions."""
    def below(k: int) -> Fraction:
        return sum((math.comb(count, i) * share**i * (1 - share) ** (count - i) for i in range(k + 1)), Fraction(0))

    assert binomial(count, float(share), level) == next(k for k in range(count + 1) if below(k) >= Fraction(str(level)))


@pytest.mark.parametrize("count", range(1, 45))
def test_a_rank_bounds_the_median_in_99_of_100(count: int) -> None:
    """It is the largest rank with a false alarm of at most 1 %, computed exactly. Fewer than 7 values have none."""
    low, high = bounding_ranks(count, 0.5, 0.99)

    def wrong(rank: int) -> float:
        return sum(math.comb(count, i) for i in range(rank)) / 2**count

    assert wrong(low) <= 0.01 < wrong(low + 1)
    assert high == count + 1 - low
    assert (low == 0) == (count < 7)


def test_quantiles_are_student_s() -> None:
    """They agree with the usual tables."""
    assert [round(student(0.99, free), 3) for free in (1, 2, 5, 19, 100)] == [31.821, 6.965, 3.365, 2.539, 2.364]
    assert student(1 - 5e-6, 19) == pytest.approx(5.95, abs=0.005)


@PROFILE
@given(st.integers(0, 300), st.integers(1, 300), st.sampled_from([0.9, 0.99]))
def test_bounds_of_a_share_are_clopper_and_pearson_s(hits: int, count: int, confidence: float) -> None:
    """At each bound, the observed count, or one more extreme, has a probability of 1 - confidence."""
    from scipy.special import bdtr, bdtrc

    hits = min(hits, count)
    low, high = share_bounds(hits, count, confidence)

    assert low == 0.0 if hits == 0 else bdtrc(hits - 1, count, low) == pytest.approx(1 - confidence, rel=1e-6)
    assert high == 1.0 if hits == count else bdtr(hits, count, high) == pytest.approx(1 - confidence, rel=1e-6)


@pytest.mark.parametrize("module", STARTS)
def test_scipy_is_imported_only_when_it_is_needed(module: str) -> None:
    """It takes longer to import than `--help` takes to answer."""
    program = f"import sys, batchproof.{module}; sys.exit('scipy' in sys.modules)"

    assert subprocess.run([sys.executable, "-c", program], check=False, timeout=60).returncode == 0


def test_judging_needs_only_the_light_part_of_scipy() -> None:
    """`scipy.stats` takes more than a second to import, in the middle of what is measured."""
    program = "import sys; from batchproof.stats import gates as g; g.mean_ratio([1, 2], g.at_least(1)); "
    program += "g.median_ratio([1.0] * 9, g.at_least(1)); sys.exit('scipy.stats' in sys.modules)"

    assert subprocess.run([sys.executable, "-c", program], check=False, timeout=60).returncode == 0
