"""Evidence under test: what goes to JSON comes back, and a timeline's arithmetic."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from batchproof.fixtures.evidence import Difference, Text, from_json, kind_of
from batchproof.fixtures.load.samples import NEVER, OUTCOMES, Samples
from batchproof.fixtures.script import MS
from batchproof.fixtures.timeline import Execution, Seen, Sent, Stall, Timeline
from batchproof.fixtures.trial import Slice, Trial

INTS = st.integers(min_value=-(1 << 62), max_value=1 << 62)
FEW = st.integers(0, 5)
WORDS = st.sampled_from(["", "r0", "plug", "\N{LATIN SMALL LETTER E WITH ACUTE}\n", "\x1b[31m"])
SEEN = st.builds(Seen, *[INTS] * 8)
YES = st.booleans()
SENT = st.builds(Sent, WORDS, INTS, FEW, INTS, st.none() | INTS, WORDS, WORDS, WORDS, YES, st.none() | SEEN, WORDS, YES)


def tuples(of: st.SearchStrategy[Any]) -> st.SearchStrategy[tuple[Any, ...]]:
    """Tuples of up to two."""
    return st.lists(of, max_size=2).map(tuple)


RUNS = st.builds(Execution, FEW, INTS, tuples(INTS), tuples(FEW), INTS, st.none() | INTS, YES)
COUNTS = st.dictionaries(WORDS, FEW | st.dictionaries(WORDS, FEW, max_size=2), max_size=3)
SLICES = st.builds(Slice, WORDS, *[INTS] * 3, st.floats(0, 1e6), *[INTS] * 8, tuples(FEW), WORDS)
TIMELINES = st.builds(
    Timeline, st.dictionaries(WORDS, INTS, max_size=4), tuples(SENT), tuples(RUNS), st.dictionaries(WORDS, INTS, max_size=3),
    tuples(st.builds(Stall, INTS, INTS)), YES, YES, tuples(WORDS), INTS, st.none() | COUNTS,
    tuples(st.tuples(FEW, FEW)),
)
EVIDENCE = {
    "timeline": TIMELINES,
    "trial": st.builds(Trial, tuples(SLICES), WORDS),
    "text": st.builds(Text, WORDS, WORDS, WORDS),
    "difference": st.builds(Difference, WORDS, st.floats(allow_nan=False), st.floats(allow_nan=False), tuples(INTS)),
}
R0, R1 = Sent("r0", 7, 1, 100, 900, seen=Seen(0, 1, 1, 1, 0, 5_300, 5_400, 7)), Sent("r1", 8, 1, 150)
RUN = Execution(0, 1, (7,), (1,), 300, 400)
TIMELINE = Timeline({"max_batch_size": 4}, (R0, R1), (RUN,))


@pytest.mark.parametrize("kind", EVIDENCE)
@settings(max_examples=20, database=None, deadline=None)
@given(st.data())
def test_evidence_survives_json(kind: str, data: st.DataObject) -> None:
    """Evidence of every kind, written as JSON and read back, is the same evidence."""
    evidence = data.draw(EVIDENCE[kind])

    text = json.dumps(evidence.to_json())

    assert kind_of(evidence) == kind
    assert from_json(kind, json.loads(text)) == evidence


@pytest.mark.parametrize(
    ("kind", "data", "message"),
    [
        ("tape", {}, "unknown kind of evidence 'tape'"),
        ("", None, "unknown kind of evidence ''"),
        ("timeline", {}, "broken evidence of kind 'timeline'"),
        ("timeline", {**TIMELINE.to_json(), "more": 1}, "broken evidence of kind 'timeline'"),
        ("timeline", {**TIMELINE.to_json(), "stalls": [{"at_ns": 1}]}, "broken evidence of kind 'timeline'"),
        ("timeline", {**TIMELINE.to_json(), "requests": 5}, "broken evidence of kind 'timeline'"),
        ("trial", {"naive": [], "batched": []}, "broken evidence of kind 'trial'"),
        ("trial", [], "broken evidence of kind 'trial'"),
        ("text", {"where": "here"}, "broken evidence of kind 'text'"),
        ("difference", {"what": "a model"}, "broken evidence of kind 'difference'"),
    ],
)
def test_broken_evidence_is_refused(kind: str, data: Any, message: str) -> None:
    """Data from elsewhere that is no evidence is refused in one message, never half read."""
    with pytest.raises(ValueError, match=message):
        from_json(kind, data)


def test_requests_are_found_by_name_and_prefix() -> None:
    """A timeline knows its requests by name, by prefix, and by the execution that held them."""
    assert TIMELINE["r1"] is R1
    assert TIMELINE.of("r") == (R0, R1)
    assert (TIMELINE.execution_of(R0), TIMELINE.execution_of(R1)) == (RUN, None)
    assert TIMELINE.names(replace(RUN, serials=(7, 99))) == ("r0", "?99")
    with pytest.raises(KeyError, match="r2"):
        TIMELINE["r2"]


def test_answered_refused_or_neither() -> None:
    """A request has a result, or an error, or nothing yet."""
    refused = replace(R0, kind="failed")

    assert [(sent.answered, sent.refused) for sent in (R0, refused, R1)] == [(True, False), (False, True), (False, False)]


def test_wait_is_measured_on_one_clock() -> None:
    """With one clock the wait is from sending to entering; across clocks, the client's time less the model's."""
    across = replace(TIMELINE, same_clock=False)

    assert TIMELINE.waited_ns(R0) == 300 - 100
    assert across.waited_ns(R0) == (900 - 100) - (5_400 - 5_300)
    assert [one.waited_ns(R1) for one in (TIMELINE, across)] == [None, None]
    assert across.waited_ns(replace(R0, seen=None)) is None


@settings(max_examples=60, database=None, deadline=None)
@given(st.integers(0, 10**9), st.integers(0, 10**9), st.integers(0, 10**9), st.integers(0, 10**9))
def test_wait_across_clocks_is_an_upper_bound(sent_ns: int, queued_ns: int, inside_ns: int, back_ns: int) -> None:
    """What is measured across clocks is never less than the true time in the queue, so no floor is broken by it."""
    enter_ns, exit_ns = sent_ns + queued_ns, sent_ns + queued_ns + inside_ns
    skewed = Seen(0, 1, 1, 1, 0, enter_ns + 12345, exit_ns + 12345, 1)

    sent = Sent("r0", 1, 1, sent_ns, exit_ns + back_ns, seen=skewed)

    assert Timeline({}, (sent,), same_clock=False).waited_ns(sent) == queued_ns + back_ns


@pytest.mark.parametrize(
    ("at_ns", "late_ns", "counts"),
    [
        (1000, 50, True),
        (899, 50, False),
        (900, 50, True),
        (2100, 0, True),
        (2101, 0, False),
        (2600, 500, True),  # it ended later, but began within the margin
        (2601, 500, False),
    ],
)
def test_stalls_count_near_the_window(at_ns: int, late_ns: int, counts: bool) -> None:
    """A stall counts if any part of it lies in the window or in the margin around it."""
    timeline = Timeline({}, (), stalls=(Stall(at_ns, late_ns),))

    assert timeline.worst_stall_ns(1000, 2000, margin_ns=100) == (late_ns if counts else 0)


def test_the_worst_of_several_stalls_counts() -> None:
    """The longest stall near the window counts, wherever in the list it stands; without one it is 0."""
    timeline = Timeline({}, (), marks={"start": 0, "end": 500}, stalls=(Stall(100, 5), Stall(200, 9), Stall(10**12, 99)))

    assert timeline.worst_stall_ns(0, 500) == 9
    assert timeline.longest_stall_ns() == 9
    assert Timeline({}, ()).longest_stall_ns() == 0


def test_a_slice_says_what_became_of_its_requests() -> None:
    """Rows that were answered inside the window make the rate; latency counts from the schedule; refusals are no errors."""
    ends = {"answered": (5, 7, 30), "full": (4,), "failed": (6,), "unanswered": (NEVER,)}
    done = np.array([ms * MS if ms != NEVER else ms for times in ends.values() for ms in times])
    outcome = np.array([OUTCOMES.index(word) for word, times in ends.items() for _ in times], dtype=np.uint8)
    due = np.arange(len(done), dtype=np.int64) * MS
    samples = Samples(due, due, done, outcome, np.zeros(len(done), dtype=np.int32))

    found = Slice.of("spike", samples, (0, 20 * MS), rows=8, invalid="why")

    assert (found.requests, found.errors, found.full, found.rows, found.invalid) == (6, 2, 1, 8, "why")
    assert (found.p50_ns, found.p99_ns, found.mean_ns, found.told_ns) == (6 * MS, 28 * MS, 13 * MS, 1 * MS)
    assert found.qps == 2 * 8 / 0.020
    assert Slice.of("dead", samples.part(outcome > 0), (0, 20 * MS)).qps == 0


def test_only_valid_rounds_count() -> None:
    """A round is left out with the slice that is invalid, and the slices of a name keep their order."""
    one, two = (Slice(name, 1, 0, 1, 1.0, 1, 1) for name in "ab")
    bad = replace(one, invalid="late")
    trial = Trial((one, two, bad, two), "a model")

    assert trial.rounds("a", "b") == [(one, two)]
    assert trial.named("a", valid=False) == (one, bad)
    assert trial.named("a") == (one,)
