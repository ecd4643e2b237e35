"""One open loop over all workers of a crew: prepare, start together, collect, judge. One that is late or lost is named."""

from __future__ import annotations

import itertools
import secrets
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from batchproof.load.runs import OPEN, Run
from batchproof.load.samples import Samples, SamplesError
from batchproof.load.schedule import Schedule
from batchproof.load.spread.clocks import UnevenClock
from batchproof.load.spread.member import Member, Told
from batchproof.load.spread.messages import due_pieces
from batchproof.load.spread.place import here
from batchproof.load.spread.shares import merged, nothing_known, part_of, share
from batchproof.load.validity import Asked, Seen, Validity, judge
from batchproof.stats.arrays import NEVER, Ints
from batchproof.stats.percentile import percentile
from batchproof.targets.kit.routes import Route
from batchproof.targets.protocol import Misuse

if TYPE_CHECKING:
    from batchproof.load.spread.crew import Crew

PREPARE_S = 30.0
LEAD_S = 0.5  # from the word to the first request: every worker has heard it by then
HOME_S = 15.0  # after the last answer may come: for the samples to come home
APART = 0.01  # of the run: workers that may begin further apart than this do not send one schedule
numbers_of_runs = itertools.count(1)


def open_loop(
    crew: Crew,
    route: Route,
    schedule: Schedule,
    *,
    wait_ns: int,
    payload: Mapping[str, int] | None = None,
    slo_ns: int | None = None,
    percent: float | None = None,
) -> Run:
    """Send the schedule from all workers, each its share; the Run is like that of `runs.open_loop`.

    payload: fields of the witness's `Payload`, the same for all requests. The rest is as in `runs.open_loop`. A worker's
    times count on its own clock from its own start, so latencies do not depend on how well its clock is known. As soon as a
    worker is lost, the others stop. Misuse if a worker is on another machine and the route leads nowhere from there;
    CrewError if the master has gone.
    """
    _check_route(crew, route)
    sending = _Sending(crew, schedule)
    if not crew.lost():
        order = {"route": route.facts(), "payload": dict(payload or {}), "wait_ns": wait_ns, "slo_ns": slo_ns}
        sending.prepare(order)
        sending.start()
        sending.finish(wait_ns)
    samples, facts, reasons = sending.home()
    asked = Asked(slo_ns, 99.0 if percent is None and slo_ns is not None else percent)
    whole = judge(samples, asked, Seen(), end_ns=schedule.end_ns, wait_ns=wait_ns)
    duration_ns = schedule.end_ns or int(samples.done_ns[samples.done_ns != NEVER].max(initial=1))
    host = {"stalled_ns": max((one["host"].get("stalled_ns", 0) for one in facts.values()), default=0), "workers": facts}
    return Run(OPEN, schedule.spec, samples, duration_ns, Validity(reasons or whole.reasons), host)


@dataclass(eq=False)
class _Part:
    """A worker, the numbers of its requests, what it says of this run, and when it began, on its own clock."""

    member: Member
    numbers: Ints
    told: Told
    start_ns: int = 0


class _Sending:
    """A run under way. What concerns one worker alone ends in its being lost, and never in an exception."""

    def __init__(self, crew: Crew, schedule: Schedule) -> None:
        self._crew, self._schedule, self._run = crew, schedule, next(numbers_of_runs)
        self._at_ns = 0
        members = crew.present()[: schedule.count]
        self._parts: list[_Part] = []
        for place, member in enumerate(members):
            numbers = share(schedule.count, len(members), place)
            member.told = Told(self._run, schedule.due_ns[numbers])
            self._parts.append(_Part(member, numbers, member.told))

    def prepare(self, order: Mapping[str, Any]) -> None:
        """Hand out the shares, and let everybody connect."""
        first = secrets.randbits(60)  # as in `workload.Served`: serials in the witness's log must not repeat
        for part in self._parts:
            mine = part_of(self._schedule, part.numbers)
            for piece in due_pieces(mine.due_ns):
                self._tell(part, {"do": "due", "column": piece})
            what = {"do": "prepare", "spec": mine.spec, "length_ns": mine.length_ns}
            self._tell(part, {**what, "first": first, "numbers": [int(part.numbers[0]), len(self._parts)], **order})
        self._until(lambda told: told.ready, PREPARE_S, f"it was not ready within {PREPARE_S:g} s")

    def start(self) -> None:
        """Say when to start, to each on its own clock."""
        self._at_ns = time.monotonic_ns() + round(LEAD_S * 1e9)
        for part in self._parts:
            try:
                part.start_ns = self._at_ns + round(part.member.clock.at(self._at_ns).middle)
            except UnevenClock as why:
                part.member.lose(str(why))
        if not self._crew.lost():
            for part in self._parts:
                self._tell(part, {"do": "start", "start_ns": part.start_ns})

    def finish(self, wait_ns: int) -> None:
        """Wait until all samples are home; when a worker is lost, let the others stop."""
        limit_s = LEAD_S + (self._schedule.end_ns + wait_ns) / 1e9 + HOME_S
        self._until(lambda told: bool(told.done), limit_s, f"its samples were not here within {limit_s:.0f} s")
        if self._crew.lost():
            for part in self._parts:
                if not part.told.done:
                    self._tell(part, {"do": "stop"})

    def home(self) -> tuple[Samples, dict[str, Any], tuple[str, ...]]:
        """Return the samples of all, what each worker says of itself, and what speaks against the run, by worker."""
        brought = [(part.numbers, self._brought(part)) for part in self._parts]
        reasons = [f"worker '{member.name}' was lost: {member.lost}" for member in self._crew.lost()]
        facts = {}
        for part, (_, samples) in zip(self._parts, brought, strict=True):
            if part.told.done and not part.member.lost:
                clock, uncertain = self._clock(part)
                said = [str(why) for why in part.told.done["reasons"]]
                reasons += [f"worker '{part.member.name}': {why}" for why in (*said, *filter(None, [uncertain]))]
                worth = {"clock": clock, "uncertain": uncertain, "host": part.told.done["facts"]}
                facts[part.member.name] = lag_of(samples) | worth
        if not brought:
            everything = np.arange(self._schedule.count, dtype=np.int64)
            brought = [(everything, nothing_known(self._schedule, everything))]
        return merged(brought), facts, tuple(reasons)

    def _brought(self, part: _Part) -> Samples:
        if part.told.done and part.start_ns:
            try:
                return part.told.samples()
            except SamplesError as why:
                part.member.lose(f"it sent what are not samples: {why}")
        return nothing_known(self._schedule, part.numbers)

    def _clock(self, part: _Part) -> tuple[dict[str, Any], str]:
        """Return what a worker's clock was worth, and why that is not enough for this schedule; empty if it is."""
        clock, length_ns = part.member.clock, self._schedule.end_ns
        try:
            begin, end, drift = clock.at(self._at_ns), clock.at(self._at_ns + length_ns), clock.drift
        except UnevenClock as why:
            return {"exchanges": clock.count}, str(why)
        used_ns = part.start_ns - self._at_ns
        apart_ns = max(abs(bound - used_ns) for span in (begin, end) for bound in (span.low, span.high))
        facts = {
            "offset_ns": round(begin.middle),
            "within_ns": round(begin.within),
            "drift_ppm": round(drift.middle * 1e6, 3),
            "drift_within_ppm": round(drift.within * 1e6, 3),
            "round_trip_ns": clock.round_trip_ns,
            "exchanges": clock.count,
            "apart_ns": round(apart_ns),
        }
        if apart_ns <= APART * length_ns:
            return facts, ""
        allowed = f"{APART:.0%} of the schedule are {APART * length_ns / 1e6:.1f} ms"
        return facts, f"its requests are known to within {apart_ns / 1e6:.1f} ms on the master's clock, and {allowed}"

    def _until(self, over: Callable[[Told], bool], seconds: float, late: str) -> None:
        """Wait until it is over for all workers, or one is lost; one that takes longer is lost."""
        crew = self._crew
        if not crew.wait(lambda: bool(crew.lost()) or all(over(part.told) for part in self._parts), seconds):
            for part in self._parts:
                if not over(part.told):
                    part.member.lose(late)

    def _tell(self, part: _Part, message: Mapping[str, Any]) -> None:
        self._crew.tell(part.member, {"run": self._run, **message})


def lag_of(samples: Samples) -> dict[str, int | None]:
    """Return how punctual a worker was: JSON data. None: so many requests were never sent."""
    found = {f"lag_p{percent}_ns": int(percentile(samples.lag_ns, percent)) for percent in (50, 99)}
    return {"requests": samples.count, **{name: None if ns == NEVER else ns for name, ns in found.items()}}


def _check_route(crew: Crew, route: Route) -> None:
    far = [member for member in crew.present() if member.place != here()]
    if route.local and far:
        raise Misuse(
            f"worker '{far[0].name}' is not on this machine, and {route.address} can be reached from this machine only: "
            "name the target by an address that all workers can reach, such as --target grpc://HOST:PORT"
        )
