"""What makes a run invalid, and what does not."""

from __future__ import annotations

import numpy as np
import pytest

from batchproof.load import validity
from batchproof.load.runs import Run
from batchproof.load.samples import OUTCOMES
from batchproof.load.validity import Asked, Seen, judge
from batchproof.suites.selftest.samples import late_by, samples

MS, S = 1_000_000, 1_000_000_000
END = 1000 * MS
WAIT = 5 * S


@pytest.mark.parametrize(("run", "asked", "seen", "reason"), [
    (late_by(0.02, 2 * MS), Asked(), Seen(), "send lag p99 2.000 ms, allowed 1.000 ms"),  # a tenth of 10 ms
    (late_by(0.02, 2 * MS), Asked(30 * MS), Seen(), "send lag p99 2.000 ms, allowed 1.500 ms"),  # 5 % of the limit
    (samples(), Asked(), Seen((20 * MS,), S, 2), "the host stalled once, 20.0 ms in all, 2.0 % of the run"),
    (samples(400), Asked(100 * MS, 99.0), Seen(), "too few requests for p99: 400, and a bound needs 459"),
    (samples(), Asked(percent=99.9), Seen(), "too few requests for p99.9: 1000, and a bound needs 4603"),
    (samples(), Asked(compute_threads=3), Seen((), S, 2), "threads oversubscribed: the models compute with 3 threads on 2"),
    (samples(outcome=np.full(1000, OUTCOMES.index("full"), np.uint8)), Asked(), Seen(), "no request was answered"),
    (samples(outcome=np.eye(1, 1000, dtype=np.uint8)[0] * OUTCOMES.index("unanswered")), Asked(), Seen(),
     "1 of 1000 requests had no answer 5 s after the last was due"),
])
def test_what_makes_a_run_invalid(run, asked, seen, reason):
    found = judge(run, asked, seen, end_ns=END, wait_ns=WAIT)
    assert len(found.reasons) == 1
    assert reason in str(found)
    told = Run("open", "made by hand", run, END, found).summary()
    assert told["reasons"] == list(found.reasons)
    assert not {"throughput", "latency", "service", "lag"} & set(told)


@pytest.mark.parametrize(("run", "asked", "seen"), [
    (samples(), Asked(100 * MS, 99.0, 2), Seen((4 * MS,), S, 2)),
    (samples(), Asked(), Seen((MS // 2,) * 100, S, 2)),  # each is below what counts
    (late_by(0.005, 5 * MS), Asked(), Seen()),
    (late_by(0.5, 150_000), Asked(1000 * MS), Seen()),
])
def test_what_does_not_make_a_run_invalid(run, asked, seen):
    assert judge(run, asked, seen, end_ns=END, wait_ns=WAIT).valid


def test_the_lag_that_is_allowed_has_a_floor_and_a_ceiling():
    at_once = samples(done_ns=np.arange(1000) * MS)
    assert validity.allowed_lag_ns(at_once, None) == validity.LAG_FLOOR_NS
    assert validity.allowed_lag_ns(samples(done_ns=np.arange(1000) * MS + S), None) == validity.LAG_CEILING_NS


def test_a_closed_loop_has_no_schedule_to_be_late_for():
    assert judge(late_by(0.5, S), Asked(), Seen(), end_ns=None, wait_ns=WAIT).valid


def test_a_generator_that_lags_at_the_end_did_not_reach_the_rate():
    found = judge(late_by(0.05, 100 * MS), Asked(), Seen(), end_ns=END, wait_ns=WAIT)
    assert [reason.partition(":")[0] for reason in found.reasons] == ["the generator was late", "the rate was not reached"]
