"""Rates and latencies of runs: their bounds hold what they should, and are as narrow as the data allows."""

import numpy as np
import pytest

from batchproof.bench.figures.of_run import around, latencies, quotient, rate
from batchproof.load.runs import CLOSED, Run
from batchproof.load.samples import ANSWERED, OUTCOMES, Samples
from batchproof.load.validity import Validity
from batchproof.stats.arrays import NEVER
from batchproof.stats.intervals import Interval, exact, median

MS = 1_000_000
SIZE = 16


def saturated(taus_ns, size=SIZE):
    """Return a closed loop whose batches of `size` take these times, one after another."""
    ends = np.cumsum(np.asarray(taus_ns, dtype=np.int64))
    done = np.repeat(ends, size)
    zeros = np.zeros(done.size, dtype=np.int64)
    outcome = np.full(done.size, OUTCOMES.index(ANSWERED), dtype=np.uint8)
    samples = Samples(zeros, zeros, done, outcome, zeros.astype(np.int32))
    return Run(CLOSED, "clients=32", samples, int(ends[-1]), Validity())


def test_batches_of_one_length_leave_no_doubt():
    """Eighths of the time would hold three batches or four; eighths of the answers hold three."""
    found = rate(saturated([40 * MS] * 25), SIZE)

    assert (found.low, found.estimate, found.high) == pytest.approx((400, 400, 400))
    assert found.n == 8


def test_the_bounds_of_a_rate_hold():
    """Of 400 runs with 5 % of noise in each batch, at most 1 % have a bound on the wrong side of the truth, and few more."""
    chance = np.random.default_rng(1)
    truth, low, high = SIZE / 0.04, 0, 0
    for _ in range(400):
        found = rate(saturated(chance.normal(40 * MS, 2 * MS, 80)), SIZE)
        low += found.low > truth
        high += found.high < truth

    assert max(low, high) <= 12  # P[Bin(400, 0.01) > 12] < 0.0002


@pytest.mark.parametrize("batches", [1, 7])
def test_too_few_batches_have_no_bounds(batches):
    """The rate is known, and how far to trust it is not."""
    found = rate(saturated([40 * MS] * batches), SIZE)

    assert (found.low, found.high, found.n) == (None, None, 0)
    assert found.estimate == pytest.approx(400)


def test_answers_that_all_came_at_once_have_no_bounds():
    """A rate over no time cannot be bounded, and is not an error."""
    assert rate(saturated([0] * 79 + [MS]), SIZE).low is None


def test_relative_bounds_are_moved_to_the_value():
    """An estimate of another kind lends its relative width."""
    assert (found := around(200.0, median([90, 95, 100, 100, 100, 105, 110]))).low == pytest.approx(180)
    assert found.high == pytest.approx(220)
    assert around(200.0, median([1.0])).low is None


def test_the_doubts_of_a_quotient_add_up_as_independent_ones_do():
    """10 % on either side give 14 %."""
    one = Interval(100.0, 100 / 1.1, 110.0, 0.99, 8, 8.0)

    found = quotient(one, one)

    assert found.estimate == 1.0
    assert found.high == pytest.approx(1.1 ** 2 ** 0.5)
    assert found.low == pytest.approx(1.1 ** -(2 ** 0.5))
    assert quotient(one, exact(0.0)) is None
    assert quotient(one, Interval(5.0, None, None, 0.99, 1, 1.0)).high is None


def at(latency_ns):
    """Return the figures of these latencies by name."""
    where = {"work": "w", "load": 0.6, "size": 8, "delay": "0ms"}
    found = latencies("open", np.asarray(latency_ns, dtype=np.int64), valid=True, **where)
    return {one.name: one for one in found}


def test_latencies_become_figures():
    """Mean, median and p99, each within its bounds, with as many observations as are independent."""
    chance = np.random.default_rng(2)
    found = at(chance.integers(10 * MS, 30 * MS, 5000))

    assert set(found) == {"open.mean_ns", "open.p50_ns", "open.p99_ns"}
    for one in found.values():
        assert one.low < one.value < one.high
        assert one.unit == "ns"
        assert one.n > 2000
    assert found["open.mean_ns"].id == "open.mean_ns[work=w,load=0.6,size=8,delay=0ms]"


def test_neighbours_count_less():
    """Fifty requests of one latency say as much as one."""
    chance = np.random.default_rng(3)
    found = at(np.repeat(chance.integers(10 * MS, 30 * MS, 100), 50))

    assert found["open.mean_ns"].n < 500


def test_an_answer_that_never_came_leaves_no_mean():
    """The median is still known; p99 falls on a request without an answer."""
    found = at([10 * MS] * 900 + [NEVER] * 100)

    assert set(found) == {"open.p50_ns"}


def test_few_requests_have_no_p99():
    """459 are the least; without any, nothing is known."""
    assert set(at(range(1, 459))) == {"open.mean_ns", "open.p50_ns"}
    assert at([]) == {}
    assert at([5])["open.mean_ns"].low is None
