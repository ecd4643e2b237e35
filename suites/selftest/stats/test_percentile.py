"""Percentiles and their intervals: compared with numpy, closed forms and counting."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from batchproof.stats.arrays import NEVER
from batchproof.stats.percentile import fewest, interval, percentile, percentiles

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


def test_a_percentile_needs_enough_requests():
    assert [fewest(percent) for percent in (50, 90, 99, 99.9)] == [7, 44, 459, 4603]


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
