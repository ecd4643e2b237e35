"""Percentiles, their intervals and the verdict on a limit under test: held against scipy, closed forms and counting."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from batchproof.stats.arrays import NEVER
from batchproof.stats.autocorrelation import integrated_time
from batchproof.stats.percentile import binomial_quantile, fewest, interval, percentile, percentiles
from batchproof.stats.slo import below

MS = 1_000_000
PROFILE = settings(max_examples=60, derandomize=True, database=None, deadline=None)


@PROFILE
@given(st.lists(st.integers(0, NEVER), min_size=1, max_size=300), st.sampled_from([1, 50, 90, 99, 99.9, 100]))
def test_percentiles_are_nearest_rank(values, percent):
    array = np.array(values, np.int64)
    ordered = sorted(values)
    rank = next(i for i in range(1, len(values) + 1) if i * 1000 >= len(values) * round(percent * 10))
    assert percentile(array, percent) == ordered[rank - 1]
    assert percentiles(array, (percent, 100)) == (ordered[rank - 1], ordered[-1])
    small = array % (1 << 50)  # numpy's own goes through floats
    assert percentile(small, percent) == int(np.percentile(small, percent, method="inverted_cdf"))


def test_a_percentile_of_nothing_is_refused():
    with pytest.raises(ValueError, match="no values"):
        percentile(np.array([], np.int64), 50)
    with pytest.raises(ValueError, match="not 101"):
        percentile(np.array([1]), 101)


def test_so_many_requests_a_percentile_needs():
    assert [fewest(percent) for percent in (50, 90, 99, 99.9)] == [7, 44, 459, 4603]


@PROFILE
@given(st.integers(1, 20_000), st.sampled_from([0.001, 0.5, 0.9, 0.999]), st.sampled_from([0.005, 0.51, 0.99]))
def test_the_binomial_quantile_is_scipy_s(count, share, level):
    """No level that a sum could meet exactly: there scipy's own answer depends on rounding."""
    stats = pytest.importorskip("scipy.stats")
    assert binomial_quantile(count, share, level) == stats.binom.ppf(level, count, share)


def test_an_interval_holds_the_truth_as_often_as_it_says():
    generator, truth = np.random.default_rng(5), -math.log(0.1) * 1e6
    runs = [(generator.standard_exponential(500) * 1e6).astype(np.int64) for _ in range(1000)]
    held = sum(low <= truth <= high for low, high in (interval(run, 90) for run in runs))
    assert 985 <= held <= 1000  # at least 99 %; fewer than 985 once in a thousand
    narrow = sum(low <= truth <= high for low, high in (interval(run, 90, 0.5) for run in runs))
    assert 450 < narrow < 620


def test_an_interval_of_few_has_no_upper_end():
    values = np.arange(1, 101)
    assert interval(values, 99)[1] == NEVER
    assert interval(values, 50) == (37, 64)
    assert interval(values, 1) == (0, 5)
    wide = interval(values, 50, tau=4.0)
    assert wide[0] < 37
    assert wide[1] > 64


# is it below the limit?


def correlated(generator: Any, count: int, memory: float) -> Any:
    """Latencies, exponential with mean 1 ms, whose neighbours are alike (an autoregressive process underneath)."""
    signal, special = pytest.importorskip("scipy.signal"), pytest.importorskip("scipy.special")
    noise = generator.standard_normal(count + 500)
    normal = signal.lfilter([math.sqrt(1 - memory**2)], [1, -memory], noise)[500:]
    return (-np.log1p(-special.ndtr(normal)) * MS).astype(np.int64)


@pytest.mark.parametrize("memory", [0.0, 0.95])
def test_at_the_boundary_hardly_a_run_passes_or_fails(memory):
    generator, limit = np.random.default_rng(7), round(-math.log(0.01) * MS)
    verdicts = [below(correlated(generator, 20_000, memory), limit).verdict for _ in range(100)]
    assert verdicts.count("PASS") <= 5  # 1 % asked for; the estimate of tau costs a little
    assert verdicts.count("FAIL") <= 5
    assert verdicts.count("UNDECIDED") >= 90


def test_as_if_independent_too_many_would_pass():
    stats = pytest.importorskip("scipy.stats")
    generator, limit = np.random.default_rng(7), round(-math.log(0.01) * MS)
    over = [int((correlated(generator, 20_000, 0.95) > limit).sum()) for _ in range(100)]
    assert sum(stats.binom.cdf(one, 20_000, 0.01) <= 0.01 for one in over) >= 15


@pytest.mark.parametrize(("share", "verdict"), [(0.004, "PASS"), (0.025, "FAIL")])
def test_away_from_the_boundary_it_decides(share, verdict):
    found = below(correlated(np.random.default_rng(1), 50_000, 0.9), round(-math.log(share) * MS))
    assert found.verdict == verdict
    assert found.effective < 25_000
    assert found.share_low < found.over / found.count < found.share_high


def test_below_slo_agrees_with_mlperf_where_requests_are_independent():
    pytest.importorskip("scipy")
    one_late = np.full(662, MS)
    one_late[400] = NEVER
    assert [below(np.full(count, MS), 2 * MS).verdict for count in (458, 459)] == ["UNDECIDED", "PASS"]
    assert [below(one_late[:count], 2 * MS).verdict for count in (661, 662)] == ["UNDECIDED", "PASS"]
    assert below(np.full(100, NEVER), 2 * MS).verdict == "FAIL"


def test_the_integrated_time_of_an_autoregression_is_its_closed_form():
    signal = pytest.importorskip("scipy.signal")
    series = signal.lfilter([1], [1, -0.8], np.random.default_rng(3).standard_normal(200_000))
    assert abs(integrated_time(series) / 9 - 1) < 0.15  # (1 + 0.8) / (1 - 0.8)
    assert integrated_time(np.ones(100)) == integrated_time(np.ones(1)) == 1
    assert integrated_time(np.arange(1000) % 2) == 1
