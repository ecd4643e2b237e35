"""The load generator under test: exact in simulated time, and honest about a host that disturbs it."""

from __future__ import annotations

import gc
import itertools
import sys
from concurrent.futures import Future
from typing import Any

import numpy as np
import pytest

from batchproof.host.clock import HostClock
from batchproof.host.watch import undisturbed
from batchproof.load.closed_loop import Loop
from batchproof.load.out_of_process import Against, GeneratorLost, closed_loop_apart, open_loop_apart
from batchproof.load.punctuality import answers_at_once
from batchproof.load.runs import closed_loop, open_loop
from batchproof.load.schedule import constant, poisson
from batchproof.load.validity import Validity
from batchproof.reference_batcher import BatcherConfig
from batchproof.reference_batcher.virtual import VirtualClock
from batchproof.stats.arrays import NEVER
from batchproof.stats.percentile import percentile
from batchproof.targets.protocol import Kind, Refused, Request
from batchproof.targets.virtual import VirtualTarget
from batchproof.targets.witness.probe import Payload

MS, S = 1_000_000, 1_000_000_000


def answering_after(clock: VirtualClock, work_ns: int) -> Any:
    """Return a target that answers each request after a fixed time, any number at once."""
    def submit(number: int) -> Future[int]:
        future: Future[int] = Future()
        clock.at(clock.now_ns() + work_ns, lambda: future.set_result(number))
        return future
    return submit


# runs in simulated time


def test_an_open_loop_is_exact_in_simulated_time():
    clock, schedule = VirtualClock(), poisson(1000, 2, 5)
    run = open_loop(answering_after(clock, 5 * MS), clock, schedule, wait_ns=S, slo_ns=6 * MS)
    assert run.validity == Validity()
    assert set(run.samples.latency_ns.tolist()) == {5 * MS}
    assert (run.samples.sent_ns == schedule.due_ns).all()
    assert run.throughput == np.count_nonzero(schedule.due_ns + 5 * MS <= 2 * S) / 2
    told = run.summary()
    assert told["latency"]["p99"] == {"ns": 5 * MS, "low_ns": 5 * MS, "high_ns": 5 * MS, "n": schedule.count}
    assert told["latency"]["p99_9"]["ns"] is None
    assert told["latency"]["p99_9"]["why"] == f"{schedule.count} requests, a bound needs 4603"
    assert "discarded" not in told


def test_a_stall_shows_from_the_schedule_and_hides_from_the_send():
    clock = VirtualClock()
    quick = answering_after(clock, MS)

    def submit(number: int) -> Future[int]:
        if number == 500:
            clock.sleep_until_ns(clock.now_ns() + S)  # the client's own call blocks
        return quick(number)

    run = open_loop(submit, clock, constant(1000, 5), wait_ns=S)
    assert percentile(run.samples.service_ns, 99) == MS
    assert percentile(run.samples.latency_ns, 99) > 900 * MS
    assert percentile(run.samples.latency_ns, 85) > 100 * MS > percentile(run.samples.latency_ns, 75)
    assert not run.valid
    assert "send lag p99" in str(run.validity)
    assert "latency" not in run.summary()
    assert run.summary()["discarded"]["latency"]["p99"]["ns"] > 900 * MS


@pytest.mark.parametrize(("clients", "expected"), [(1, 1000 / 2.2), (4, 4000 / 2.8), (16, 8000 / 3.6), (32, 8000 / 3.6)])
def test_a_closed_loop_has_the_throughput_of_theory(clients, expected):
    """The clients are back in the queue before the next batch is formed: min(N, M) / tau(min(N, M))."""
    deployment = VirtualTarget().deploy(BatcherConfig(max_batch_size=8))

    def submit(number: int) -> Any:
        return deployment.submit(Request("load", number + 1, Payload(work_ns=2 * MS, row_work_ns=MS // 5)))

    run = closed_loop(submit, deployment.clock, clients, wait_ns=S, requests=1500)
    assert run.valid
    assert run.throughput == pytest.approx(expected, rel=0.01)
    assert run.samples.count == 1500
    assert set(run.samples.client.tolist()) == set(range(clients))
    mean_s = float(run.samples.latency_ns[clients:].mean()) / 1e9
    assert run.throughput * mean_s == pytest.approx(clients, rel=0.02)  # Little


def test_a_closed_loop_lasts_as_long_as_it_should():
    clock = VirtualClock()
    run = closed_loop(answering_after(clock, 10 * MS), clock, 2, wait_ns=S, requests=3, seconds=1.0)
    assert run.samples.count == 200
    assert run.throughput == pytest.approx(200, rel=0.02)
    with pytest.raises(ValueError, match="requests or seconds"):
        closed_loop(answers_at_once, clock, 2, wait_ns=S)


def test_a_missing_answer_is_waited_for_only_so_long():
    clock = VirtualClock()
    run = open_loop(lambda _: Future(), clock, constant(100, 1), wait_ns=2 * S)
    assert clock.now_ns() == 3 * S
    assert run.samples.outcomes() == {"unanswered": 100}
    assert set(run.samples.latency_ns.tolist()) == set(run.samples.service_ns.tolist()) == {NEVER}
    assert "100 of 100 requests had no answer" in str(run.validity)
    stuck = closed_loop(lambda _: Future(), clock, 3, wait_ns=2 * S, requests=10)
    assert (stuck.samples.outcomes(), clock.now_ns()) == ({"unanswered": 3}, 5 * S)
    assert stuck.summary()["discarded"]["latency"]["p50"]["ns"] is None


def test_a_target_that_takes_no_time_ends_a_simulated_run(monkeypatch):
    monkeypatch.setattr("batchproof.load.closed_loop.MOST", 2000)
    with pytest.raises(RuntimeError, match="takes no time at all"):
        closed_loop(answers_at_once, VirtualClock(), 1, wait_ns=S, seconds=1.0)


def test_an_error_is_an_outcome_and_its_latency_is_infinite():
    clock = VirtualClock()

    def submit(number: int) -> Future[int]:
        future: Future[int] = Future()
        if number % 5 == 1:
            raise Refused(Kind.FULL, "no")
        if number % 5 == 2:
            future.set_exception(Refused(Kind.EXPIRED, "late"))
        elif number % 5 == 3:
            future.cancel()
            future.set_running_or_notify_cancel()
        elif number % 5 == 4:
            future.set_exception(ZeroDivisionError())
        else:
            future.set_result(number)
        return future

    outcomes = dict.fromkeys(("answered", "full", "expired", "cancelled", "failed"), 100)
    run = open_loop(submit, clock, constant(500, 1), wait_ns=S)
    assert run.samples.outcomes() == outcomes
    assert run.latency_ns(20) == 0
    assert run.latency_ns(50) is None
    assert run.summary()["latency"]["p50"]["why"] == "so many requests were not answered"
    assert closed_loop(submit, clock, 7, wait_ns=S, requests=500).samples.outcomes() == outcomes


def test_what_comes_after_the_end_changes_nothing():
    clock, late = VirtualClock(), Future()
    run = open_loop(lambda _: late, clock, constant(1, 1), wait_ns=S)
    late.set_result(None)
    assert run.samples.outcomes() == {"unanswered": 1}


def test_a_loop_sends_no_more_once_stopped():
    futures: list[Future[None]] = []
    counter = itertools.count()
    loop = Loop(lambda _: futures.append(Future()) or futures[-1], lambda: next(counter), 0, 100, 0)
    loop.begin(2)
    loop.stop()
    futures[0].set_result(None)
    assert len(futures) == 2
    assert not loop.over()
    futures[1].set_result(None)
    assert loop.over()


# runs on the host's clock: nothing is said of how long anything takes


def test_a_run_on_the_host_s_clock():
    before = (sys.getswitchinterval(), gc.isenabled(), gc.get_freeze_count() > 0)
    seen = []

    def submit(number: int) -> Future[int]:
        seen.append((sys.getswitchinterval(), gc.isenabled()))
        return answers_at_once(number)

    schedule = poisson(1000, 0.5, 5)
    run = open_loop(submit, HostClock(), schedule, wait_ns=10 * S)
    assert {(round(interval_s * 1e6), collects) for interval_s, collects in seen} == {(100, False)}
    assert (sys.getswitchinterval(), gc.isenabled(), gc.get_freeze_count() > 0) == before
    assert run.samples.outcomes() == {"answered": schedule.count}
    assert (run.samples.lag_ns >= 0).all()
    assert (run.samples.done_ns >= run.samples.sent_ns).all()
    assert {"cores", "stalls", "stalled_ns", "own_cores", "preempted", "switch_interval_s"} <= set(run.host)
    assert run.valid or run.validity.reasons
    assert ("latency" in run.summary()) == run.valid


def test_two_runs_at_once_share_their_settings():
    before = sys.getswitchinterval()
    first, second = undisturbed(), undisturbed()
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    assert sys.getswitchinterval() == pytest.approx(1e-4)
    second.__exit__(None, None, None)
    assert sys.getswitchinterval() == before


def test_a_closed_loop_is_not_recursive():
    run = closed_loop(answers_at_once, HostClock(), 16, wait_ns=10 * S, requests=5000)
    assert run.samples.outcomes() == {"answered": 5000}
    waiting: list[Future[None]] = []

    def in_fours(_number: int) -> Future[None]:
        waiting.append(Future())
        last = waiting[-1]
        if len(waiting) == 4:
            batch = waiting[:]
            waiting.clear()
            for one in batch:
                one.set_result(None)
        return last

    assert closed_loop(in_fours, HostClock(), 4, wait_ns=10 * S, requests=5000).samples.outcomes() == {"answered": 5000}


def test_an_issuer_that_breaks_raises():
    def broken(_number: int) -> Any:
        raise SystemExit("broken")

    with pytest.raises(SystemExit, match="broken"):
        open_loop(broken, HostClock(), constant(100, 0.05), wait_ns=S)


def test_a_generator_runs_in_a_process_of_its_own():
    numbers = []

    def submit(number: int) -> Future[int]:
        numbers.append(number)
        if number == 7:
            raise Refused(Kind.FULL, "no")
        return answers_at_once(number)

    schedule = poisson(500, 0.4, 5)
    run = open_loop_apart(submit, schedule, wait_ns=10 * S, slo_ns=S)
    assert sorted(numbers) == list(range(schedule.count))
    assert run.samples.outcomes() == {"answered": schedule.count - 1, "full": 1}
    assert (run.samples.scheduled_ns == schedule.due_ns).all()
    assert (run.asked, run.host["apart"]) == (schedule.spec, True)
    assert any("too few requests for p99" in reason for reason in run.validity.reasons)


def test_the_generator_s_process_may_bring_its_own_target():
    against = Against("null", BatcherConfig().facts(), {"work_ns": MS})
    run = closed_loop_apart(against, 4, wait_ns=10 * S, requests=200)
    assert (run.kind, run.asked, run.samples.outcomes()) == ("closed", "clients=4", {"answered": 200})


def test_a_generator_that_is_lost_says_why():
    with pytest.raises(GeneratorLost, match="unexpected keyword argument 'nonsense'"):
        open_loop_apart(answers_at_once, constant(10, 0.1), wait_ns=S, nonsense=1)
