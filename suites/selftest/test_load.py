"""The load generator under test: exact in simulated time, honest about a host that disturbs it."""

from __future__ import annotations

import gc
import itertools
import math
import sys
from concurrent.futures import Future
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from batchproof.fixtures.bench.lag import answers_at_once
from batchproof.fixtures.clock import HostClock
from batchproof.fixtures.load import validity
from batchproof.fixtures.load.apart import Against, GeneratorLost, closed_loop_apart, open_loop_apart
from batchproof.fixtures.load.autocorrelation import integrated_time
from batchproof.fixtures.load.closed import Loop
from batchproof.fixtures.load.export import histogram
from batchproof.fixtures.load.host import undisturbed
from batchproof.fixtures.load.percentile import binomial_quantile, fewest, interval, percentile, percentiles
from batchproof.fixtures.load.running import Run, closed_loop, open_loop
from batchproof.fixtures.load.samples import NEVER, OUTCOMES, Samples, SamplesError
from batchproof.fixtures.load.schedule import (
    KINDS,
    Schedule,
    ScheduleError,
    constant,
    diurnal,
    gamma,
    on_off,
    parse,
    poisson,
    trace,
)
from batchproof.fixtures.load.slo import below
from batchproof.fixtures.load.validity import Asked, Seen, Validity, judge
from batchproof.fixtures.target import Kind, Refused, Request
from batchproof.fixtures.targets.virtual import VirtualTarget
from batchproof.reference_batcher import BatcherConfig
from batchproof.reference_batcher.virtual import VirtualClock

MS, S = 1_000_000, 1_000_000_000
PROFILE = settings(max_examples=60, derandomize=True, database=None, deadline=None)
KS_01 = 1.95  # Kolmogorov's distribution: sqrt(n) * D is above it once in a thousand
SIGMAS = 3.3  # a normal value is beyond it once in a thousand


def answering_after(clock: VirtualClock, work_ns: int) -> Any:
    """A target that answers each request after a fixed time, any number at once."""
    def submit(number: int) -> Future[int]:
        future: Future[int] = Future()
        clock.at(clock.now_ns() + work_ns, lambda: future.set_result(number))
        return future
    return submit


def samples(count: int = 1000, **changed: Any) -> Samples:
    """Every request due each millisecond, sent at once and answered after 10 ms."""
    due = np.arange(count, dtype=np.int64) * MS
    columns = {"scheduled_ns": due, "sent_ns": due, "done_ns": due + 10 * MS, "outcome": np.zeros(count, np.uint8)}
    return Samples(**{**columns, "client": np.zeros(count, np.int32), **changed})


# schedules


def test_the_issue_s_example_reads():
    schedule = parse("poisson:rate=2000,seconds=5,seed=7")
    assert (schedule.spec, schedule.seconds) == ("poisson:rate=2000,seconds=5,seed=7", 5)
    assert schedule.rate == schedule.count / 5
    assert abs(schedule.count - 10_000) < SIGMAS * 100


RATES, SECONDS, SEEDS = st.floats(5, 3000), st.floats(2, 5), st.integers(0, 1 << 40)
DAYS = st.just(0.0) | st.floats(1e-6, 9)
MADE = st.one_of(
    st.builds(constant, RATES, SECONDS),
    st.builds(poisson, RATES, SECONDS, SEEDS, exact=st.booleans()),
    st.builds(gamma, RATES, SECONDS, SEEDS, st.floats(0.5, 4), exact=st.just(True)),
    st.builds(on_off, RATES.map(lambda rate: rate + 20), SECONDS, SEEDS, st.floats(1.5, 5), st.floats(0.5, 0.9)),
    st.builds(diurnal, RATES.map(lambda rate: rate + 20), SECONDS, SEEDS, DAYS, st.floats(0, 1)),
)


@PROFILE
@given(MADE)
def test_a_spec_makes_the_same_schedule_again(schedule):
    again = parse(schedule.spec)
    assert again.spec == schedule.spec
    assert again.end_ns == schedule.end_ns
    assert (again.due_ns == schedule.due_ns).all()
    assert schedule.due_ns[-1] <= schedule.end_ns


@pytest.mark.parametrize("make", [poisson, gamma])
def test_an_exact_schedule_has_the_rate_that_was_asked_for(make):
    assert {make(777, 3, seed, exact=True).rate for seed in range(5)} == {777}
    assert len({make(777, 3, seed).count for seed in range(5)}) > 1


def distance(values: Any, distribution: Any) -> float:
    """Kolmogorov and Smirnov's sqrt(n) * D."""
    share, steps = distribution(np.sort(values)), np.arange(len(values) + 1) / len(values)
    return math.sqrt(len(values)) * float(max(np.max(steps[1:] - share), np.max(share - steps[:-1])))


def test_gaps_are_distributed_as_they_should_be():
    special = pytest.importorskip("scipy.special")
    gaps = np.diff(poisson(10_000, 5, 3).due_ns) / 1e5
    assert distance(gaps, lambda x: -np.expm1(-x)) < KS_01
    assert distance(np.diff(poisson(10_000, 5, 3, exact=True).due_ns) / 1e5, lambda x: -np.expm1(-x)) < KS_01
    bursts = np.diff(gamma(1000, 50, 3, shape=0.5).due_ns) / 1e6
    assert distance(bursts, lambda x: special.gammainc(0.5, x * 0.5)) < KS_01
    assert distance(gaps, lambda x: special.gammainc(0.5, x * 0.5)) > 10 * KS_01


def dispersion(schedule: Schedule, window_s: float) -> tuple[float, float]:
    """Variance over mean of the counts in windows, and its relative standard error for counts that are about normal."""
    windows = int(schedule.seconds / window_s)
    counts = np.bincount((schedule.due_ns // round(window_s * S)).astype(int), minlength=windows)[:windows]
    return float(counts.var(ddof=1) / counts.mean()), math.sqrt(2 / windows)


@pytest.mark.parametrize(("shape", "make"), [(1.0, poisson), (0.25, gamma)])
def test_counts_are_dispersed_as_the_gaps_say(shape, make):
    found, error = dispersion(make(1000, 1000, 5), 2.0)
    assert abs(found * shape - 1) < SIGMAS * error


def test_bursts_are_dispersed_as_theory_says():
    rates, ends, window = (3000, 250), (1 / 0.1, 0.75 / 0.2), 1.0  # peak 3, quiet 0.25, bursts of 0.1 s
    fade = sum(ends)
    most = 2 * (rates[0] - rates[1]) ** 2 * math.prod(ends) / (fade**2 * (rates[0] * ends[1] + rates[1] * ends[0]))
    expected = 1 + most - most / (fade * window) * -math.expm1(-fade * window)  # Heffes and Lucantoni 1986
    schedule = on_off(1000, 2000, 11)
    found, error = dispersion(schedule, window)
    assert abs(found / expected - 1) < 1.5 * SIGMAS * error  # a few bursts a window are not quite normal
    assert abs(schedule.rate / 1000 - 1) < SIGMAS * math.sqrt(expected / 2_000_000)


def test_a_day_has_its_hours():
    schedule = diurnal(10_000, 24, 5, depth=0.9)
    hours = np.bincount((schedule.due_ns // S).astype(int), minlength=24)
    edges = np.arange(25)
    total = 10_000 * (edges - 0.9 * 24 / (2 * np.pi) * np.sin(2 * np.pi * edges / 24))
    expected = np.diff(total)
    assert ((hours - expected) ** 2 / expected).sum() < 51.2  # chi-squared of 24: once in a thousand
    assert hours[12] > 10 * hours[0]


def test_constant_is_constant():
    assert constant(1000, 0.005).due_ns.tolist() == [0, MS, 2 * MS, 3 * MS, 4 * MS]


def test_a_trace_is_read_and_read_again(tmp_path):
    path = tmp_path / "a,b%.txt"
    path.write_text("# unit: ms\n0\n1.5\n\n1.5 # twice\n20\n")
    schedule = trace(path)
    assert schedule.due_ns.tolist() == [0, 1_500_000, 1_500_000, 20 * MS]
    assert (parse(schedule.spec).due_ns == schedule.due_ns).all()
    path.write_text("7\n")
    assert trace(path, "ns").due_ns.tolist() == [7]
    assert parse(trace(path, "s").spec).due_ns.tolist() == [7 * S]


@pytest.mark.parametrize(("text", "unit", "complaint"), [
    ("# unit: s\n1\n0.5\n", "", "line 3: 0.5 is before the line above it"),
    ("# unit: s\n1\nsoon\n", "", "line 3: 'soon' is no time"),
    ("# unit: s\nnan\n", "", "line 2: 'nan' is no time"),
    ("# unit: s\n-1\n", "", "line 2: -1 is before"),
    ("# unit: s\n1e11\n", "", "later than 146 years"),
    ("1\n", "", "in which unit"),
    ("# unit: s\n1\n", "ms", "says that its unit is s, not ms"),
    ("# unit: s\n", "", "no request at all"),
])
def test_a_trace_that_is_wrong_is_refused(tmp_path, text, unit, complaint):
    path = tmp_path / "trace.txt"
    path.write_text(text)
    with pytest.raises(ScheduleError, match=complaint.replace("(", r"\(")):
        trace(path, unit)


@pytest.mark.parametrize(("spec", "complaint"), [
    ("poison:rate=1", "there are poisson, gamma, on_off, constant, diurnal, trace"),
    ("poisson:rate=1,seconds=1", "poisson needs seed"),
    ("poisson:rate=1,rate=2", "once each"),
    ("poisson:rate=1,speed=2", "poisson takes rate, seconds, seed, exact"),
    ("poisson:rate=fast,seconds=1,seed=1", "rate is a number, not 'fast'"),
    ("poisson:rate=nan,seconds=1,seed=1", "rate must be above 0"),
    ("poisson:rate=1e9,seconds=1e9,seed=1", "more than the 50000000"),
    ("poisson:rate=10,seconds=1,seed=1,exact=yes", "exact is true or false"),
    ("poisson:rate=10,seconds=1,seed=-1", "seed"),
    ("gamma:rate=10,seconds=1,seed=1,shape=0", "shape must be above 0"),
    ("on_off:rate=10,seconds=1,seed=1,peak=0.5", "peak > 1 > quiet"),
    ("on_off:rate=10,seconds=1e7,seed=1,burst=1e-9", "requests|more than"),
    ("diurnal:rate=10,seconds=1,seed=1,depth=2", "depth in"),
    ("constant:rate=0,seconds=1", "rate must be above 0, not 0"),
    ("trace:path=/nowhere", "cannot read the trace"),
    ("trace:", "trace needs path"),
])
def test_a_spec_that_is_wrong_is_refused(spec, complaint):
    with pytest.raises(ScheduleError, match=complaint):
        parse(spec)


@pytest.mark.parametrize("due", [[], [-1], [2, 1]])
def test_a_schedule_must_ascend_from_zero(due):
    with pytest.raises(ScheduleError):
        Schedule(np.array(due, np.int64), "made by hand")


# percentiles


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


# runs in simulated time


def test_an_open_loop_is_exact_in_simulated_time():
    clock, schedule = VirtualClock(), poisson(1000, 2, 5)
    run = open_loop(answering_after(clock, 5 * MS), clock, schedule, wait_ns=S, limit_ns=6 * MS)
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
    """Clients are back in the queue before the next batch is formed: min(N, M) / tau(min(N, M))."""
    deployment = VirtualTarget().deploy(BatcherConfig(max_batch_size=8))

    def submit(number: int) -> Any:
        return deployment.submit(Request("load", number + 1, work_ns=2 * MS, row_work_ns=MS // 5))

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


def test_what_gets_no_answer_is_not_waited_for_for_ever():
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
    monkeypatch.setattr("batchproof.fixtures.load.closed.MOST", 2000)
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


# runs on the host's clock: nothing is said of how long anything takes


def test_a_run_on_the_host_s_clock():
    before = (sys.getswitchinterval(), gc.isenabled(), gc.get_freeze_count())
    seen = []

    def submit(number: int) -> Future[int]:
        seen.append((sys.getswitchinterval(), gc.isenabled()))
        return answers_at_once(number)

    schedule = poisson(1000, 0.5, 5)
    run = open_loop(submit, HostClock(), schedule, wait_ns=10 * S)
    assert {(round(interval_s * 1e6), collects) for interval_s, collects in seen} == {(100, False)}
    assert (sys.getswitchinterval(), gc.isenabled(), gc.get_freeze_count()) == before
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


def test_an_issuer_that_breaks_is_heard():
    def broken(_number: int) -> Any:
        raise SystemExit("broken")

    with pytest.raises(SystemExit, match="broken"):
        open_loop(broken, HostClock(), constant(100, 0.05), wait_ns=S)


def test_a_generator_in_a_process_of_its_own():
    numbers = []

    def submit(number: int) -> Future[int]:
        numbers.append(number)
        if number == 7:
            raise Refused(Kind.FULL, "no")
        return answers_at_once(number)

    schedule = poisson(500, 0.4, 5)
    run = open_loop_apart(submit, schedule, wait_ns=10 * S, limit_ns=S)
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


# validity


def late_by(share: float, ns: int, count: int = 1000) -> Samples:
    """The last `share` of requests are sent and answered late."""
    plain = samples(count)
    late = np.where(np.arange(count) >= count * (1 - share), ns, 0)
    return samples(count, sent_ns=plain.sent_ns + late, done_ns=plain.done_ns + late)


END = 1000 * MS
WAIT = 5 * S


@pytest.mark.parametrize(("run", "asked", "seen", "reason"), [
    (late_by(0.02, 2 * MS), Asked(), Seen(), "send lag p99 2.000 ms, allowed 1.000 ms"),  # a tenth of 10 ms
    (late_by(0.02, 2 * MS), Asked(30 * MS), Seen(), "send lag p99 2.000 ms, allowed 1.500 ms"),  # 5 % of the limit
    (samples(), Asked(), Seen((20 * MS,), S, 2), "the host stalled 1 times, 20.0 ms in all, 2.0 % of the run"),
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
def test_what_does_not(run, asked, seen):
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


# samples


def test_samples_come_back_from_a_file(tmp_path):
    kept = late_by(0.5, 3)
    kept.save(tmp_path / "a.npz")
    again = Samples.load(tmp_path / "a.npz")
    for name in ("scheduled_ns", "sent_ns", "done_ns", "outcome", "client"):
        assert (getattr(again, name) == getattr(kept, name)).all()
    assert kept.part(kept.lag_ns > 0).count == 500


def test_a_file_that_holds_no_samples_is_refused(tmp_path):
    path = tmp_path / "a.npz"
    for content in (b"", b"PK\x03\x04nonsense", b"x" * 100):
        path.write_bytes(content)
        with pytest.raises(SamplesError):
            Samples.load(path)
    np.savez(path, scheduled_ns=np.array([object()], dtype=object))
    with pytest.raises(SamplesError):
        Samples.load(path)
    np.savez(path, **{**vars(samples(3)), "outcome": np.full(3, 200, np.uint8)})
    with pytest.raises(SamplesError, match="outcome 200"):
        Samples.load(path)
    with pytest.raises(SamplesError, match="sent_ns must be int64"):
        samples(3, sent_ns=np.zeros(2, np.int64))


def test_a_histogram_is_the_samples_to_a_thousandth():
    pytest.importorskip("hdrh")
    from hdrh.histogram import HdrHistogram

    values = (np.random.default_rng(3).standard_exponential(20_000) * 5e6).astype(np.int64) + 1000
    made = histogram(np.append(values, [NEVER, NEVER]))
    again = HdrHistogram.decode(made.encoded)
    assert (made.count, made.left_out, again.get_total_count()) == (20_000, 2, 20_000)
    for percent in (50, 90, 99, 99.9, 100):
        assert again.get_value_at_percentile(percent) == pytest.approx(percentile(values, percent), rel=1e-3)
    assert made.text.split() [:4] == ["Value", "Percentile", "TotalCount", "1/(1-Percentile)"]


def test_every_kind_of_schedule_has_its_maker():
    assert set(KINDS) == {"poisson", "gamma", "on_off", "constant", "diurnal", "trace"}


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
