"""The judges of a hunt: what each is asked about, and what follows from something else."""

from __future__ import annotations

from dataclasses import replace

from batchproof.commands.hunt.judges import COMPARISON, Judged, Trouble, apart, judge
from batchproof.fixtures.judging.verdicts import Verdict
from batchproof.suites.selftest.timelines import Run, happened, lost, request
from batchproof.targets.witness_model import REFERENCE_CLAIMS

LARGE = happened(request("r0", rows=3), request("r1", rows=3), runs=(Run("r0 r1", 1, 5),))


def kinds(judged: Judged) -> dict[str, str]:
    """Return which rule each kind of trouble breaks."""
    return {one.kind: one.rule for one in judged.troubles}


def test_rows_matter_where_they_are_counted() -> None:
    """A batch of six rows in two requests is too large for one stack and right for another."""
    assert kinds(judge(LARGE, REFERENCE_CLAIMS))["size"] in ("DB-LAW-002", "DB-LAW-009")
    assert "size" not in kinds(judge(LARGE, {**REFERENCE_CLAIMS, "rows": "requests"}))


def test_a_request_that_is_split_runs_in_several_batches() -> None:
    """Where requests are split over batches, a request is executed as often as it has parts."""
    parts = happened(request("r0", rows=3), runs=(Run("r0", 1, 5), Run("r0", 6, 9)))

    assert kinds(judge(parts, REFERENCE_CLAIMS))["once"] in ("DB-LAW-001", "DB-LAW-009")
    assert "once" not in kinds(judge(parts, {**REFERENCE_CLAIMS, "rows": "split"}))


def test_silence_explains_the_rest() -> None:
    """The log may lack what the rig did not wait for, so only the missing answer is told."""
    silent = happened(lost("r0"), request("r1"), request("r2"), runs=(Run("r1", 1, 5),))

    assert kinds(judge(silent, REFERENCE_CLAIMS)).keys() == {"reason"}
    assert {one.names for one in judge(silent, REFERENCE_CLAIMS).troubles if one.names} == {("r0",)}


def test_what_nobody_can_see_is_left_to_the_laws() -> None:
    """The acceptor needs a log of the executions; the laws about answers do not."""
    blind = replace(happened(request("r0", echoed=False)), complete=False)

    assert kinds(judge(blind, REFERENCE_CLAIMS)) == {"answer": "DB-LAW-003"}
    assert judge(blind, REFERENCE_CLAIMS).judged == {}


def test_an_instance_that_is_free_is_judged_on_the_host_by_the_law_that_is_claimed() -> None:
    """Half a second alongside a free instance breaks the law with or without a queue policy, if either is claimed."""
    late = happened(request("r0", back=700), runs=(Run("r0", 600, 650),))
    policy = happened(request("r0", back=700), runs=(Run("r0", 600, 650),), config={"max_queue_size": 4})

    assert kinds(judge(late, REFERENCE_CLAIMS)) == {"idle": "DB-LAW-005"}
    assert kinds(judge(policy, REFERENCE_CLAIMS)) == {"idle": "DB-LAW-006"}
    assert kinds(judge(late, {"delay": True, "delay_anchor": "loop-entry"})) == {}


def test_a_difference_that_is_explained_is_not_another_finding() -> None:
    """One trouble of each kind, the worst first."""
    differs = Trouble(COMPARISON, "", Verdict.FAIL, "a", "b")
    late, sure = (Trouble("idle", "", verdict, "late", "") for verdict in (Verdict.INCONCLUSIVE, Verdict.FAIL))

    assert Judged({}, (late, differs, sure)).worst() == (sure,)
    assert Judged({}, (differs,)).worst() == (differs,)


def test_runs_are_compared_if_the_same_requests_were_late() -> None:
    """A slow host may make a request outlive its timeout, and then another one leaves first. Simulated time may not."""
    first, second = (Run("plug", 1, 40), Run("r0", 41, 43), Run("r1", 44, 46)), (Run("r1", 41, 43), Run("r0", 44, 46))
    sent = request("plug"), request("r0", 2), request("r1", 3)
    original, other, late = (
        happened(*sent, runs=runs, timeout=50, size=1)
        for runs in (first, (first[0], *second), (Run("plug", 1, 70), Run("r1", 71, 73), Run("r0", 74, 76)))
    )
    simulated = replace(late, requests=tuple(replace(one, accepted_ns=one.sent_ns) for one in late.requests))

    assert apart(original, original) is None
    assert apart(original, other) is not None
    assert apart(original, late) is None
    assert apart(original, simulated) is not None
