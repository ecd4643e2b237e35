"""Cases of shapes, optional inputs, the response cache and what a server counts."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from batchproof.fixtures.script import HOUR, MS
from batchproof.fixtures.timeline import Seen, Timeline
from batchproof.fixtures.verdicts import Verdict
from batchproof.suites.selftest.timelines import ERROR, FAIL, INCONCLUSIVE, PASS, Cases, Run, happened, lost, request

UNSEEN = Verdict.NOT_OBSERVABLE
A0, A1, A2 = (request(f"a{i}", extra=1) for i in range(3))
B0, B1, B2 = (request(f"b{i}", 100, extra=2) for i in range(3))
PLUG = request("plug", extra=1)
RAGGED = [request(f"r{i}", extra=columns) for i, columns in enumerate((1, 2, 3, 1))]
STRANGE = {"kind": "failed", "message": "the second tensor of [7] is not their own"}
W0, W1, O0, O1 = request("w0", extra=1), request("w1", extra=1), request("o0"), request("o1")
MISSING = {"kind": "invalid", "message": "needs the input EXTRA"}
WHOLE = request("whole", extra=1)
RAGGED_ROWS = [request("r0", extra=1, rows=3), request("r1", extra=2, rows=2)]
FIRST = Seen(0, 1, 1, 1, 0, 0, MS, 1)  # what the witness says of the request of `KNOWN`
KNOWN = Run("r0", 0, 1)
BUSY = {"entered:plug": 1, "release:gate": 400}
BAD = {"kind": "failed", "message": "boom"}


def patient(*requests: dict[str, Any], runs: tuple[Run, ...] = ()) -> Timeline:
    """A queue delay of an hour."""
    return happened(*requests, runs=runs, delay=HOUR / MS)


def misfit(*runs: Run, **more: Any) -> Timeline:
    """`a0`, and after 100 ms `b0` of another shape; a delay of 200 ms."""
    return happened(A0, B0, runs=runs, delay=200, **more)


def twin(name: str = "again", **more: Any) -> dict[str, Any]:
    """A request with the bytes, and so the serial, of the first one of its timeline."""
    return request(name, 10, serial=1, **{"seen": None if more.get("kind") else FIRST, **more})


def others(other: dict[str, Any], *runs: Run) -> Timeline:
    """`r0`, `other` with one number changed, and `another`."""
    return happened(request("r0"), other, request("another"), runs=(KNOWN, *runs))


def while_busy(again: dict[str, Any], **more: Any) -> Timeline:
    """`again` has the inputs of `r0` and was sent while a plug was in the model; the gate opened after 400 ms."""
    return happened(request("r0"), request("plug"), again, **{"runs": (KNOWN, Run("plug", 1, 400)), "marks": BUSY, **more})


def hit(**counted: int) -> Timeline:
    """`r0` was executed, `again` was not."""
    return happened(request("r0"), twin(), runs=(KNOWN,), statistics=counted)


def counted(**statistics: Any) -> Timeline:
    """Three requests of four rows in two batches, and two more in a batch that raised."""
    bad = [request("bad0", **BAD), request("bad1", **BAD)]
    answered = [request("r0"), request("r1"), request("r2", rows=2)]
    failed_first = happened(*bad, *answered, runs=(Run("bad0 bad1"), Run("r0 r1"), Run("r2")), statistics=statistics)
    runs = tuple(replace(run, failed=run.serials == (1, 2)) for run in failed_first.executions)
    return replace(failed_first, executions=runs)


def clean(*runs: Run, **statistics: Any) -> Timeline:
    """Requests of one or two rows, none of which failed."""
    return happened(request("r0"), request("r1"), request("r2", rows=2), runs=runs, statistics=statistics)


def expired(kind: str = "expired", **statistics: Any) -> Timeline:
    """`r0` expired, two were answered."""
    r0 = request("r0", kind=kind) if kind else request("r0")
    return happened(request("plug"), r0, request("later"), timeout=300, statistics=statistics)


def refused(kind: str = "full", **statistics: Any) -> Timeline:
    """One found the queue full, one was too large, two were answered."""
    full, big = request("full", kind=kind), request("big", rows=5, kind="invalid")
    return happened(request("plug"), request("r0", rows=2), full, big, runs=(Run("plug"), Run("r0")), statistics=statistics)


def waiting(*said: int, entered: bool = True) -> Timeline:
    """0, 1, 2 and again 0 requests waited behind a plug."""
    seen = happened(request("plug"), request("r0"), request("r1"), marks={"entered:plug": 1} if entered else {})
    return replace(seen, readings=tuple(zip((0, 1, 2, 0), said, strict=True)))


TOGETHER = Run("w0 w1"), Run("o0 o1")
RIGHT = {"success": 3, "inference_count": 4, "execution_count": 3, "fail": 2, "failed": 2}
HISTOGRAM = {"batches": {"1": 2, "2": 1}}

CASES: Cases = [
    ("DB-SHAPE-001", "apart", PASS, "2 batches of one shape each", happened(A0, A1, B0, runs=(Run("a0 a1"), Run("b0")))),
    ("DB-SHAPE-001", "together", FAIL, "a batch of a0 (1 columns), b0 (2 columns)", happened(A0, B0, runs=(Run("a0 b0"),))),
    ("DB-SHAPE-001", "does not stack", FAIL, "b0 failed: sizes differ",
     happened(A0, request("b0", extra=2, kind="failed", message="sizes differ"), runs=(Run("a0"),))),
    ("DB-SHAPE-001", "one shape", ERROR, "VACUOUS", happened(A0, A1, runs=(Run("a0 a1"),))),
    ("DB-SHAPE-001", "no run", ERROR, "VACUOUS", happened(A0, B0)),
    ("DB-SHAPE-002", "together", PASS, "batches (a0, a1) (b0, b1)",
     patient(A0, A1, B0, B1, runs=(Run("a0 a1"), Run("b0 b1")))),
    ("DB-SHAPE-002", "another order in the batch", PASS, "batches (a1, a0) (b0)",
     patient(A0, A1, B0, runs=(Run("a1 a0"), Run("b0")))),
    ("DB-SHAPE-002", "one by one", FAIL, "batches (a0) (a1) (b0)",
     patient(A0, A1, B0, runs=(Run("a0"), Run("a1"), Run("b0")))),
    ("DB-SHAPE-002", "hangs", FAIL, "no batch; a0: no answer", patient(lost("a0", extra=1), lost("b0", extra=2))),
    ("DB-SHAPE-003", "sent", PASS, "answered", patient(A0, A1, B0, runs=(Run("a0 a1", 101),))),
    ("DB-SHAPE-003", "waits", FAIL, "still waiting: a0", patient(lost("a0", extra=1), B0)),
    ("DB-SHAPE-003", "left before", ERROR, "VACUOUS", patient(A0, A1, B0, runs=(Run("a0 a1", 50),))),
    ("DB-SHAPE-004", "in order", PASS, "batches (plug) (a0, a1) (b0) (a2)",
     happened(PLUG, A0, A1, B0, A2, runs=(Run("plug"), Run("a0 a1"), Run("b0"), Run("a2")))),
    ("DB-SHAPE-004", "skipped", FAIL, "batches (plug) (a0, a1, a2) (b0)",
     happened(PLUG, A0, A1, B0, A2, runs=(Run("plug"), Run("a0 a1 a2"), Run("b0")))),
    ("DB-SHAPE-005", "own", PASS, "0.0 ms", misfit(Run("a0", 101, 102), Run("b0", 300, 301))),
    ("DB-SHAPE-005", "behind a long batch", PASS, "1.0 ms", misfit(Run("a0", 101, 900), Run("b0", 901, 902))),
    ("DB-SHAPE-005", "of the batch before", FAIL, "100.0 ms after it was queued: too early",
     misfit(Run("a0", 101, 102), Run("b0", 200, 201))),
    ("DB-SHAPE-005", "anew", FAIL, "200.0 ms", misfit(Run("a0", 101, 900), Run("b0", 1100, 1101))),
    ("DB-SHAPE-005", "anew, other clock", FAIL, "200.0 ms",
     happened(A0, request("b0", 100, 1200, extra=2), runs=(Run("a0", 9000, 9500), Run("b0", 9700, 9701)), delay=200,
              same_clock=False)),
    ("DB-SHAPE-005", "stalled", INCONCLUSIVE, "200.0 ms", misfit(Run("a0", 101, 900), Run("b0", 1100, 1101), stalled=True)),
    ("DB-SHAPE-005", "hangs", FAIL, "b0 never entered", happened(A0, lost("b0", 100, extra=2), delay=200)),
    ("DB-SHAPE-006", "together", PASS, "batches (r0, r1, r2, r3)", happened(*RAGGED, runs=(Run("r0 r1 r2 r3"),))),
    ("DB-SHAPE-006", "apart", FAIL, "batches (r0) (r1) (r2, r3)",
     happened(*RAGGED, runs=(Run("r0"), Run("r1"), Run("r2 r3")))),
    ("DB-SHAPE-006", "one shape", ERROR, "VACUOUS", happened(A0, A1, runs=(Run("a0 a1"),))),
    ("DB-SHAPE-007", "own", PASS, "4 requests with their own", happened(*RAGGED, runs=(Run("r0 r1 r2 r3"),))),
    ("DB-SHAPE-007", "another's", FAIL, "a0: the second tensor of [7] is not their own",
     happened(request("a0", extra=1, **STRANGE), request("b0", extra=2, **STRANGE), runs=(Run("a0 b0"),))),
    ("DB-SHAPE-007", "apart", ERROR, "VACUOUS", happened(A0, A1, B0, runs=(Run("a0 a1"), Run("b0")))),
    ("DB-SHAPE-008", "own", PASS, "2 requests with their own", happened(A0, A1, runs=(Run("a0 a1"),))),
    ("DB-SHAPE-008", "another's", FAIL, "a0: the second tensor of [7] is not their own",
     happened(request("a0", extra=1, **STRANGE), request("a1", extra=1, **STRANGE), runs=(Run("a0 a1"),))),
    ("DB-SHAPE-008", "apart", ERROR, "VACUOUS", happened(A0, A1, runs=(Run("a0"), Run("a1")))),
    ("DB-SHAPE-009", "served", PASS, "both are", happened(request("r0"), request("r1", extra=1))),
    ("DB-SHAPE-009", "refused", FAIL, "r0: needs the input EXTRA",
     happened(request("r0", **MISSING), request("r1", extra=1))),
    ("DB-SHAPE-009", "hangs", FAIL, "r0: no answer", happened(lost("r0"), request("r1", extra=1))),
    ("DB-SHAPE-010", "apart", PASS, "batches (w0, w1) (o0, o1)", patient(W0, W1, O0, O1, runs=TOGETHER)),
    ("DB-SHAPE-010", "mixed", FAIL, "batches (w0, w1, o0, o1)", patient(W0, W1, O0, O1, runs=(Run("w0 w1 o0 o1"),))),
    ("DB-SHAPE-010", "one by one", FAIL, "batches (w0) (w1) (o0, o1)",
     patient(W0, W1, O0, O1, runs=(Run("w0"), Run("w1"), Run("o0 o1")))),
    ("DB-SHAPE-011", "refused", PASS, "'invalid': needs the input",
     happened(request("bare", **MISSING), WHOLE, runs=(Run("whole"),))),
    ("DB-SHAPE-011", "executed", FAIL, "executed", happened(request("bare"), WHOLE, runs=(Run("bare"), Run("whole")))),
    ("DB-SHAPE-011", "as a failure", FAIL, "'failed': boom", happened(request("bare", **BAD), WHOLE)),
    ("DB-SHAPE-011", "hangs", FAIL, "neither answered nor refused", happened(lost("bare"), WHOLE)),
    ("DB-SHAPE-011", "all are refused", ERROR, "VACUOUS",
     happened(request("bare", **MISSING), request("whole", extra=1, **MISSING))),
    ("DB-SHAPE-012", "apart", PASS, "a batch of 3 rows (r0)", happened(*RAGGED_ROWS, runs=(Run("r0"), Run("r1")))),
    ("DB-SHAPE-012", "together", FAIL, "a batch of 5 rows (r0, r1)", happened(*RAGGED_ROWS, runs=(Run("r0 r1"),))),
    ("DB-SHAPE-012", "too few", ERROR, "VACUOUS", happened(A0, B0, runs=(Run("a0 b0"),))),
    ("DB-CACHE-001", "hit", PASS, "1 executions, the same outputs", happened(request("r0"), twin(), runs=(KNOWN,))),
    ("DB-CACHE-001", "executed again", FAIL, "2 executions", happened(request("r0"), twin(), runs=(KNOWN, Run("r0", 2, 3)))),
    ("DB-CACHE-001", "another's outputs", FAIL, "1 executions, other outputs",
     happened(request("r0"), twin(echoed=False), runs=(KNOWN,))),
    ("DB-CACHE-001", "without outputs", FAIL, "1 executions, other outputs",
     happened(request("r0"), twin(seen=None), runs=(KNOWN,))),
    ("DB-CACHE-001", "refused", FAIL, "again was not answered: boom", happened(request("r0"), twin(**BAD), runs=(KNOWN,))),
    ("DB-CACHE-001", "never known", ERROR, "VACUOUS", happened(request("r0", **BAD), twin(), runs=(KNOWN,))),
    ("DB-CACHE-002", "executed", PASS, "3 executions of 3 requests", others(twin("other"), Run("r0", 2), Run("another", 3))),
    ("DB-CACHE-002", "half a key", FAIL, "2 executions of 3 requests, another's outputs: other",
     others(twin("other", echoed=False), Run("another", 3))),
    ("DB-CACHE-002", "no key", FAIL, "2 executions of 3 requests", others(twin("other"), Run("r0", 2))),
    ("DB-CACHE-002", "hangs", ERROR, "VACUOUS", others(twin("other", back=None))),
    ("DB-CACHE-003", "executed again", PASS, "2 executions, the second one failed",
     happened(request("bad", **BAD), twin(**BAD), runs=(Run("bad", 0), Run("bad", 2)))),
    ("DB-CACHE-003", "remembered", FAIL, "1 executions, the second one answered",
     happened(request("bad", **BAD), twin(seen=None, echoed=False), runs=(Run("bad"),))),
    ("DB-CACHE-003", "remembered as a failure", FAIL, "1 executions, the second one failed",
     happened(request("bad", **BAD), twin(**BAD), runs=(Run("bad"),))),
    ("DB-CACHE-003", "did not fail", ERROR, "VACUOUS", happened(request("bad"), twin(), runs=(Run("bad"),))),
    ("DB-CACHE-004", "executed again", PASS, "2 executions", happened(request("r0"), twin(), runs=(KNOWN, Run("r0", 2, 3)))),
    ("DB-CACHE-004", "remembered", FAIL, "1 executions", happened(request("r0"), twin(), runs=(KNOWN,))),
    ("DB-CACHE-004", "hangs", ERROR, "VACUOUS", happened(request("r0"), twin(back=None), runs=(KNOWN,))),
    ("DB-CACHE-005", "at once", PASS, "after 1.0 ms; the instance was busy for 390.0 ms", while_busy(twin(back=11))),
    ("DB-CACHE-005", "waits", FAIL, "answered after 400.0 ms", while_busy(twin(back=410))),
    ("DB-CACHE-005", "hangs", FAIL, "no answer", while_busy(twin(back=None))),
    ("DB-CACHE-005", "never busy", ERROR, "VACUOUS", while_busy(twin(back=11), marks={"release:gate": 400})),
    ("DB-CACHE-007", "answered", PASS, "all answered", happened(request("r0"), twin(), request("later"), runs=(KNOWN,))),
    ("DB-CACHE-007", "blocked", FAIL, "later: no answer", happened(request("r0"), twin(), lost("later"), runs=(KNOWN,))),
    ("DB-CACHE-007", "first hangs", ERROR, "VACUOUS", happened(lost("r0"), twin(), request("later"))),
    ("DB-CACHE-006", "success", PASS, "success 2, inference_count 1, execution_count 1",
     hit(success=2, inference_count=1, execution_count=1)),
    ("DB-CACHE-006", "inference", FAIL, "success 2, inference_count 2, execution_count 1",
     hit(success=2, inference_count=2, execution_count=1)),
    ("DB-CACHE-006", "no hit", FAIL, "cache_hits 0", hit(success=2, inference_count=1, execution_count=1, cache_hits=0)),
    ("DB-CACHE-006", "half counted", UNSEEN, "does not count execution_count", hit(success=2, inference_count=1)),
    ("DB-CACHE-006", "executed again", ERROR, "VACUOUS", happened(request("r0"), twin(), runs=(KNOWN, Run("r0", 2)))),
    ("DB-STATS-001", "batches", PASS, "execution_count 2", clean(Run("r0 r1"), Run("r2"), execution_count=2)),
    ("DB-STATS-001", "requests", FAIL, "execution_count 3", clean(Run("r0 r1"), Run("r2"), execution_count=3)),
    ("DB-STATS-001", "one by one", ERROR, "VACUOUS", clean(Run("r0"), Run("r1"), Run("r2"), execution_count=3)),
    ("DB-STATS-001", "not counted", UNSEEN, "does not count execution_count", clean(Run("r0 r1"), Run("r2"))),
    ("DB-STATS-002", "rows", PASS, "inference_count 4", counted(**RIGHT)),
    ("DB-STATS-002", "requests", FAIL, "inference_count 3", counted(**{**RIGHT, "inference_count": 3})),
    ("DB-STATS-002", "failed too", FAIL, "inference_count 6", counted(**{**RIGHT, "inference_count": 6})),
    ("DB-STATS-002", "none failed", ERROR, "VACUOUS", clean(Run("r0 r1"), Run("r2"), inference_count=4)),
    ("DB-STATS-003", "requests", PASS, "success 3", counted(**RIGHT)),
    ("DB-STATS-003", "batches", FAIL, "success 2", counted(**{**RIGHT, "success": 2})),
    ("DB-STATS-003", "failed too", FAIL, "success 5", counted(**{**RIGHT, "success": 5})),
    ("DB-STATS-003", "one by one", ERROR, "VACUOUS",
     happened(request("bad", **BAD), request("r0"), runs=(Run("bad"), KNOWN), statistics=RIGHT)),
    ("DB-STATS-004", "each", PASS, "fail 2, failed 2", counted(**RIGHT)),
    ("DB-STATS-004", "once", FAIL, "fail 1", counted(fail=1)),
    ("DB-STATS-004", "another reason", FAIL, "fail 2, failed 0", counted(fail=2, failed=0)),
    ("DB-STATS-004", "none failed", ERROR, "VACUOUS", clean(Run("r0 r1"), Run("r2"), fail=0)),
    ("DB-STATS-005", "rows", PASS, "batches {'1': 2, '2': 1}", clean(Run("r0"), Run("r1"), Run("r2"), **HISTOGRAM)),
    ("DB-STATS-005", "requests", FAIL, "batches {'1': 3}", clean(Run("r0"), Run("r1"), Run("r2"), batches={"1": 3})),
    ("DB-STATS-005", "one size", ERROR, "VACUOUS", clean(Run("r0 r1"), Run("r2"), batches={"2": 2})),
    ("DB-STATS-006", "with its reason", PASS, "fail 1, success 2, expired 1", expired(fail=1, success=2, expired=1)),
    ("DB-STATS-006", "not at all", FAIL, "fail 0, success 2", expired(fail=0, success=2)),
    ("DB-STATS-006", "another reason", FAIL, "fail 1, success 2, expired 0", expired(fail=1, success=2, expired=0)),
    ("DB-STATS-006", "none expired", ERROR, "VACUOUS", expired(kind="", fail=0, success=3)),
    ("DB-STATS-007", "not counted", PASS, "success 2, inference_count 3, execution_count 2",
     refused(success=2, inference_count=3, execution_count=2)),
    ("DB-STATS-007", "as successes", FAIL, "success 4", refused(success=4, inference_count=3, execution_count=2)),
    ("DB-STATS-007", "as inferences", FAIL, "inference_count 8", refused(success=2, inference_count=8, execution_count=2)),
    ("DB-STATS-007", "never full", ERROR, "VACUOUS", refused(kind="expired", success=2)),
    ("DB-STATS-008", "exact", PASS, "[0, 1, 2, 0]", waiting(0, 1, 2, 0)),
    ("DB-STATS-008", "with the plug", FAIL, "[1, 2, 3, 0]", waiting(1, 2, 3, 0)),
    ("DB-STATS-008", "stays", FAIL, "[0, 1, 2, 2]", waiting(0, 1, 2, 2)),
    ("DB-STATS-008", "no plug", ERROR, "VACUOUS", waiting(0, 1, 2, 0, entered=False)),
]
