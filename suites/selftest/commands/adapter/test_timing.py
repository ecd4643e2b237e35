"""What the queue delay of a deployment shows, held against times written by hand."""

from __future__ import annotations

from dataclasses import replace

import pytest

from batchproof.commands.adapter import timing
from batchproof.commands.adapter.finding import MS
from batchproof.commands.adapter.timing import Delayed, Waits
from batchproof.suites.selftest.commands.adapter.seen import LATE, PLAIN, row


@pytest.mark.parametrize(
    ("delayed", "anchor"),
    [
        (LATE, "oldest-enqueue"),
        (replace(LATE, after_busy_ns=149 * MS), "first-dequeue"),
        (replace(LATE, lone_ns=(20 * MS, 140 * MS), after_busy_ns=149 * MS), "loop-entry"),
        (replace(LATE, lone_ns=(20 * MS, 140 * MS)), "loop-entry"),
        (replace(LATE, after_busy_ns=None), ""),
    ],
)
def test_the_anchor(delayed: Delayed, anchor: str) -> None:
    """What is left after a busy model tells one from two others, and the shortest wait tells these apart."""
    assert timing.anchor(delayed) == anchor


@pytest.mark.parametrize(
    ("waits", "none"),
    [
        (PLAIN, True),
        (replace(PLAIN, lone_ns=(2 * MS,)), True),
        (replace(PLAIN, lone_ns=(30 * MS, 2 * MS)), True),
        (replace(PLAIN, lone_ns=(10 * MS,)), False),
        (replace(PLAIN, lone_ns=(10 * MS,), burst_ns=(5 * MS,)), True),
    ],
    ids=["quick", "a tenth of the model", "one stall", "a delay", "a slow way"],
)
def test_whether_0_is_0(waits: Waits, none: bool) -> None:
    """A lone request is compared with the quickest of a burst and with the model, and noise only adds."""
    assert timing.is_none(waits) is none


@pytest.mark.parametrize(
    ("delayed", "level", "says"),
    [
        (LATE, "ok", "lone requests wait 150 ms to 151 ms"),
        (replace(LATE, unanswered=1), "ok", "lone requests wait"),
        (replace(LATE, unanswered=2), "wrong", "for longer than 1 s: is the unit right?"),
        (replace(LATE, lone_ns=(900 * MS,)), "wrong", "waits 900 ms: is the unit right?"),
        (replace(LATE, lone_ns=(2 * MS,)), "wrong", "a delay of 150 ms changes nothing"),
        (replace(LATE, lone_ns=()), "not seen", "no lone request was answered"),
        (replace(LATE, lone_ns=(17 * MS, 187 * MS, 21 * MS, 25 * MS)), "wrong", "a lone request waits 21 ms"),
        (replace(LATE, lone_ns=(17 * MS, 187 * MS, 63 * MS, 25 * MS, 20 * MS)), "wrong", "changes nothing"),
        (replace(LATE, lone_ns=(150 * MS, 86 * MS, 22 * MS, 107 * MS)), "ok", "lone requests wait 22 ms to 150 ms"),
        (replace(LATE, lone_ns=(140 * MS, 76 * MS, 12 * MS, 97 * MS, 33 * MS, 119 * MS, 55 * MS)), "ok", "wait 12 ms"),
        (replace(LATE, lone_ns=tuple(ns * MS for ns in (9, 4, 112, 20, 99, 42, 3, 90, 12))), "ok", "wait 3.0 ms to 112 ms"),
        (replace(LATE, lone_ns=tuple(ns * MS for ns in (9, 8, 112, 10, 188, 9, 8, 9, 12))), "wrong", "changes nothing"),
    ],
)
def test_a_delay(delayed: Delayed, level: str, says: str) -> None:
    """A delay is kept, lost, or far too long."""
    found = row(timing.judge_delay(delayed, PLAIN, claimed=True), "delay")

    assert (found[0], says in found[1]) == (level, True), found


def test_a_delay_against_the_least_of_a_timer_that_runs_freely() -> None:
    """Of 100 ms and of 300 ms, any part may be left."""
    least = replace(PLAIN, delay_ns=100 * MS, lone_ns=tuple(ns * MS for ns in (12, 96, 51, 70, 33)))
    delayed = replace(LATE, delay_ns=300 * MS, lone_ns=tuple(ns * MS for ns in (20, 290, 55, 88, 120, 160, 190, 220, 255)))

    assert timing.kept(delayed, least)
    assert not timing.kept(replace(delayed, lone_ns=least.lone_ns), least)


@pytest.mark.parametrize(
    ("first_ns", "later_ns", "late"),
    [
        ((550 * MS, 530 * MS, 560 * MS), 152 * MS, True),
        ((550 * MS, 151 * MS), 152 * MS, False),
        ((226 * MS,), 150 * MS, True),
        ((225 * MS,), 150 * MS, False),
        ((260 * MS,), 190 * MS, False),
        ((150 * MS,), 20 * MS, False),
        ((), 150 * MS, False),
    ],
    ids=["on each deployment", "on one", "more than half a delay", "half a delay", "a slow host", "a ticker", "unknown"],
)
def test_the_first_request_is_late_on_every_deployment(first_ns: tuple[int, ...], later_ns: int, *, late: bool) -> None:
    """A stall hits one of them, and a stack that is not ready all."""
    fresh = timing.Fresh(150 * MS, first_ns, later_ns)

    assert fresh.late is late
    assert bool(timing.judge_fresh(fresh)) is late


def test_a_wait_without_a_delay_says_what_was_compared() -> None:
    """Both durations have their units."""
    (found,) = timing.judge_none(Waits(0, 20 * MS, (9 * MS,), (MS // 4,)))

    assert found.says == (
        "with a queue delay of 0 a lone request still waits: a lone request spends 9.0 ms outside the model, the quickest "
        "of a burst 0.2 ms (more than 3 times as long, and more than a tenth of the model's 20 ms)"
    )
