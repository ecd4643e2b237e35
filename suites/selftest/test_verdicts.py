"""Verdicts under test: the arithmetic of noise, which word wins, and what becomes the exit status."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from batchproof.fixtures.catalogue import rules
from batchproof.fixtures.plugin import WORDS, JudgingPlugin
from batchproof.fixtures.script import MS
from batchproof.fixtures.session import Outcome
from batchproof.fixtures.verdicts import (
    LONG_STALL_NS,
    Judgement,
    Verdict,
    bounded,
    causal,
    ms,
    vacuous,
    with_problems,
    worst,
)

BOUND, SLACK, STALL = 200 * MS, 50 * MS, 10 * MS
MUST, SHOULD = rules()["DB-SIZE-001"], rules()["DB-TIMEOUT-005"]
DURATIONS = st.integers(min_value=0, max_value=10**12)


def said(verdict: Verdict, actual: str = "3 rows", note: str = "") -> Judgement:
    """A judgement of this verdict."""
    return Judgement(verdict, "4 rows", actual, note)


@pytest.mark.parametrize(
    ("observed_ns", "stall_ns", "verdict"),
    [
        (0, 0, "PASS"),
        (BOUND + SLACK, 0, "PASS"),
        (BOUND + SLACK + 1, 0, "FAIL"),
        (BOUND + SLACK, STALL, "PASS"),
        (BOUND + SLACK + 1, STALL, "INCONCLUSIVE"),
        (BOUND + SLACK + 3 * STALL, STALL, "INCONCLUSIVE"),
        (BOUND + SLACK + 3 * STALL + 1, STALL, "FAIL"),
    ],
)
def test_bounds_are_exact(observed_ns: int, stall_ns: int, verdict: str) -> None:
    """Up to bound and slack is a PASS, beyond three stalls more a FAIL, and between them nobody can tell."""
    judgement = bounded(observed_ns, BOUND, SLACK, stall_ns, "at most 200 ms")

    assert str(judgement.verdict) == verdict
    assert judgement.actual == ms(observed_ns)
    assert judgement.expected == f"at most 200 ms (+50.0 ms slack, +3 x {ms(stall_ns)} worst stall)"


@settings(max_examples=60, database=None, deadline=None)
@given(DURATIONS, DURATIONS, DURATIONS, DURATIONS, DURATIONS)
def test_noise_never_accuses(observed_ns: int, bound_ns: int, slack_ns: int, stall_ns: int, more_ns: int) -> None:
    """A longer stall turns a FAIL into INCONCLUSIVE at most; it never touches a PASS and makes none."""
    quiet = bounded(observed_ns, bound_ns, slack_ns, stall_ns, "").verdict

    noisy = bounded(observed_ns, bound_ns, slack_ns, stall_ns + more_ns, "").verdict

    assert (quiet, noisy) in {
        (Verdict.PASS, Verdict.PASS), (Verdict.INCONCLUSIVE, Verdict.INCONCLUSIVE), (Verdict.FAIL, Verdict.FAIL),
        (Verdict.FAIL, Verdict.INCONCLUSIVE),
    }


def test_causal_knows_two_words() -> None:
    """A fact of order, membership or count holds or does not."""
    judgements = [causal(holds, "1", "2", "why") for holds in (True, False)]

    assert judgements == [Judgement(Verdict.PASS, "1", "2", "why"), Judgement(Verdict.FAIL, "1", "2", "why")]
    assert [judgement.passed for judgement in judgements] == [True, False]


def test_vacuous_is_an_error() -> None:
    """What was not judged is an ERROR that says why."""
    assert vacuous("a full batch", "no batch was full") == Judgement(
        Verdict.ERROR, "a full batch", "VACUOUS: no batch was full"
    )


def test_worst_wins() -> None:
    """Of several judgements the first of the worst counts; of none there is no worst."""
    judgements = [said(verdict, str(place)) for place, verdict in enumerate([*Verdict, *Verdict])]

    assert worst(judgements) == said(Verdict.ERROR, "7")
    assert worst(judgements[:7]).verdict is Verdict.FAIL
    assert [str(verdict) for verdict in Verdict] == [
        "PASS", "OBSERVED", "SKIPPED", "NOT_OBSERVABLE", "KNOWN", "INCONCLUSIVE", "FAIL", "ERROR",
    ]
    with pytest.raises(ValueError, match="empty"):
        worst([])


@pytest.mark.parametrize("verdict", list(Verdict), ids=str)
def test_without_problems_nothing_changes(verdict: Verdict) -> None:
    """A drive without problems leaves every judgement as it is, however badly the host stalled."""
    assert with_problems(said(verdict), (), LONG_STALL_NS) == said(verdict)


@pytest.mark.parametrize(
    ("verdict", "stall_ns", "becomes"),
    [
        (Verdict.PASS, 0, "ERROR"),
        (Verdict.FAIL, 0, "FAIL"),
        (Verdict.INCONCLUSIVE, 0, "INCONCLUSIVE"),
        (Verdict.ERROR, 0, "ERROR"),
        (Verdict.PASS, LONG_STALL_NS - 1, "ERROR"),
        (Verdict.PASS, LONG_STALL_NS, "INCONCLUSIVE"),
        (Verdict.ERROR, LONG_STALL_NS, "INCONCLUSIVE"),
    ],
)
def test_a_pass_on_no_ground_is_an_error(verdict: Verdict, stall_ns: int, becomes: str) -> None:
    """A PASS after a gate that never held is an ERROR, or INCONCLUSIVE where a long stall may be the cause."""
    judgement = with_problems(said(verdict, note="so"), ["the gate never held"], stall_ns)

    assert str(judgement.verdict) == becomes
    assert judgement.note.startswith("so; the gate never held")
    assert ("the host stalled for" in judgement.note) == (stall_ns >= LONG_STALL_NS)


def test_two_problems_are_named_and_the_rest_counted() -> None:
    """A note stays short whatever went wrong."""
    judgement = with_problems(said(Verdict.FAIL), ["one", "two", "three", "four"])

    assert judgement.note == "one; two; and 2 more"


@pytest.mark.parametrize(
    ("ended", "pytest_says", "reason", "status"),
    [
        ([(MUST, "PASS")], 0, "", 0),
        ([(MUST, "OBSERVED")], 0, "", 0),
        ([(MUST, "KNOWN")], 0, "", 0),
        ([(MUST, "PASS"), (MUST, "SKIPPED"), (MUST, "NOT_OBSERVABLE")], 0, "", 0),
        ([(MUST, "PASS"), (SHOULD, "FAIL")], 1, "", 0),
        ([(MUST, "PASS"), (SHOULD, "ERROR")], 1, "", 0),
        ([(MUST, "PASS"), (SHOULD, "INCONCLUSIVE")], 1, "", 0),
        ([(MUST, "PASS"), (MUST, "FAIL")], 1, "", 1),
        ([(MUST, "PASS"), (MUST, "ERROR")], 1, "", 1),
        ([(MUST, "FAIL"), (MUST, "INCONCLUSIVE")], 1, "", 1),
        ([(MUST, "PASS"), (MUST, "INCONCLUSIVE")], 1, "", 75),
        ([(MUST, "INCONCLUSIVE")], 1, "", 75),
        ([(MUST, "PASS")], 2, "the target is gone", 1),
        ([(MUST, "PASS")], 2, "", 2),
        ([(MUST, "PASS")], 3, "", 3),
        ([(MUST, "SKIPPED")], 0, "", 5),
        ([(MUST, "NOT_OBSERVABLE")], 0, "", 5),
    ],
    ids=lambda value: "+".join(word for _, word in value) if isinstance(value, list) else str(value),
)
def test_exit_status(ended: list[tuple[object, str]], pytest_says: int, reason: str, status: int) -> None:
    """0 conformant, 1 a MUST failed, 75 a MUST stayed inconclusive, 5 nothing was judged; what pytest says goes first."""
    outcomes = [Outcome(rule, Verdict[word], said(Verdict[word])) for rule, word in ended]
    plugin = SimpleNamespace(reporter=SimpleNamespace(outcomes=outcomes), reason=reason)

    assert JudgingPlugin._status(plugin, pytest_says) == status


def test_every_verdict_has_a_word_and_a_letter() -> None:
    """The summary of pytest tells all eight apart."""
    letters = {letter for _, letter in WORDS.values()}

    assert set(WORDS) == set(Verdict)
    assert len({word for word, _ in WORDS.values()}) == len(letters) == len(Verdict)
