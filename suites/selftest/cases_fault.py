"""Cases of what a server owes when something breaks."""

from __future__ import annotations

from batchproof.suites.selftest.timelines import ERROR, FAIL, PASS, Cases, Run, happened, lost, request

PAUSED = {"pause": 100, "resume": 3100}
KILLED = {"entered:r0": 10, "kill": 100}
GONE = {"kind": "other", "message": "the process is gone"}

CASES: Cases = [
    ("DB-FAULT-001", "settled", PASS, "r0 answered, r1 failed",
     happened(request("r0", 0, 3200), request("r1", 0, 3200, kind="failed"), runs=(Run("r0"),), marks=PAUSED)),
    ("DB-FAULT-001", "forgotten", FAIL, "neither: r1", happened(request("r0", 0, 3200), lost("r1"), marks=PAUSED)),
    ("DB-FAULT-001", "cut off", FAIL, "neither: r0", happened(request("r0", 0, 3200, kind="lost"), marks=PAUSED)),
    ("DB-FAULT-001", "over before", ERROR, "VACUOUS", happened(request("r0", 0, 50), marks=PAUSED)),
    ("DB-FAULT-002", "serves", PASS, "after: answered", happened(request("after"), marks=PAUSED)),
    ("DB-FAULT-002", "refuses", FAIL, "after: other: the process is gone", happened(request("after", **GONE), marks=PAUSED)),
    ("DB-FAULT-002", "hangs", FAIL, "after: no answer", happened(lost("after"), marks=PAUSED)),
    ("DB-FAULT-003", "settled", PASS, "r0 other, r1 answered", happened(request("r0", **GONE), request("r1"), marks=KILLED)),
    ("DB-FAULT-003", "hangs", FAIL, "neither: r0", happened(lost("r0"), request("r1"), marks=KILLED)),
    ("DB-FAULT-003", "not in the model", ERROR, "VACUOUS", happened(request("r0", **GONE), marks={"kill": 100})),
    ("DB-FAULT-004", "refuses", PASS, "after other", happened(request("after", **GONE), marks=KILLED)),
    ("DB-FAULT-004", "hangs", FAIL, "neither: after", happened(lost("after"), marks=KILLED)),
    ("DB-FAULT-005", "serves", PASS, "after: answered", happened(request("after"), marks=KILLED)),
    ("DB-FAULT-005", "refuses", FAIL, "after: other", happened(request("after", **GONE), marks=KILLED)),
]
