"""Scripts under test: data that goes to JSON and back, and arrivals that depend on their seed alone."""

from __future__ import annotations

import json
import statistics

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from batchproof.fixtures.script import (
    MS,
    Answered,
    Cancel,
    Close,
    Closed,
    Entered,
    Queued,
    Release,
    Send,
    arrivals,
    burst,
    from_json,
    gated,
    in_line,
    lone,
    plugged,
    to_json,
    trickle,
)

NAMES = st.sampled_from(["r0", "plug", "\N{LATIN SMALL LETTER E WITH ACUTE}\n", "\x1b[31m"])
TIMES = st.integers(min_value=0, max_value=1 << 62)
SENDS = st.builds(Send, NAMES, st.integers(0, 64), TIMES, NAMES, TIMES, TIMES, st.booleans())
STEPS = st.one_of(
    SENDS, st.builds(Queued, st.integers(0, 99)), st.builds(Entered, NAMES), st.builds(Release, NAMES),
    st.builds(Answered, st.lists(NAMES, max_size=3).map(tuple)), st.builds(Cancel, NAMES), st.just(Close()),
    st.just(Closed()),
)
PROFILE = settings(max_examples=40, database=None, deadline=None)


@PROFILE
@given(st.lists(STEPS, max_size=8).map(tuple))
def test_script_survives_json(script: tuple) -> None:
    """A script written as JSON and read back is the same script."""
    text = json.dumps(to_json(script))

    assert from_json(json.loads(text)) == script


@pytest.mark.parametrize("step", [{"step": "sleep"}, {"step": None}, {"name": "r0"}], ids=["unknown", "null", "missing"])
def test_unknown_step_is_named(step: dict[str, object]) -> None:
    """A step that nobody knows is refused by its name."""
    with pytest.raises(ValueError, match=f"unknown step '{step.get('step')}' in a script"):
        from_json([step])


@PROFILE
@given(st.integers(), st.integers(1, 40), st.integers(1, 8), st.integers(0, 10**9))
def test_arrivals_depend_on_the_seed_alone(seed: int, count: int, rows: int, work: int) -> None:
    """The same seed gives the same arrivals, within the limits that were asked for."""
    script = arrivals(seed, count, mean_gap_ns=MS, max_rows=rows, work_ns=work, fail_share=0.1)

    assert script == arrivals(seed, count, mean_gap_ns=MS, max_rows=rows, work_ns=work, fail_share=0.1)
    assert [send.name for send in script] == [f"r{i}" for i in range(count)]
    assert all(1 <= send.rows <= rows and 0 <= send.work_ns <= work and send.after_ns >= 0 for send in script)


def test_seeds_differ_and_gaps_have_the_mean() -> None:
    """Another seed gives other arrivals; the gaps of many have the mean that was asked for."""
    one, other = (arrivals(seed, count=4000, mean_gap_ns=MS, fail_share=0.1) for seed in (1, 2))

    assert one != other
    assert statistics.fmean(send.after_ns for send in one) == pytest.approx(MS, rel=0.1)
    assert statistics.fmean(send.fail for send in one) == pytest.approx(0.1, rel=0.3)


def test_shapes() -> None:
    """One, many at once, and many at equal intervals are what they are called."""
    assert lone(rows=2) == (Send("r0", rows=2),)
    assert burst(2, work_ns=5) == (Send("r0", work_ns=5), Send("r1", work_ns=5))
    assert trickle(3, every_ns=7) == (Send("r0"), Send("r1", after_ns=7), Send("r2", after_ns=7))


def test_gate_holds_until_all_are_queued() -> None:
    """A gated script lets go when each request, or all of them, are seen queued behind the plug."""
    plug = Send("plug", hold="gate"), Entered("plug")

    assert gated(Send("a"), Send("b")) == (*plug, Send("a"), Queued(1), Send("b"), Queued(2), Release("gate"))
    assert plugged(*in_line(Send("a"), Send("b"))) == gated(Send("a"), Send("b"))
    assert in_line(Send("c"), behind=2) == (Send("c"), Queued(3))
    assert gated(Send("a"), Send("b"), in_order=False) == (*plug, Send("a"), Send("b"), Queued(2), Release("gate"))
