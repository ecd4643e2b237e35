"""Schedules under test: their text reproduces them, their gaps are distributed as they should be, and errors are refused."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from batchproof.load.schedule import KINDS, Schedule, ScheduleError, constant, diurnal, gamma, on_off, parse, poisson, trace

MS, S = 1_000_000, 1_000_000_000
PROFILE = settings(max_examples=60, derandomize=True, database=None, deadline=None)
KS_01 = 1.95  # Kolmogorov's distribution: sqrt(n) * D is above it once in a thousand
SIGMAS = 3.3  # a normal value is beyond it once in a thousand


def test_a_spec_is_parsed_into_a_schedule():
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
    """Return Kolmogorov and Smirnov's sqrt(n) * D."""
    share, steps = distribution(np.sort(values)), np.arange(len(values) + 1) / len(values)
    return math.sqrt(len(values)) * float(max(np.max(steps[1:] - share), np.max(share - steps[:-1])))


def test_gaps_are_distributed_as_they_should_be():
    from scipy import special

    gaps = np.diff(poisson(10_000, 5, 3).due_ns) / 1e5
    assert distance(gaps, lambda x: -np.expm1(-x)) < KS_01
    assert distance(np.diff(poisson(10_000, 5, 3, exact=True).due_ns) / 1e5, lambda x: -np.expm1(-x)) < KS_01
    bursts = np.diff(gamma(1000, 50, 3, shape=0.5).due_ns) / 1e6
    assert distance(bursts, lambda x: special.gammainc(0.5, x * 0.5)) < KS_01
    assert distance(gaps, lambda x: special.gammainc(0.5, x * 0.5)) > 10 * KS_01


def dispersion(schedule: Schedule, window_s: float) -> tuple[float, float]:
    """Return variance over mean of the counts in windows, and its relative standard error if counts are about normal."""
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


def test_the_rate_follows_the_hours_of_a_day():
    schedule = diurnal(10_000, 24, 5, depth=0.9)
    hours = np.bincount((schedule.due_ns // S).astype(int), minlength=24)
    edges = np.arange(25)
    total = 10_000 * (edges - 0.9 * 24 / (2 * np.pi) * np.sin(2 * np.pi * edges / 24))
    expected = np.diff(total)
    assert ((hours - expected) ** 2 / expected).sum() < 51.2  # chi-squared of 24: once in a thousand
    assert hours[12] > 10 * hours[0]


def test_constant_gaps_are_equal():
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
    ("# unit: s\n1\nsoon\n", "", "line 3: 'soon' is not a time"),
    ("# unit: s\nnan\n", "", "line 2: 'nan' is not a time"),
    ("# unit: s\n-1\n", "", "line 2: -1 is before"),
    ("# unit: s\n1e11\n", "", "later than 146 years"),
    ("1\n", "", "the unit is missing"),
    ("# unit: s\n1\n", "ms", "says that its unit is s, not ms"),
    ("# unit: s\n", "", "it has no requests"),
])
def test_a_trace_that_is_wrong_is_refused(tmp_path, text, unit, complaint):
    path = tmp_path / "trace.txt"
    path.write_text(text)
    with pytest.raises(ScheduleError, match=complaint.replace("(", r"\(")):
        trace(path, unit)


@pytest.mark.parametrize(("spec", "complaint"), [
    ("poison:rate=1", "choose from poisson, gamma, on_off, constant, diurnal, trace"),
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


def test_every_kind_of_schedule_has_its_maker():
    assert set(KINDS) == {"poisson", "gamma", "on_off", "constant", "diurnal", "trace"}
