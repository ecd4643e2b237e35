"""Cases of queue limits, queue timeouts, errors and cancellation."""

from __future__ import annotations

from typing import Any

from batchproof.fixtures.script import MS
from batchproof.fixtures.timeline import Stall, Timeline
from batchproof.fixtures.witness.probe import FAILURE
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

FULL = {"kind": "full", "status": "UNAVAILABLE", "message": "full"}
LATE = {"kind": "expired", "status": "UNAVAILABLE", "message": "late"}
GONE = {"kind": "cancelled"}
BOOM = {"kind": "failed", "status": "INTERNAL", "message": f"RuntimeError: {FAILURE}"}
OPENED = {"release:gate": 400}
LATER = request("later", 410, 420)
L = several("l0 l1 l2 l3", sent=1100, back=1250)
LEVEL_2 = {"priority_queue_policy": [[2, {"queue_timeout_ns": 300 * MS, "timeout_action": "REJECT", "max_queue_size": 1}]]}


def overfull(*requests: dict[str, Any], runs: tuple[Run, ...] = (), limit: int = 2, **more: Any) -> Timeline:
    """Requests behind a gate that opened after 400 ms, and a limit of the queue."""
    return happened(*requests, runs=runs, marks=OPENED, config={"max_queue_size": limit}, **more)


def refused(name: str, back: float = 5, **more: Any) -> dict[str, Any]:
    """A request that found the queue full."""
    return request(name, 0, back, **{**FULL, **more})


def levels(*kinds: str) -> Timeline:
    """A request of each of two levels, and one too many, in a limit of one; served or refused so."""
    names = ("r10", "r20", "r11", "r21")
    return overfull(*(request(name, kind=kind, priority=int(name[1])) for name, kind in zip(names, kinds, strict=True)),
                    limit=1)


def idle(*requests: dict[str, Any], **more: Any) -> Timeline:
    """Requests at an idle model with a delay of a second."""
    return happened(*requests, delay=1000, config={"max_queue_size": 2}, **more)


def own_policy(u0: str, l0: str, l1: str, late: float = 0) -> Timeline:
    """Level 1 with the default policy, level 2 with a limit of 1 and a timeout of its own."""
    requests = request("u0", kind=u0), request("l0", kind=l0), request("l1", late, late + 400, l1)
    return happened(*requests, config=LEVEL_2)


def delayed(*served: str, opened: float = 1200, entered: float = 1210, **r0: Any) -> Timeline:
    """`r0` was late when l0 to l3 were queued, and these batches were executed."""
    runs = tuple(Run(names, entered + at, entered + at + 1) for at, names in enumerate(served))
    return happened(request("r0", 0, 1300, **r0), *L, runs=runs, marks={"queued:1": 1, "release:gate": opened}, timeout=1000)


def middle(mid: dict[str, Any], *served: str, before: str = "") -> Timeline:
    """`before`, `mid`, `behind`; mid may wait for 200 ms; the gate opened after 400 ms."""
    requests = request("before", kind=before), {**mid, "timeout_ns": 200 * MS}, request("behind")
    return happened(*requests, runs=tuple(Run(names, 401) for names in served), marks=OPENED, timeout=60_000)


def asking(asked_ms: float, r0: dict[str, Any], opened: float = 900, timeout: float = 600) -> Timeline:
    """`r0` asked for this timeout and was queued at 1 ms."""
    asked = {**r0, "timeout_ns": round(asked_ms * MS)}
    return happened(asked, marks={"queued:1": 1, "release:gate": opened}, timeout=timeout)


def executed(r0: dict[str, Any], *runs: Run) -> Timeline:
    """`r0` at an idle model with a timeout of 300 ms."""
    return happened(r0, runs=runs, timeout=300)


def taken_back(names: str, cancelled: str, *runs: str, after: dict[str, Any] | None = None, stall: float = 0,
               **more: Any) -> Timeline:
    """Requests of which some were cancelled; these batches were executed."""
    gone = cancelled.split()
    requests = [request(name, **(GONE if name in gone else {})) for name in names.split()]
    marks = {**{f"cancel:{name}": 50 for name in gone}, "release:gate": 450}
    timeline = happened(*requests, after or request("after", 450, 510), marks=marks,
                        runs=tuple(Run(batch, 500 + at) for at, batch in enumerate(runs)), **more)
    return Timeline(**{**vars(timeline), "stalls": (Stall(100 * MS, round(stall * MS)),)}) if stall else timeline


def crowded(newcomer: dict[str, Any], names: str = "r0 r1 r2", stall: float = 0) -> Timeline:
    """`r1` of a full queue was cancelled, then `newcomer` was sent."""
    timeline = taken_back(names, "r1", after=newcomer, config={"max_queue_size": 3})
    return Timeline(**{**vars(timeline), "stalls": (Stall(100 * MS, round(stall * MS)),)}) if stall else timeline


def counted(stall: float = 0, **counts: int) -> Timeline:
    """`r1` was cancelled, r0 and after were served; the server counted so."""
    return taken_back("r0 r1", "r1", "r0 after", statistics=counts, stall=stall)


def too_late(r1: dict[str, Any], back: float = 10, **counts: int) -> Timeline:
    """`r0` came back and was cancelled at 20 ms, `r1` was sent after that."""
    return happened(request("r0", 0, back), r1, marks={"cancel:r0": 20}, statistics=counts or None)


def after_gone(waited: float, marks: dict[str, float], kind: str, *runs: Run, **more: Any) -> Timeline:
    """`gone` left the queue unexecuted during its delay of 100 ms; `r0` came 150 ms later and waited so long."""
    r0 = Run("r0", 150 + waited, 151 + waited)
    return happened(request("gone", 0, 100, kind), request("r0", 150, 900), runs=(*runs, r0), marks=marks, delay=100, **more)


CASES: Cases = [
    ("DB-TIMEOUT-006", "served", PASS, "r0 was answered", delayed("l0 l1 l2 l3", "r0")),
    ("DB-TIMEOUT-006", "refused", FAIL, "r0 was refused (expired)", delayed("l0 l1 l2 l3", kind="expired")),
    ("DB-TIMEOUT-006", "opened early", ERROR, "VACUOUS", delayed("r0 l0 l1 l2", "l3", opened=900)),
    ("DB-TIMEOUT-007", "last", PASS, "l0 l1 l2 l3 r0", delayed("l0 l1 l2 l3", "r0")),
    ("DB-TIMEOUT-007", "keeps its place", FAIL, "r0 l0 l1 l2 l3", delayed("r0 l0 l1 l2", "l3")),
    ("DB-TIMEOUT-007", "nobody", FAIL, "none executed", delayed()),
    ("DB-TIMEOUT-007", "all late", INCONCLUSIVE, "r0 l0 l1 l2 l3", delayed("r0 l0 l1 l2", "l3", entered=2200)),
    ("DB-TIMEOUT-007", "opened early", ERROR, "VACUOUS", delayed("r0 l0 l1 l2", "l3", opened=900)),
    ("DB-TIMEOUT-008", "first", PASS, "r0 l0 l1 l2 l3", delayed("r0 l0 l1 l2", "l3")),
    ("DB-TIMEOUT-008", "last of all", FAIL, "l0 l1 l2 l3 r0", delayed("l0 l1 l2 l3", "r0", entered=2200)),
    ("DB-TIMEOUT-008", "opened early", ERROR, "VACUOUS", delayed("r0 l0 l1 l2", "l3", opened=900)),
    ("DB-TIMEOUT-009", "honoured", PASS, "mid was refused (expired)", middle(request("mid", 0, 300, **LATE))),
    ("DB-TIMEOUT-009", "served", FAIL, "mid was answered", middle(request("mid"))),
    ("DB-TIMEOUT-009", "when free", FAIL, "mid was refused (expired)", middle(request("mid", 0, 405, **LATE))),
    ("DB-TIMEOUT-010", "ignored", PASS, "r0 was refused (expired)", asking(3_600_000, request("r0", 0, 610, **LATE))),
    ("DB-TIMEOUT-010", "taken", FAIL, "r0 was answered", asking(3_600_000, request("r0", 0, 910))),
    ("DB-TIMEOUT-010", "hangs", FAIL, "r0 got no answer", asking(3_600_000, lost("r0"))),
    ("DB-TIMEOUT-011", "less", PASS, "r0 was answered", asking(100, request("r0", 0, 910), timeout=60_000)),
    ("DB-TIMEOUT-011", "more", PASS, "r0 was refused (expired)", asking(3_600_000, request("r0", 0, 610, **LATE))),
    ("DB-TIMEOUT-011", "less is taken", FAIL, "r0 was refused (expired)",
     asking(100, request("r0", 0, 300, **LATE), timeout=60_000)),
    ("DB-TIMEOUT-011", "more is taken", FAIL, "r0 was answered", asking(3_600_000, request("r0", 0, 910))),
    ("DB-TIMEOUT-011", "opened early", ERROR, "VACUOUS", asking(100, request("r0", 0, 60), opened=50, timeout=60_000)),
    ("DB-TIMEOUT-012", "no timeout", PASS, "r0 was answered", asking(100, request("r0", 0, 910), timeout=0)),
    ("DB-TIMEOUT-012", "taken", FAIL, "r0 was refused (expired)", asking(100, request("r0", 0, 300, **LATE), timeout=0)),
    ("DB-TIMEOUT-012", "opened early", ERROR, "VACUOUS", asking(100, request("r0", 0, 60), opened=50, timeout=0)),
    ("DB-TIMEOUT-013", "answered", PASS, "r0 was answered", executed(request("r0", 0, 610), Run("r0", 1, 601))),
    ("DB-TIMEOUT-013", "refused", FAIL, "r0 was refused (expired)",
     executed(request("r0", 0, 310, **LATE), Run("r0", 1, 601))),
    ("DB-TIMEOUT-013", "too short", ERROR, "VACUOUS: r0 was in the model for 100.0 ms",
     executed(request("r0"), Run("r0", 1, 101))),
    ("DB-TIMEOUT-013", "never ran", ERROR, "VACUOUS: r0 was never executed", executed(request("r0", 0, 310, **LATE))),
    ("DB-TIMEOUT-014", "alone", PASS, "served: before, behind", middle(request("mid", 0, 300, **LATE), "before behind")),
    ("DB-TIMEOUT-014", "served", FAIL, "served: before, mid, behind; mid was answered",
     middle(request("mid"), "before mid behind")),
    ("DB-TIMEOUT-014", "takes another", FAIL, "served: behind; before was refused (expired)",
     middle(request("mid", 0, 300, **LATE), "behind", before="expired")),
    ("DB-TIMEOUT-014", "overtaken", FAIL, "served: behind, before",
     middle(request("mid", 0, 300, **LATE), "behind", "before")),
    ("DB-LIMIT-001", "refused", PASS, "1: r0 served, r1 served, r2 refused (full)",
     overfull(*several("r0 r1"), refused("r2"))),
    ("DB-LIMIT-001", "another is refused", PASS, "1: r0 served, r1 refused (full), r2 served",
     overfull(request("r0"), refused("r1"), request("r2"))),
    ("DB-LIMIT-001", "one more", FAIL, "0: r0 served, r1 served, r2 served", overfull(*several("r0 r1 r2"))),
    ("DB-LIMIT-001", "when free", FAIL, "0: r0 served, r1 served, r2 refused (full)",
     overfull(*several("r0 r1"), refused("r2", 401))),
    ("DB-LIMIT-001", "as a failure", FAIL, "r2 refused (failed)", overfull(*several("r0 r1"), refused("r2", kind="failed"))),
    ("DB-LIMIT-001", "hangs", FAIL, "r2 got no answer", overfull(*several("r0 r1"), lost("r2"))),
    ("DB-LIMIT-001", "not full", ERROR, "VACUOUS", overfull(*several("r0 r1"))),
    ("DB-LIMIT-002", "never ran", PASS, "executed: r0, r1",
     overfull(*several("r0 r1"), refused("r2"), LATER, runs=(Run("r0 r1"), Run("later")))),
    ("DB-LIMIT-002", "refused and run", FAIL, "executed: r0, r2",
     overfull(request("r0"), lost("r1"), refused("r2"), LATER, runs=(Run("r0 r2"),))),
    ("DB-LIMIT-002", "one more", FAIL, "executed: r0, r1, r2",
     overfull(*several("r0 r1 r2"), LATER, runs=(Run("r0 r1 r2"),))),
    ("DB-LIMIT-002", "log behind", INCONCLUSIVE, "the log may be behind: later got no answer",
     overfull(*several("r0 r1"), refused("r2"), lost("later"), runs=(Run("r0 r1"),))),
    ("DB-LIMIT-002", "hang", ERROR, "VACUOUS", overfull(*several("r0 r1"), lost("r2"), LATER, runs=(Run("r0 r1"),))),
    ("DB-LIMIT-003", "served", PASS, "r0 served, r1 served", overfull(*several("r0 r1"))),
    ("DB-LIMIT-003", "refused", FAIL, "r1 refused (full)", overfull(request("r0"), refused("r1"))),
    ("DB-LIMIT-004", "served", PASS, "again0 served", overfull(request("r0"), refused("r1"), request("again0"), limit=1)),
    ("DB-LIMIT-004", "for good", FAIL, "again0 refused (full)",
     overfull(request("r0"), refused("r1"), refused("again0"), limit=1)),
    ("DB-LIMIT-004", "never full", ERROR, "VACUOUS", overfull(*several("r0 r1 again0"), limit=1)),
    ("DB-LIMIT-005", "served", PASS, "r0 served, r1 served", overfull(*several("r0 r1", rows=3))),
    ("DB-LIMIT-005", "rows", FAIL, "r1 refused (full)", overfull(request("r0", rows=3), refused("r1", rows=3))),
    ("DB-LIMIT-005", "single rows", ERROR, "VACUOUS", overfull(*several("r0 r1"))),
    ("DB-LIMIT-006", "each", PASS, "level 1 served 1; level 2 served 1", levels("", "", "full", "full")),
    ("DB-LIMIT-006", "together", FAIL, "level 1 served 1; level 2 served 0", levels("", "full", "full", "full")),
    ("DB-LIMIT-006", "none", FAIL, "level 1 served 2; level 2 served 2", levels("", "", "", "")),
    ("DB-LIMIT-007", "refused", PASS, "r2 refused (full)", idle(*several("r0 r1"), refused("r2"))),
    ("DB-LIMIT-007", "no limit", FAIL, "r2 served", idle(*several("r0 r1 r2"))),
    ("DB-LIMIT-007", "too small", FAIL, "r1 refused (full)", idle(request("r0"), refused("r1"), refused("r2"))),
    ("DB-LIMIT-007", "sent late", INCONCLUSIVE, "r2 served", idle(*several("r0 r1"), request("r2", 900, 1200))),
    ("DB-LIMIT-008", "own", PASS, "u0 served, l0 refused (expired), l1 refused (full)", own_policy("", "expired", "full")),
    ("DB-LIMIT-008", "default", FAIL, "l0 served, l1 served", own_policy("", "", "")),
    ("DB-LIMIT-008", "of all", FAIL, "u0 refused (expired)", own_policy("expired", "expired", "full")),
    ("DB-LIMIT-008", "sent late", INCONCLUSIVE, "l1 refused (expired)", own_policy("", "expired", "expired", late=290)),
    ("DB-CANCEL-001", "never ran", PASS, "executed: none", taken_back("r0 r1", "r1", "r0 after")),
    ("DB-CANCEL-001", "ran", FAIL, "executed: r1", taken_back("r0 r1", "r1", "r0 r1 after")),
    ("DB-CANCEL-001", "stalled", INCONCLUSIVE, "executed: r1", taken_back("r0 r1", "r1", "r0 r1 after", stall=150)),
    ("DB-CANCEL-001", "log behind", INCONCLUSIVE, "the log may be behind: after got no answer",
     taken_back("r0 r1", "r1", after=lost("after"))),
    ("DB-CANCEL-002", "never ran", PASS, "executed: none", taken_back("r0 r1", "r1", "r0 after")),
    ("DB-CANCEL-002", "ran", FAIL, "executed: r1", taken_back("r0 r1", "r1", "r0 r1 after")),
    ("DB-CANCEL-003", "closed up", PASS, "batches (r0, r2, r3, r4)",
     taken_back("r0 r1 r2 r3 r4", "r1", "r0 r2 r3 r4", "after")),
    ("DB-CANCEL-003", "together with the last", PASS, "batches (r0, r2)", taken_back("r0 r1 r2", "r1", "r0 r2 after")),
    ("DB-CANCEL-003", "keeps its place", FAIL, "batches (r0, r2, r3) (r4)",
     taken_back("r0 r1 r2 r3 r4", "r1", "r0 r2 r3", "r4 after")),
    ("DB-CANCEL-003", "takes another", FAIL, "batches (r0, r3)", taken_back("r0 r1 r2 r3", "r1", "r0 r3 after")),
    ("DB-CANCEL-003", "nobody", FAIL, "no batch", taken_back("r0 r1", "r1")),
    ("DB-CANCEL-003", "stalled", INCONCLUSIVE, "batches (r0, r1, r2)", taken_back("r0 r1 r2", "r1", "r0 r1 r2", stall=150)),
    ("DB-CANCEL-004", "unharmed", PASS, "r0 served, r2 served", taken_back("r0 r1 r2", "r1", "r0 r1 r2")),
    ("DB-CANCEL-004", "failed", FAIL, "r0 refused (failed)",
     happened(request("r0", **BOOM), request("r1", **GONE), marks={"cancel:r1": 50}, runs=(Run("r0 r1"),))),
    ("DB-CANCEL-004", "apart", ERROR, "VACUOUS", taken_back("r0 r1", "r1", "r0", "r1")),
    ("DB-CANCEL-005", "free", PASS, "newcomer served", crowded(request("newcomer", 450, 510))),
    ("DB-CANCEL-005", "taken", FAIL, "newcomer refused (full), 400.0 ms after",
     crowded(request("newcomer", 450, 451, **FULL))),
    ("DB-CANCEL-005", "stalled", INCONCLUSIVE, "newcomer refused (full)",
     crowded(request("newcomer", 450, 451, **FULL), stall=150)),
    ("DB-CANCEL-005", "never full", ERROR, "VACUOUS", crowded(request("newcomer", 450, 510), names="r0 r1")),
    ("DB-CANCEL-006", "told", PASS, "r1 refused (cancelled)", taken_back("r0 r1", "r1")),
    ("DB-CANCEL-006", "hangs", FAIL, "r1 got no answer", happened(lost("r1"), marks={"cancel:r1": 50})),
    ("DB-CANCEL-006", "served", FAIL, "r1 served", happened(request("r1"), marks={"cancel:r1": 50})),
    ("DB-CANCEL-007", "counted", PASS, "1 cancelled and 2 successes", counted(cancelled=1, success=2)),
    ("DB-CANCEL-007", "as a success", FAIL, "0 cancelled and 3 successes", counted(cancelled=0, success=3)),
    ("DB-CANCEL-007", "not at all", FAIL, "0 cancelled and 2 successes", counted(cancelled=0, success=2)),
    ("DB-CANCEL-007", "stalled", INCONCLUSIVE, "0 cancelled", counted(stall=150, cancelled=0, success=3)),
    ("DB-CANCEL-007", "unsaid", ERROR, "VACUOUS", counted(success=2)),
    ("DB-CANCEL-008", "nothing", PASS, "r0 served, r1 served; counted as cancelled: 0",
     too_late(request("r1"), cancelled=0)),
    ("DB-CANCEL-008", "uncounted", PASS, "r0 served, r1 served", too_late(request("r1"))),
    ("DB-CANCEL-008", "counted", FAIL, "counted as cancelled: 1", too_late(request("r1"), cancelled=1)),
    ("DB-CANCEL-008", "hits the next", FAIL, "r1 got no answer", too_late(lost("r1"))),
    ("DB-CANCEL-008", "in time", ERROR, "VACUOUS", too_late(request("r1"), back=30)),
    ("DB-ERROR-001", "unavailable", PASS, "r1 UNAVAILABLE (full): full", happened(request("r0"), refused("r1"))),
    ("DB-ERROR-001", "internal", FAIL, "r1 INTERNAL (full)", happened(request("r0"), refused("r1", status="INTERNAL"))),
    ("DB-ERROR-001", "none", FAIL, "r1 without a status", happened(request("r0"), refused("r1", status=""))),
    ("DB-ERROR-001", "served", ERROR, "VACUOUS", happened(*several("r0 r1"))),
    ("DB-ERROR-002", "unavailable", PASS, "r0 UNAVAILABLE (expired): late", happened(request("r0", **LATE))),
    ("DB-ERROR-002", "deadline", FAIL, "r0 DEADLINE_EXCEEDED (expired)",
     happened(request("r0", **{**LATE, "status": "DEADLINE_EXCEEDED"}))),
    ("DB-ERROR-002", "served", ERROR, "VACUOUS: r0 was answered", happened(request("r0"))),
    ("DB-ERROR-003", "invalid", PASS, "big INVALID_ARGUMENT (invalid): at most 4",
     happened(request("big", kind="invalid", status="INVALID_ARGUMENT", message="at most 4"))),
    ("DB-ERROR-003", "internal", FAIL, "big INTERNAL (invalid)",
     happened(request("big", kind="invalid", status="INTERNAL"))),
    ("DB-ERROR-003", "served", ERROR, "VACUOUS: big was answered", happened(request("big"))),
    ("DB-ERROR-004", "internal", PASS, f"RuntimeError: {FAILURE}",
     happened(*several("r0 r1", **BOOM), runs=(Run("r0 r1"),))),
    ("DB-ERROR-004", "unsaid", FAIL, "r0 INTERNAL (failed): failed",
     happened(request("r0", **{**BOOM, "message": "failed"}), runs=(Run("r0"),))),
    ("DB-ERROR-004", "unavailable", FAIL, "r1 UNAVAILABLE",
     happened(request("r0", **BOOM), request("r1", **{**BOOM, "status": "UNAVAILABLE"}), runs=(Run("r0 r1"),))),
    ("DB-ERROR-004", "served", FAIL, "r1 was answered",
     happened(request("r0", **BOOM), request("r1"), runs=(Run("r0 r1"),))),
    ("DB-ERROR-004", "never ran", ERROR, "VACUOUS", happened(request("r0", **BOOM))),
    ("DB-ERROR-005", "not found", PASS, "late NOT_FOUND (closed)",
     happened(request("late", kind="closed", status="NOT_FOUND"))),
    ("DB-ERROR-005", "internal", FAIL, "late INTERNAL", happened(request("late", kind="closed", status="INTERNAL"))),
    ("DB-ERROR-005", "hangs", FAIL, "late got no answer", happened(lost("late"))),
    ("DB-ERROR-005", "served", FAIL, "late was answered", happened(request("late"))),
    ("DB-ERROR-006", "told apart", PASS, "r0 UNAVAILABLE (expired): late; r1 UNAVAILABLE (full): full",
     happened(request("r0", **LATE), refused("r1"))),
    ("DB-ERROR-006", "one message", FAIL, "r0 UNAVAILABLE (expired): full",
     happened(request("r0", **{**LATE, "message": "full"}), refused("r1"))),
    ("DB-ERROR-006", "one kind", FAIL, "r0 UNAVAILABLE (full): late",
     happened(request("r0", **{**LATE, "kind": "full"}), refused("r1"))),
    ("DB-CANCEL-009", "in time", PASS, "105.0 ms", after_gone(105, {"cancel:gone": 10}, "cancelled")),
    ("DB-CANCEL-009", "late", FAIL, "430.0 ms", after_gone(430, {"cancel:gone": 10}, "cancelled")),
    ("DB-CANCEL-009", "stalled", INCONCLUSIVE, "240.0 ms", after_gone(240, {"cancel:gone": 10}, "cancelled", stalled=True)),
    ("DB-CANCEL-009", "executed", ERROR, "VACUOUS",
     after_gone(105, {"cancel:gone": 10}, "cancelled", Run("gone", 100, 101))),
    ("DB-TIMEOUT-015", "in time", PASS, "105.0 ms", after_gone(105, {}, "expired")),
    ("DB-TIMEOUT-015", "late", FAIL, "480.0 ms", after_gone(480, {}, "expired")),
    ("DB-TIMEOUT-015", "stalled", INCONCLUSIVE, "240.0 ms", after_gone(240, {}, "expired", stalled=True)),
    ("DB-TIMEOUT-015", "not expired", ERROR, "VACUOUS", after_gone(105, {}, "failed")),
]
