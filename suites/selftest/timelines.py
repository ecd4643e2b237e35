"""Hand-written evidence for the checkers under test: a timeline in a line or two."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from batchproof.fixtures.driving.script import MS
from batchproof.fixtures.evidence.kinds import Evidence
from batchproof.fixtures.evidence.timeline import Execution, Seen, Sent, Timeline
from batchproof.fixtures.evidence.trial import Slice, Trial
from batchproof.fixtures.judging.verdicts import Verdict
from batchproof.host.stalls import Stall
from batchproof.targets.witness.probe import FIELDS, Payload

PASS, FAIL, INCONCLUSIVE, ERROR = Verdict.PASS, Verdict.FAIL, Verdict.INCONCLUSIVE, Verdict.ERROR
NOT_OBSERVABLE = Verdict.NOT_OBSERVABLE
Cases = list[tuple[str, str, Verdict, str, Evidence]]  # rule, what it shows, verdict, part of `actual`, evidence
LATE = 60  # ms that the host stalled, where a case says `stalled`


@dataclass(frozen=True)
class Run:
    """One execution of a case: the names of its requests, and when it entered and left, in ms."""

    names: str
    enter: float = 0
    exit: float | None = None
    instance: int = 0
    rows: tuple[int, ...] = ()


def request(name: str, sent: float = 0, back: float | None = 500, kind: str = "", **more: Any) -> dict[str, Any]:
    """A request: when it was sent and when its answer, or its refusal of this kind, came back, in ms."""
    back_ns = None if back is None else round(back * MS)
    return {"name": name, "sent_ns": round(sent * MS), "answered_ns": back_ns, "kind": kind, "echoed": not kind, **more}


def lost(name: str, sent: float = 0, **more: Any) -> dict[str, Any]:
    """A request that was never answered."""
    return request(name, sent, None, **more)


def several(names: str, **more: Any) -> list[dict[str, Any]]:
    """Requests that differ by name only."""
    return [request(name, **more) for name in names.split()]


def happened(
    *requests: dict[str, Any], runs: tuple[Run, ...] = (), marks: dict[str, float] | None = None, stalled: bool = False,
    same_clock: bool = True, size: int = 4, delay: float = 0, timeout: float = 0,
    config: dict[str, Any] | None = None, statistics: dict[str, Any] | None = None, claims: dict[str, Any] | None = None,
) -> Timeline:
    """A timeline: serials are places, and every answer carries what the witness would have reported for its run."""
    serials = {one["name"]: place for place, one in enumerate(requests, 1)}
    sizes = {one["name"]: one.get("rows", 1) for one in requests}
    executions = [_execution(run, number, serials, sizes) for number, run in enumerate(runs, 1)]
    seen = {serial: _seen(run, at) for run in executions for at, serial in enumerate(run.serials)}
    sent = tuple(
        Sent(**{"serial": serial, "seen": None if one["kind"] else seen.get(serial), **_embedded(one)})
        for serial, one in enumerate(requests, 1)
    )
    return Timeline(
        config={"max_batch_size": size, "max_queue_delay_ns": round(delay * MS), "instances": 1,
                "queue_timeout_ns": round(timeout * MS), **(config or {})},
        requests=sent,
        executions=tuple(executions),
        marks={name: round(at * MS) for name, at in {"start": 0, "end": 5000, **(marks or {})}.items()},
        stalls=(Stall(0, LATE * MS),) if stalled else (),
        same_clock=same_clock,
        statistics=statistics,
        claims=claims or {},
    )


def _embedded(one: dict[str, Any]) -> dict[str, Any]:
    asked = {name: one[name] for name in FIELDS if name in one}
    return {"payload": Payload(**asked), **{name: value for name, value in one.items() if name not in asked}}


def _execution(run: Run, number: int, serials: dict[str, int], sizes: dict[str, int]) -> Execution:
    names = run.names.split()
    rows = run.rows or tuple(sizes[name] for name in names)
    left_ns = None if run.exit is None else round(run.exit * MS)
    return Execution(run.instance, number, tuple(serials[name] for name in names), rows, round(run.enter * MS), left_ns)


def _seen(run: Execution, at: int) -> Seen:
    left_ns = run.enter_ns if run.exit_ns is None else run.exit_ns
    return Seen(run.instance, run.batch, len(run.serials), sum(run.rows), at, run.enter_ns, left_ns, run.serials[at])


def part(name: str, qps: float = 100, ms: float = 8, **more: Any) -> Slice:
    """A slice of one second: its rate, and its median (and mean) latency in ms."""
    took_ns = round(ms * MS)
    given = {"requests": round(qps), "errors": 0, "duration_ns": 10**9, "qps": qps, "p50_ns": took_ns, "p99_ns": took_ns,
             "mean_ns": took_ns, **more}
    return Slice(name, **given)


def trial(*rounds: tuple[Slice, ...]) -> Trial:
    """A trial of these rounds, one after another."""
    return Trial(tuple(one for slices in rounds for one in slices), "a model")
