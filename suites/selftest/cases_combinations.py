"""Cases of the laws that hold in every combination."""

from __future__ import annotations

from typing import Any

from batchproof.suites.selftest.timelines import ERROR, FAIL, INCONCLUSIVE, PASS, Cases, Run, happened, lost, request

ONE = (Run("r0", 0, 10),)
CACHED: dict[str, Any] = {"config": {"response_cache": True}}
SHAPED: dict[str, Any] = {"config": {"inputs": [
    {"name": "EXTRA", "data_type": "TYPE_INT64", "dims": [-1], "optional": False, "ragged": False}]}}
RAGGED: dict[str, Any] = {"config": {"inputs": [
    {"name": "EXTRA", "data_type": "TYPE_INT64", "dims": [-1], "optional": False, "ragged": True}]}}
COUNTED = {"execution_count": 1, "inference_count": 2, "success": 2, "batches": {"2": 1}}
TWO = (Run("r0 r1", 0, 10),)
NOT_OBSERVABLE = type(PASS).NOT_OBSERVABLE
LATE = {"kind": "expired"}

CASES: Cases = [
    ("DB-LAW-001", "once", PASS, "1 requests, as it should be", happened(request("r0"), runs=ONE)),
    ("DB-LAW-001", "twice", FAIL, "r0 2 times (answered)", happened(request("r0"), runs=(*ONE, Run("r0", 20, 30)))),
    ("DB-LAW-001", "never", FAIL, "r0 0 times (answered)", happened(request("r0"))),
    ("DB-LAW-001", "refused and run", FAIL, "r0 1 times (full)", happened(request("r0", kind="full"), runs=ONE)),
    ("DB-LAW-001", "failed", PASS, "as it should be", happened(request("r0", kind="failed"), runs=ONE)),
    ("DB-LAW-001", "failed unseen", FAIL, "r0 0 times (failed)", happened(request("r0", kind="failed"))),
    ("DB-LAW-001", "cancelled and run", PASS, "as it should be", happened(request("r0", kind="cancelled"), runs=ONE)),
    ("DB-LAW-001", "twins", PASS, "2 requests",
     happened(request("r0", serial=1), request("r1", serial=1), runs=ONE, **CACHED)),
    ("DB-LAW-001", "twins without a cache", FAIL, "r0/r1 1 times (answered, answered)",
     happened(request("r0", serial=1), request("r1", serial=1), runs=ONE)),
    ("DB-LAW-001", "nothing", ERROR, "VACUOUS", happened()),
    ("DB-LAW-002", "within", PASS, "a batch of 2 rows (r0, r1)", happened(request("r0"), request("r1"), runs=TWO)),
    ("DB-LAW-002", "beyond", FAIL, "a batch of 5 rows (r0)", happened(request("r0", rows=5), runs=ONE)),
    ("DB-LAW-002", "nothing", ERROR, "VACUOUS", happened(request("r0"))),
    ("DB-LAW-003", "own", PASS, "1 right", happened(request("r0"), runs=ONE)),
    ("DB-LAW-003", "another's", FAIL, "not their own: r0", happened(request("r0", echoed=False), runs=ONE)),
    ("DB-LAW-003", "another's tensor", FAIL, "not their own: r1",
     happened(request("r0"), request("r1", kind="failed", message="the second tensor of [2] is not their own"), runs=TWO)),
    ("DB-LAW-003", "all refused", PASS, "0 right", happened(request("r0", kind="expired"))),
    ("DB-LAW-003", "no answer", ERROR, "VACUOUS", happened(lost("r0"))),
    ("DB-LAW-004", "answered", PASS, "1 answered", happened(request("r0"), runs=ONE)),
    ("DB-LAW-004", "hangs", FAIL, "r0 got no answer", happened(lost("r0"))),
    ("DB-LAW-004", "oversize served", FAIL, "r0 was answered with 5 rows", happened(request("r0", rows=5), runs=ONE)),
    ("DB-LAW-004", "oversize", PASS, "1 invalid", happened(request("r0", kind="invalid", rows=5))),
    ("DB-LAW-004", "invalid", FAIL, "r0 was refused as invalid: no", happened(request("r0", kind="invalid", message="no"))),
    ("DB-LAW-004", "lacks an input", PASS, "1 invalid", happened(request("r0", kind="invalid"), **SHAPED)),
    ("DB-LAW-004", "full", PASS, "1 full", happened(request("r0", kind="full"), config={"max_queue_size": 1})),
    ("DB-LAW-004", "full without a limit", FAIL, "no queue size is set", happened(request("r0", kind="full"))),
    ("DB-LAW-004", "expired", PASS, "1 expired", happened(request("r0", 0, 301, **LATE), timeout=300)),
    ("DB-LAW-004", "too early", FAIL, "expired after 200.0 ms", happened(request("r0", 0, 200, **LATE), timeout=300)),
    ("DB-LAW-004", "never expires", FAIL, "nothing makes it expire", happened(request("r0", 0, 301, **LATE))),
    ("DB-LAW-004", "delayed", FAIL, "nothing makes it expire",
     happened(request("r0", 0, 301, **LATE), timeout=300, config={"timeout_action": "DELAY"})),
    ("DB-LAW-004", "cancelled", PASS, "1 cancelled", happened(request("r0", kind="cancelled"), marks={"cancel:r0": 1})),
    ("DB-LAW-004", "by nobody", FAIL, "r0 was cancelled by nobody", happened(request("r0", kind="cancelled"))),
    ("DB-LAW-004", "failed", PASS, "1 failed", happened(request("r0", kind="failed", fail=True), runs=ONE)),
    ("DB-LAW-004", "for no reason", FAIL, "r0 failed for no reason: boom",
     happened(request("r0", kind="failed", message="boom"), runs=ONE)),
    ("DB-LAW-004", "in other words", FAIL, "r0 ended as 'lost'", happened(request("r0", kind="lost"))),
    ("DB-LAW-005", "at once", PASS, "5.0 ms", happened(request("r0"), runs=(Run("r0", 5, 15),))),
    ("DB-LAW-005", "within the delay", PASS, "5.0 ms", happened(request("r0"), runs=(Run("r0", 305, 315),), delay=300)),
    ("DB-LAW-005", "behind another", PASS, "0.0 ms",
     happened(request("r0"), request("r1"), runs=(Run("r0", 0, 400), Run("r1", 400, 410)))),
    ("DB-LAW-005", "idle", FAIL, "400.0 ms",
     happened(request("r0"), request("r1"), runs=(Run("r0", 0, 10), Run("r1", 410, 420)))),
    ("DB-LAW-005", "one of two idle", FAIL, "400.0 ms",
     happened(request("r0"), request("r1"), runs=(Run("r0", 0, 400), Run("r1", 400, 410)), config={"instances": 2})),
    ("DB-LAW-005", "stalled", INCONCLUSIVE, "200.0 ms",
     happened(request("r0"), runs=(Run("r0", 200, 210),), stalled=True)),
    ("DB-LAW-005", "other clock", NOT_OBSERVABLE, "", happened(request("r0"), runs=ONE, same_clock=False)),
    ("DB-LAW-005", "nothing", ERROR, "VACUOUS", happened(request("r0"))),
    ("DB-LAW-006", "at once", PASS, "5.0 ms", happened(request("r0"), runs=(Run("r0", 5, 15),), timeout=3000)),
    ("DB-LAW-006", "next sweep", FAIL, "490.0 ms",
     happened(request("r0"), request("r1", 20), runs=(Run("r0", 0, 10), Run("r1", 510, 520)), timeout=3000)),
    ("DB-LAW-006", "stalled", INCONCLUSIVE, "200.0 ms",
     happened(request("r0"), runs=(Run("r0", 200, 210),), timeout=3000, stalled=True)),
    ("DB-LAW-007", "agree", PASS, "1 executions, 2 answers",
     happened(request("r0"), request("r1"), runs=TWO, statistics=COUNTED)),
    ("DB-LAW-007", "fewer keys", PASS, "1 executions",
     happened(request("r0"), request("r1"), runs=TWO, statistics={"success": 2})),
    ("DB-LAW-007", "one more", FAIL, "execution_count: the server counts 2, it was 1",
     happened(request("r0"), request("r1"), runs=TWO, statistics={**COUNTED, "execution_count": 2})),
    ("DB-LAW-007", "other sizes", FAIL, "batches: the server counts {'1': 2}",
     happened(request("r0"), request("r1"), runs=TWO, statistics={**COUNTED, "batches": {"1": 2}})),
    ("DB-LAW-007", "cancelled late", PASS, "1 answers",
     happened(request("r0"), request("r1", kind="cancelled"), runs=TWO, statistics=COUNTED)),
    ("DB-LAW-007", "not counted", NOT_OBSERVABLE, "", happened(request("r0"), runs=ONE)),
    ("DB-LAW-008", "alike", PASS, "1 batches", happened(request("r0", extra=1), request("r1", extra=1), runs=TWO, **SHAPED)),
    ("DB-LAW-008", "mixed", FAIL, "(r0, r1) have [1, 2] columns",
     happened(request("r0", extra=1), request("r1", extra=2), runs=TWO, **SHAPED)),
    ("DB-LAW-008", "ragged", PASS, "1 batches",
     happened(request("r0", extra=1), request("r1", extra=2), runs=TWO, **RAGGED)),
    ("DB-LAW-008", "one input", ERROR, "VACUOUS", happened(request("r0"), runs=ONE)),
]
