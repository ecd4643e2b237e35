"""Cases of the rules that every batcher owes, and of its configuration."""

from __future__ import annotations

from typing import Any

from batchproof.fixtures.evidence import Text
from batchproof.fixtures.script import HOUR, MS
from batchproof.fixtures.timeline import Seen, Timeline
from batchproof.suites.selftest.timelines import (
    ERROR,
    FAIL,
    INCONCLUSIVE,
    PASS,
    Cases,
    Run,
    happened,
    lost,
    request,
    several,
)

FIVE = several("r0 r1 r2 r3 r4")
THREES = [request("r0", rows=3), request("r1", rows=3)]
EIGHT = several("r0 r1 r2 r3 r4 r5 r6 r7")
TRICKLE = [request("r0", 0, 900), request("r1", 80, 900), request("r2", 240, 900)]
PLUG = request("plug", 0, 410)
PLUGGED = Run("plug", 0, 400)
BUSY = {"entered:plug": 1}
BAD = {"kind": "failed", "message": "boom"}
ENTERED = {"entered:p0": 0, "entered:p1": 1}


def plugged(r0_sent: float, *runs: Run, **more: Any) -> Timeline:
    """A plug that ran for 400 ms, r0 behind it, a delay of 200 ms."""
    return happened(PLUG, request("r0", r0_sent, 900), runs=(PLUGGED, *runs), marks=BUSY, delay=200, **more)


def neighbours(later: dict[str, Any], opened: float = 2300, **more: Any) -> Timeline:
    """`r0` expired, `later` did not, the gate opened at `opened`."""
    return happened(request("r0", 0, 2001, "expired"), later, marks={"release:gate": opened}, timeout=2000, **more)


def in_time(r0: dict[str, Any], opened: float = 100, **more: Any) -> Timeline:
    """`r0` behind a gate that opened within its two seconds."""
    return happened(r0, marks={"release:gate": opened}, timeout=2000, **more)


def expired(r0: dict[str, Any], later: dict[str, Any] | None = None, runs: tuple[Run, ...] = ()) -> Timeline:
    """`r0` behind a gate that opened after 400 ms, with a timeout of 300 ms."""
    return happened(r0, later or request("later", 350, 410), runs=runs, marks={"release:gate": 400}, timeout=300)


def batches(*gaps: float, **more: Any) -> Timeline:
    """Batches of one request, each 10 ms long, with these gaps between them."""
    runs, at = [Run("r0", 0, 10)], 10.0
    for number, gap in enumerate(gaps, 1):
        runs.append(Run(f"r{number}", at + gap, at + gap + 10))
        at += gap + 10
    return happened(*several(" ".join(run.names for run in runs)), runs=tuple(runs), **more)


def answered(*back: float, **more: Any) -> Timeline:
    """Batches of one request after one another, whose answers came back at these moments."""
    requests = [request(f"r{i}", 0, at) for i, at in enumerate(back)]
    return happened(*requests, runs=tuple(Run(f"r{i}", 10 * i, 10 * i + 5) for i in range(len(back))), **more)


def poisoned(*members: dict[str, Any], r0: dict[str, Any] | None = None) -> Timeline:
    """Requests in a batch with `bad`, which raises, and `r0` in the next one."""
    runs = Run(" ".join(one["name"] for one in members), 0, 1), Run("r0", 2, 3)
    return happened(*members, r0 or request("r0"), runs=runs)


CASES: Cases = [
    ("DB-SIZE-001", "full", PASS, "a batch of 4 rows (r0, r1, r2, r3)",
     happened(*FIVE, runs=(Run("r0 r1 r2 r3"), Run("r4")))),
    ("DB-SIZE-001", "one more", FAIL, "a batch of 5 rows (r0, r1, r2, r3, r4)",
     happened(*FIVE, runs=(Run("r0 r1 r2 r3 r4"),))),
    ("DB-SIZE-001", "too few", ERROR, "VACUOUS", happened(*FIVE[:4], runs=(Run("r0 r1 r2 r3"),))),
    ("DB-SIZE-001", "no run", ERROR, "VACUOUS", happened(*FIVE)),
    ("DB-SIZE-002", "full", PASS, "batches of [4, 4]", happened(*EIGHT, runs=(Run("r0 r1 r2 r3"), Run("r4 r5 r6 r7")))),
    ("DB-SIZE-002", "rest", PASS, "batches of [4, 1]", happened(*FIVE, runs=(Run("r0 r1 r2 r3"), Run("r4")))),
    ("DB-SIZE-002", "halves", FAIL, "batches of [2, 2, 4]",
     happened(*EIGHT, runs=(Run("r0 r1"), Run("r2 r3"), Run("r4 r5 r6 r7")))),
    ("DB-SIZE-003", "refused", PASS, "refused: too large",
     happened(request("big", kind="invalid", rows=5, message="too large"))),
    ("DB-SIZE-003", "executed", FAIL, "in a batch of 5 rows", happened(request("big", rows=5), runs=(Run("big"),))),
    ("DB-SIZE-003", "refused and executed", FAIL, "executed",
     happened(request("big", kind="invalid", rows=5), runs=(Run("big"),))),
    ("DB-SIZE-003", "hangs", FAIL, "neither answered nor refused", happened(lost("big", rows=5))),
    ("DB-SIZE-004", "named", PASS, "'invalid': at most 4", happened(request("big", kind="invalid", message="at most 4"))),
    ("DB-SIZE-004", "unnamed", FAIL, "'invalid': too large", happened(request("big", kind="invalid", message="too large"))),
    ("DB-SIZE-004", "as a failure", FAIL, "'failed': at most 4",
     happened(request("big", kind="failed", message="at most 4"))),
    ("DB-SIZE-004", "served", FAIL, "no refusal", happened(request("big"))),
    ("DB-SIZE-005", "whole", PASS, "2 requests, each whole", happened(*THREES, runs=(Run("r0"), Run("r1")))),
    ("DB-SIZE-005", "cut", FAIL, "r1 of 3 rows entered with 1",
     happened(*THREES, runs=(Run("r0 r1", rows=(3, 1)), Run("r1", rows=(2,))))),
    ("DB-SIZE-005", "single rows", ERROR, "VACUOUS", happened(*FIVE, runs=(Run("r0 r1 r2 r3"), Run("r4")))),
    ("DB-SIZE-006", "served", PASS, "answered", happened(request("exact", rows=4))),
    ("DB-SIZE-006", "refused", FAIL, "must be < 4",
     happened(request("exact", kind="invalid", rows=4, message="must be < 4"))),
    ("DB-SIZE-006", "hangs", FAIL, "no answer", happened(lost("exact", rows=4))),
    ("DB-SIZE-007", "alone", PASS, "a batch of 3 rows (r0)", happened(*THREES, runs=(Run("r0"), Run("r1")))),
    ("DB-SIZE-007", "two of three", FAIL, "a batch of 6 rows (r0, r1)", happened(*THREES, runs=(Run("r0 r1"),))),
    ("DB-SIZE-007", "one of three", ERROR, "VACUOUS", happened(THREES[0], runs=(Run("r0"),))),
    ("DB-SIZE-008", "full", PASS, "batches of [4, 4]", happened(*EIGHT, runs=(Run("r0 r1 r2 r3"), Run("r4 r5 r6 r7")))),
    ("DB-SIZE-008", "closed early", FAIL, "batches of [4, 1, 3]",
     happened(*EIGHT, runs=(Run("r0 r1 r2 r3"), Run("r4"), Run("r5 r6 r7")))),
    ("DB-DELAY-001", "a tick early", PASS, "199.0 ms", happened(request("r0"), runs=(Run("r0", 199, 200),), delay=200)),
    ("DB-DELAY-001", "half", FAIL, "100.0 ms", happened(request("r0"), runs=(Run("r0", 100, 101),), delay=200)),
    ("DB-DELAY-001", "other clock", FAIL, "150.0 ms",
     happened(request("r0", 0, 160), runs=(Run("r0", 9000, 9010),), delay=200, same_clock=False)),
    ("DB-DELAY-001", "hangs", ERROR, "VACUOUS", happened(lost("r0"), delay=200)),
    ("DB-DELAY-002", "within slack", PASS, "250.0 ms", happened(request("r0"), runs=(Run("r0", 250, 251),), delay=200)),
    ("DB-DELAY-002", "double", FAIL, "400.0 ms", happened(request("r0"), runs=(Run("r0", 400, 401),), delay=200)),
    ("DB-DELAY-002", "stalled", INCONCLUSIVE, "400.0 ms",
     happened(request("r0"), runs=(Run("r0", 400, 401),), delay=200, stalled=True)),
    ("DB-DELAY-002", "refused", FAIL, "r0 was refused: full",
     happened(request("r0", kind="full", message="full"), delay=200)),
    ("DB-DELAY-002", "hangs", FAIL, "r0 never entered the model", happened(lost("r0"), delay=200)),
    ("DB-DELAY-003", "all", PASS, "all answered", happened(*FIVE[:4], delay=HOUR / MS)),
    ("DB-DELAY-003", "hangs", FAIL, "without an answer: r1", happened(request("r0"), lost("r1"), delay=HOUR / MS)),
    ("DB-DELAY-004", "at once", PASS, "0.0 ms", plugged(10, Run("r0", 400, 401))),
    ("DB-DELAY-004", "again", FAIL, "200.0 ms", plugged(10, Run("r0", 600, 601))),
    ("DB-DELAY-004", "other clock", FAIL, "200.0 ms", plugged(10, Run("r0", 600, 601), same_clock=False)),
    ("DB-DELAY-004", "stalled", INCONCLUSIVE, "200.0 ms", plugged(10, Run("r0", 600, 601), stalled=True)),
    ("DB-DELAY-004", "queued late", INCONCLUSIVE, "too late", plugged(300, Run("r0", 600, 601))),
    ("DB-DELAY-004", "hangs", FAIL, "r0 never entered the model", plugged(10)),
    ("DB-DELAY-004", "no plug", ERROR, "VACUOUS", happened(PLUG, request("r0"), marks=BUSY)),
    ("DB-DELAY-005", "oldest", PASS, "200.0 ms",
     happened(*TRICKLE, runs=(Run("r0 r1", 200, 201), Run("r2", 440, 441)), delay=200)),
    ("DB-DELAY-005", "re-armed", FAIL, "440.0 ms", happened(*TRICKLE, runs=(Run("r0 r1 r2", 440, 441),), delay=200)),
    ("DB-DELAY-005", "stalled", INCONCLUSIVE, "360.0 ms",
     happened(*TRICKLE, runs=(Run("r0 r1 r2", 360, 361),), delay=200, stalled=True)),
    ("DB-DELAY-005", "no newcomer", ERROR, "VACUOUS", happened(*TRICKLE[:2], runs=(Run("r0 r1", 200, 201),), delay=200)),
    ("DB-DELAY-006", "together", PASS, "batches (r0, r1, r2)", happened(*FIVE[:3], runs=(Run("r0 r1 r2", 200),), delay=200)),
    ("DB-DELAY-006", "one by one", FAIL, "batches (r0) (r1, r2)",
     happened(*FIVE[:3], runs=(Run("r0", 200), Run("r1 r2", 200)), delay=200)),
    ("DB-DELAY-006", "hangs", FAIL, "no batch", happened(lost("r0"), lost("r1"), delay=200)),
    ("DB-DELAY-006", "sent late", INCONCLUSIVE, "batches (r0) (r1)",
     happened(request("r0", 0), request("r1", 150), runs=(Run("r0", 200), Run("r1", 350)), delay=200)),
    ("DB-DELAY-007", "within slack", PASS, "25.0 ms", happened(request("r0"), runs=(Run("r0", 25, 26),))),
    ("DB-DELAY-007", "default", FAIL, "100.0 ms", happened(request("r0"), runs=(Run("r0", 100, 101),))),
    ("DB-DELAY-007", "stalled", INCONCLUSIVE, "100.0 ms",
     happened(request("r0"), runs=(Run("r0", 100, 101),), stalled=True)),
    ("DB-ORDER-001", "in order", PASS, "r0 r1 r2", happened(*FIVE[:3], runs=(Run("r0 r1"), Run("r2")))),
    ("DB-ORDER-001", "overtaken", FAIL, "r0 r2 r1", happened(*FIVE[:3], runs=(Run("r0 r2"), Run("r1")))),
    ("DB-ORDER-001", "hangs", FAIL, "none executed", happened(*FIVE[:3])),
    ("DB-ORDER-002", "in order", PASS, "5.0 ms", answered(20, 15, 30)),
    ("DB-ORDER-002", "held back", FAIL, "30.0 ms", answered(50, 20, 60)),
    ("DB-ORDER-002", "stalled", INCONCLUSIVE, "30.0 ms", answered(50, 20, 60, stalled=True)),
    ("DB-ORDER-002", "two batches", ERROR, "VACUOUS", answered(50, 20)),
    ("DB-RESULT-001", "own", PASS, "2 right", happened(*FIVE[:2], runs=(Run("r0 r1"),))),
    ("DB-RESULT-001", "another's", FAIL, "not their own: r1", happened(request("r0"), request("r1", echoed=False))),
    ("DB-RESULT-001", "garbled", FAIL, "not their own: r0", happened(request("r0", garbled="no witness"), request("r1"))),
    ("DB-RESULT-001", "another's word", FAIL, "not their own: r0",
     happened(request("r0", seen=Seen(0, 1, 1, 1, 0, 0, 0, 7)), request("r1"))),
    ("DB-RESULT-001", "one answer", ERROR, "VACUOUS", happened(request("r0"), lost("r1"))),
    ("DB-RESULT-002", "once", PASS, "2 requests once each", happened(*FIVE[:2], runs=(Run("r0 r1"),))),
    ("DB-RESULT-002", "twice", FAIL, "r0 2 times", happened(*FIVE[:2], runs=(Run("r0 r1"), Run("r0")))),
    ("DB-RESULT-002", "never", FAIL, "r1 0 times", happened(*FIVE[:2], runs=(Run("r0"),))),
    ("DB-RESULT-002", "no answer", ERROR, "VACUOUS", happened(lost("r0"), runs=(Run("r0"),))),
    ("DB-TIMEOUT-001", "expired", PASS, "r0 was refused (expired): late",
     expired(request("r0", 0, 301, "expired", message="late"))),
    ("DB-TIMEOUT-001", "served", FAIL, "r0 was answered", expired(request("r0", 0, 420))),
    ("DB-TIMEOUT-001", "as a failure", FAIL, "r0 was refused (failed): boom", expired(request("r0", 0, 301, **BAD))),
    ("DB-TIMEOUT-001", "hangs", FAIL, "r0 got no answer", expired(lost("r0"))),
    ("DB-TIMEOUT-002", "never ran", PASS, "not executed",
     expired(request("r0", 0, 301, "expired"), runs=(Run("later", 401),))),
    ("DB-TIMEOUT-002", "ran", FAIL, "executed in batch 1 of instance 0",
     expired(request("r0", 0, 301, "expired"), runs=(Run("r0 later", 401),))),
    ("DB-TIMEOUT-002", "log behind", INCONCLUSIVE, "the log may be behind",
     expired(request("r0", 0, 301, "expired"), lost("later"))),
    ("DB-TIMEOUT-003", "served", PASS, "later was answered", neighbours(request("later", 1600, 2310))),
    ("DB-TIMEOUT-003", "refused too", FAIL, "later was refused (expired)",
     neighbours(request("later", 1600, 2001, "expired"))),
    ("DB-TIMEOUT-003", "late gate", INCONCLUSIVE, "later was refused (expired)",
     neighbours(request("later", 1600, 3601, "expired"), 3700)),
    ("DB-TIMEOUT-003", "early gate", ERROR, "VACUOUS", neighbours(request("later", 1600, 1700), 1650)),
    ("DB-TIMEOUT-004", "served", PASS, "r0 was answered", in_time(request("r0", 0, 110))),
    ("DB-TIMEOUT-004", "refused", FAIL, "r0 was refused (expired)", in_time(request("r0", 0, 50, "expired"))),
    ("DB-TIMEOUT-004", "hangs", FAIL, "r0 got no answer", in_time(lost("r0"))),
    ("DB-TIMEOUT-004", "late gate", INCONCLUSIVE, "r0 was refused (expired)",
     in_time(request("r0", 0, 1950, "expired"), 1900)),
    ("DB-TIMEOUT-004", "stalled", INCONCLUSIVE, "r0 was refused (expired)",
     in_time(request("r0", 0, 1700, "expired"), 1650, stalled=True)),
    ("DB-TIMEOUT-005", "while busy", PASS, "refused 301.0 ms after it was sent; the instance was busy for 400.0 ms",
     expired(request("r0", 0, 301, "expired"))),
    ("DB-TIMEOUT-005", "when free", FAIL, "refused 405.0 ms after", expired(request("r0", 0, 405, "expired"))),
    ("DB-TIMEOUT-005", "served", FAIL, "r0 was answered", expired(request("r0", 0, 420))),
    ("DB-LIVE-001", "settled", PASS, "all are", happened(request("r0"), request("r1", **BAD))),
    ("DB-LIVE-001", "hangs", FAIL, "neither: r1", happened(request("r0"), lost("r1"))),
    ("DB-LIVE-001", "connection lost", FAIL, "neither: r1 (connection lost)",
     happened(request("r0"), request("r1", kind="lost"))),
    ("DB-LIVE-002", "at once", PASS, "50.0 ms", batches(0, 50)),
    ("DB-LIVE-002", "naps", FAIL, "80.0 ms", batches(0, 80)),
    ("DB-LIVE-002", "other clock", FAIL, "80.0 ms", batches(0, 80, same_clock=False)),
    ("DB-LIVE-002", "stalled", INCONCLUSIVE, "80.0 ms", batches(0, 80, stalled=True)),
    ("DB-LIVE-002", "two batches", ERROR, "VACUOUS", batches(0)),
    ("DB-LIVE-005", "at once", PASS, "50.0 ms", batches(0, 50, timeout=3000)),
    ("DB-LIVE-005", "next sweep", FAIL, "400.0 ms", batches(0, 400, timeout=3000)),
    ("DB-LIVE-005", "stalled", INCONCLUSIVE, "80.0 ms", batches(0, 80, timeout=3000, stalled=True)),
    ("DB-LIVE-005", "two batches", ERROR, "VACUOUS", batches(0, timeout=3000)),
    ("DB-LIVE-003", "both", PASS, "2 at once",
     happened(*several("p0 p1"), runs=(Run("p0", 0, 9), Run("p1", 1, 9, instance=1)), marks=ENTERED)),
    ("DB-LIVE-003", "one", FAIL, "1 at once",
     happened(request("p0"), lost("p1"), runs=(Run("p0", 0, 9),), marks={"entered:p0": 0})),
    ("DB-LIVE-003", "in turn", FAIL, "1 at once",
     happened(*several("p0 p1"), runs=(Run("p0", 0, 9), Run("p1", 10, 19)), marks=ENTERED)),
    ("DB-LIVE-003", "one batch", FAIL, "1 at once",
     happened(*several("p0 p1"), runs=(Run("p0 p1", 0, 9),), marks=ENTERED)),
    ("DB-LIVE-004", "settled", PASS, "all are", happened(request("r0"), request("r1", kind="closed"), marks={"close": 1})),
    ("DB-LIVE-004", "hangs", FAIL, "neither: r1", happened(request("r0"), lost("r1"), marks={"close": 1})),
    ("DB-LIVE-004", "open", ERROR, "VACUOUS", happened(request("r0"))),
    ("DB-FAIL-001", "all", PASS, "2 members, all failed",
     poisoned(request("bad0", fail=True, **BAD), request("bad1", **BAD))),
    ("DB-FAIL-001", "spared", FAIL, "bad1: answered", poisoned(request("bad0", fail=True, **BAD), request("bad1"))),
    ("DB-FAIL-001", "hangs", FAIL, "bad1: no answer", poisoned(request("bad0", fail=True, **BAD), lost("bad1"))),
    ("DB-FAIL-001", "another error", FAIL, "bad1: closed",
     poisoned(request("bad0", fail=True, **BAD), request("bad1", kind="closed"))),
    ("DB-FAIL-001", "alone", ERROR, "VACUOUS", poisoned(request("bad0", fail=True, **BAD))),
    ("DB-FAIL-002", "served", PASS, "all answered", poisoned(request("bad0", fail=True, **BAD), request("bad1", **BAD))),
    ("DB-FAIL-002", "harmed", FAIL, "r0: boom", poisoned(request("bad0", fail=True, **BAD), r0=request("r0", **BAD))),
    ("DB-FAIL-002", "hangs", FAIL, "r0: no answer", poisoned(request("bad0", fail=True, **BAD), r0=lost("r0"))),
    ("DB-FAIL-002", "nothing raised", ERROR, "VACUOUS", poisoned(request("bad0", fail=True))),
    ("CFG-SERVER-001", "same", PASS, "the same", Text("served", "", "")),
    ("CFG-SERVER-001", "another", FAIL, "instances: told 1, reports 2", Text("served", "", "instances: told 1, reports 2")),
    ("CFG-SERVER-002", "refused", PASS, "no", Text("no-input", "", "no")),
    ("CFG-SERVER-002", "loaded", FAIL, "loaded", Text("no-input", "", "loaded")),
    ("CFG-SERVER-002", "valid refused", ERROR, "VACUOUS: no", Text("valid base", "", "no")),
]
