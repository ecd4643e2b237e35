"""Cases of preferred batch sizes, of ordering across instances and of priorities."""

from __future__ import annotations

from typing import Any

from batchproof.fixtures.script import HOUR, MS
from batchproof.fixtures.timeline import Timeline
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

TWO, SIX = request("two", 0, 2, rows=2), request("six", 4, 5, rows=6)
LAST = request("last", 600, 610, rows=6)
FAILED = {"kind": "failed", "message": "boom"}


def sized(
    *requests: dict[str, Any], runs: tuple[Run, ...] = (), preferred: tuple[int, ...] = (2, 6), **more: Any
) -> Timeline:
    """What happened with these preferred sizes and a delay of an hour."""
    return happened(*requests, runs=runs, config={"preferred_batch_size": list(preferred)},
                    **{"size": 8, "delay": HOUR / MS, **more})


def backlog(*batches: str, preferred: tuple[int, ...] = (2, 6), rows: int = 1, delay: float = HOUR / MS) -> Timeline:
    """A plug, then these batches of requests, which were queued in the order of their names, then `last`."""
    queued = [request(name, rows=rows) for name in sorted(" ".join(batches).split())]
    runs = (Run("plug"), *(Run(names, 500 + i) for i, names in enumerate(batches)), Run("last", 600))
    return sized(request("plug", rows=6), *queued, LAST, runs=runs, preferred=preferred, delay=delay)


def growing(*runs: Run, r0: float = 8, opened: float = 10) -> Timeline:
    """`r0` of 3 rows, `r1` of 4, and `last` of 2 rows, sent at `opened`."""
    requests = request("r0", 0, r0, rows=3), request("r1", 5, 20, rows=4), request("last", opened, 20, rows=2)
    return sized(*requests, runs=runs)


def late(*runs: Run, opened: float = 400) -> Timeline:
    """Requests of 3, 4 and 1 rows behind a gate that opened at `opened`; the delay is 200 ms."""
    queued = (request(f"r{i}", 10 * i, 500, rows=rows) for i, rows in enumerate((3, 4, 1)))
    return sized(request("plug", rows=6), *queued, runs=(Run("plug"), *runs), delay=200, marks={"release:gate": opened})


def overtaken(*fast: dict[str, Any], slow: dict[str, Any] | None = None) -> Timeline:
    """`slow` was held for 300 ms while these ran."""
    return happened(slow or request("slow", 0, 310), *fast, marks={"release:gate": 300}, config={"instances": 2})


def queued(levels: str, *batches: str) -> Timeline:
    """Requests `name:level` as they were queued, and the batches in which they were served."""
    pairs = [one.split(":") for one in levels.split()]
    requests = [request(name, priority=int(level)) for name, level in pairs]
    served = {name for names in batches for name in names.split()}
    requests = [one if one["name"] in served else {**one, "answered_ns": None} for one in requests]
    runs = (Run("plug"), *(Run(names, 10 + i) for i, names in enumerate(batches)))
    return happened(request("plug"), *requests, runs=runs,
                    config={"priority_levels": 3, "default_priority_level": 2})


MIXED = "r0:3 r1:2 r2:1 r3:1 r4:3"
NONES = "r0:3 none0:0 r1:2 none1:0 r2:1"
BEYOND = "r0:3 beyond0:4 r1:2 beyond1:99 r2:1"
FOUR = "r0:3 r1:1 r2:2 r3:3"
STREAM = "low:3 r0:1 r1:1 r2:1 r3:1 r4:1"
UNORDERED = "r0:3 r1:0 r2:1"

CASES: Cases = [
    ("DB-ORDER-003", "in order", PASS, "all after it", overtaken(request("f0", 10, 311), request("f1", 20, 300))),
    ("DB-ORDER-003", "overtaken", FAIL, "f1 was answered 280.0 ms before",
     overtaken(request("f0", 10, 311), request("f1", 15, 20))),
    ("DB-ORDER-003", "hangs", FAIL, "no answer: f1", overtaken(request("f0", 10, 311), lost("f1"))),
    ("DB-ORDER-004", "in order", PASS, "slow failed, f0 answered, f1 failed",
     overtaken(request("f0", 10, 312), request("f1", 20, 313, fail=True, **FAILED),
               slow=request("slow", 0, 310, fail=True, **FAILED))),
    ("DB-ORDER-004", "error overtakes", FAIL, "f1 was refused (failed) 279.0 ms before",
     overtaken(request("f0", 10, 312), request("f1", 20, 21, fail=True, **FAILED),
               slow=request("slow", 0, 310, fail=True, **FAILED))),
    ("DB-ORDER-004", "hangs", FAIL, "no answer: f0", overtaken(lost("f0"), slow=request("slow", fail=True, **FAILED))),
    ("DB-ORDER-004", "shifted", FAIL, "slow answered, f0 failed",
     overtaken(request("f0", 10, 312, **FAILED), slow=request("slow", 0, 310, fail=True))),
    ("DB-ORDER-005", "faster", PASS, "f0 was answered 280.0 ms before", overtaken(request("f0", 10, 20))),
    ("DB-ORDER-005", "held back", FAIL, "f0 was answered 11.0 ms after", overtaken(request("f0", 10, 311))),
    ("DB-ORDER-005", "refused", FAIL, "f0 was refused (failed)", overtaken(request("f0", 10, 20, **FAILED))),
    ("DB-ORDER-005", "hangs", FAIL, "f0 got no answer", overtaken(lost("f0"))),
    ("DB-ORDER-006", "own", PASS, "2 right", happened(*several("r0 r1"), runs=(Run("r0"), Run("r1")))),
    ("DB-ORDER-006", "swapped", FAIL, "not their own: r1", happened(request("r0"), request("r1", echoed=False))),
    ("DB-ORDER-006", "hangs", FAIL, "not: r1", happened(request("r0"), lost("r1"))),
    ("DB-ORDER-006", "refused", FAIL, "not: r1", happened(request("r0"), request("r1", kind="full"))),
    ("DB-PREF-001", "at once", PASS, "all answered", sized(TWO, SIX, request("r0", 10, 11), request("r1", 10, 11))),
    ("DB-PREF-001", "waits for more", FAIL, "two waited for six",
     sized(request("two", 0, 5, rows=2), SIX, request("r0", 10, 11), request("r1", 10, 11))),
    ("DB-PREF-001", "hangs", FAIL, "without an answer: r0, r1", sized(TWO, SIX, lost("r0", 10), lost("r1", 10))),
    ("DB-PREF-002", "largest", PASS, "batches of [6, 1]", backlog("r0 r1 r2 r3 r4 r5", "r6")),
    ("DB-PREF-002", "rest with last", PASS, "batches of [6, 1]",
     sized(*several("r0 r1 r2 r3 r4 r5 r6"), LAST, runs=(Run("r0 r1 r2 r3 r4 r5"), Run("r6 last", 600)))),
    ("DB-PREF-002", "smallest", FAIL, "batches of [2, 2, 2, 1]", backlog("r0 r1", "r2 r3", "r4 r5", "r6")),
    ("DB-PREF-002", "all", FAIL, "batches of [7]", backlog("r0 r1 r2 r3 r4 r5 r6")),
    ("DB-PREF-003", "together", PASS, "batches (r0, r1)",
     sized(request("r0"), request("r1", rows=3), runs=(Run("r0 r1", 200),), delay=200)),
    ("DB-PREF-003", "hangs", FAIL, "no batch", sized(lost("r0"), lost("r1", rows=3), delay=200)),
    ("DB-PREF-003", "sent late", INCONCLUSIVE, "batches (r0) (r1)",
     sized(request("r0", 0), request("r1", 150, rows=3), runs=(Run("r0", 200), Run("r1", 350)), delay=200)),
    ("DB-PREF-004", "as it is", PASS, "batches (r0) (r1, last)", growing(Run("r0", 5), Run("r1 last", 15))),
    ("DB-PREF-004", "beyond", FAIL, "batches (r0, r1) (last)", growing(Run("r0 r1", 5), Run("last", 15))),
    ("DB-PREF-004", "both at once", FAIL, "batches (r0) (r1) (last)", growing(Run("r0", 5), Run("r1", 6), Run("last", 15))),
    ("DB-PREF-004", "waits for last", FAIL, "r0 was not answered before last was sent",
     growing(Run("r0", 15), Run("r1 last", 15), r0=20)),
    ("DB-PREF-005", "closed", PASS, "batches of [4, 1]", backlog("r0 r1 r2 r3", "r4", preferred=(4,))),
    ("DB-PREF-005", "one more", FAIL, "batches of [5]", backlog("r0 r1 r2 r3 r4", preferred=(4,))),
    ("DB-PREF-006", "closed", PASS, "batches of [4, 2]", backlog("r0 r1 r2 r3", "r4 r5", preferred=(4,))),
    ("DB-PREF-006", "one more", FAIL, "batches of [5, 1]", backlog("r0 r1 r2 r3 r4", "r5", preferred=(4,))),
    ("DB-PREF-007", "all", PASS, "of [8] rows", late(Run("r0 r1 r2", 400))),
    ("DB-PREF-007", "a part", FAIL, "batches (r0) (r1, r2) of [3, 5] rows", late(Run("r0", 400), Run("r1 r2", 401))),
    ("DB-PREF-007", "hangs", FAIL, "no batch", late()),
    ("DB-PREF-007", "in time", ERROR, "VACUOUS", late(Run("r0", 150), Run("r1 r2", 401), opened=150)),
    ("DB-PREF-008", "all", PASS, "batches of [3]", backlog("r0 r1 r2", preferred=(4, 6), delay=0)),
    ("DB-PREF-008", "one by one", FAIL, "batches of [1, 1, 1]", backlog("r0", "r1", "r2", preferred=(4, 6), delay=0)),
    ("DB-PREF-009", "largest", PASS, "batches of [6, 1]", backlog("r0 r1 r2 r3 r4 r5", "r6", preferred=(4, 6), delay=0)),
    ("DB-PREF-009", "not larger", PASS, "batches of [4, 1]", backlog("r0 r1 r2 r3", "r4", preferred=(4, 6), delay=0)),
    ("DB-PREF-009", "all", FAIL, "batches of [5]", backlog("r0 r1 r2 r3 r4", preferred=(4, 6), delay=0)),
    ("DB-PREF-013", "largest", PASS, "batches of [6, 1]", backlog("r0 r1 r2 r3 r4 r5", "r6", delay=0)),
    ("DB-PREF-013", "smallest", FAIL, "batches of [2, 2, 2, 1]", backlog("r0 r1", "r2 r3", "r4 r5", "r6", delay=0)),
    ("DB-PREF-010", "rows", PASS, "batches of [6]", backlog("r0 r1 r2", rows=2)),
    ("DB-PREF-010", "requests", FAIL, "batches of [4, 2]", backlog("r0 r1", "r2", rows=2)),
    ("DB-PREF-011", "waits", PASS, "199.0 ms", sized(request("r0", rows=3), runs=(Run("r0", 199),), delay=200)),
    ("DB-PREF-011", "at once", FAIL, "0.0 ms", sized(request("r0", rows=3), runs=(Run("r0", 0),), delay=200)),
    ("DB-PREF-011", "hangs", ERROR, "VACUOUS", sized(lost("r0", rows=3), delay=200)),
    ("DB-PREF-012", "at once", PASS, "all answered",
     sized(request("r0", 0, 1, rows=7), request("r1", 3, 5, rows=3), request("r2", 4, 5, rows=7))),
    ("DB-PREF-012", "waits", FAIL, "r0 waited for r1",
     sized(request("r0", 0, 3, rows=7), request("r1", 3, 5, rows=3), request("r2", 4, 5, rows=7))),
    ("DB-PREF-012", "hangs", FAIL, "without an answer: r2",
     sized(request("r0", 0, 1, rows=7), request("r1", 3, 5, rows=3), lost("r2", 4, rows=7))),
    ("DB-PRIO-001", "by level", PASS, "levels 1 1 2 3 3", queued(MIXED, "r3 r2 r1 r0", "r4")),
    ("DB-PRIO-001", "as queued", FAIL, "levels 3 2 1 1 3", queued(MIXED, "r0 r1 r2 r3", "r4")),
    ("DB-PRIO-001", "hangs", FAIL, "levels 1 1 2 3", queued(MIXED, "r2 r3 r1 r0")),
    ("DB-PRIO-002", "as queued", PASS, "level 3: r0 r4", queued(MIXED, "r2 r3 r1 r0", "r4")),
    ("DB-PRIO-002", "last first", FAIL, "level 1: r3 r2", queued(MIXED, "r3 r2 r1 r0", "r4")),
    ("DB-PRIO-002", "hangs", FAIL, "level 3: r0", queued(MIXED, "r2 r3 r1 r0")),
    ("DB-PRIO-003", "default", PASS, "r2 none0 r1 none1 r0", queued(NONES, "r2 none0 r1 none1", "r0")),
    ("DB-PRIO-003", "urgent", FAIL, "none0 none1 r2 r1 r0", queued(NONES, "none0 none1 r2 r1", "r0")),
    ("DB-PRIO-003", "last", FAIL, "r2 r1 r0 none0 none1", queued(NONES, "r2 r1 r0 none0", "none1")),
    ("DB-PRIO-004", "default", PASS, "r2 beyond0 r1 beyond1 r0", queued(BEYOND, "r2 beyond0 r1 beyond1", "r0")),
    ("DB-PRIO-004", "last level", FAIL, "r2 r1 r0 beyond0 beyond1", queued(BEYOND, "r2 r1 r0 beyond0", "beyond1")),
    ("DB-PRIO-004", "refused", FAIL, "r2 r1 r0", queued(BEYOND, "r2 r1 r0")),
    ("DB-PRIO-005", "together", PASS, "batches (r1, r2, r0, r3)", queued(FOUR, "r1 r2 r0 r3")),
    ("DB-PRIO-005", "a level each", FAIL, "batches (r1) (r2) (r0, r3)", queued(FOUR, "r1", "r2", "r0 r3")),
    ("DB-PRIO-005", "hangs", FAIL, "no batch", queued(FOUR)),
    ("DB-PRIO-006", "overtakes", PASS, "it holds urgent, r0, r1",
     happened(*several("r0 r1 r2 urgent"), runs=(Run("urgent r0 r1"), Run("r2", 5)))),
    ("DB-PRIO-006", "behind", FAIL, "it holds r0, r1, r2",
     happened(*several("r0 r1 r2 urgent"), runs=(Run("r0 r1 r2"), Run("urgent", 5)))),
    ("DB-PRIO-006", "hangs", FAIL, "no batch", happened(lost("r0"), lost("urgent"))),
    ("DB-PRIO-007", "all", PASS, "all are", queued(MIXED, "r2 r3 r1 r0", "r4")),
    ("DB-PRIO-007", "forgotten", FAIL, "without an answer: r4 (level 3)", queued(MIXED, "r2 r3 r1 r0")),
    ("DB-PRIO-008", "as queued", PASS, "r0 r1 r2", queued(UNORDERED, "r0 r1 r2")),
    ("DB-PRIO-008", "by number", FAIL, "r1 r2 r0", queued(UNORDERED, "r1 r2 r0")),
    ("DB-PRIO-009", "last", PASS, "after 5", queued(STREAM, "r0 r1 r2 r3", "r4 low")),
    ("DB-PRIO-009", "fills a place", FAIL, "after 3", queued(STREAM, "r0 r1 r2 low", "r3 r4")),
    ("DB-PRIO-009", "hangs", FAIL, "low never ran", queued(STREAM, "r0 r1 r2 r3", "r4")),
]
