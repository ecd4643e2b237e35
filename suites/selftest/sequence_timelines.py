"""Hand-written evidence of sequences: batches as `s5.0 s6.0`, and what the model was told about them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from batchproof.fixtures.driving.script import MS
from batchproof.fixtures.evidence.timeline import Execution, Timeline
from batchproof.suites.selftest.timelines import Run, happened, request
from batchproof.targets.witness.probe import Place, step

IDLE_MS = 400


def ran(
    *batches: str,
    refused: Mapping[str, str] | None = None,
    open_: tuple[int, ...] = (),
    tell: Mapping[str, dict[str, Any]] | None = None,
    sent: Mapping[str, float] | None = None,
    taken: Mapping[str, float] | None = None,
    every: float = 10,
    silent: bool = False,
    **more: Any,
) -> Timeline:
    """Return a timeline in which these batches ran, one every so many ms, each for half of that time.

    A batch is the names of its requests, and `@1` at its end if it ran in instance 1. The last request of a sequence has
    END unless the sequence is in `open_`. A sequence keeps the place in which it ran first, and finds its own state, unless
    `tell` says otherwise: fields of `Place` by the name of a request. refused: requests that never ran, and the kind of
    their refusal; "" for no answer. sent: when requests were sent, in ms; at 0 if it does not say. taken: how long a refusal
    took, in ms; 1 if it does not say. silent: the witness was not told.
    """
    refused, tell, sent, taken = refused or {}, tell or {}, sent or {}, taken or {}
    runs, back = [], {}
    for number, batch in enumerate(batches):
        names, _, instance = batch.partition("@")
        runs.append(Run(names, every * number + 1, every * number + 1 + every / 2, int(instance or 0)))
        back |= dict.fromkeys(names.split(), every * number + 2 + every / 2)
    order = sorted({**back, **refused}, key=lambda name: sent.get(name, 0))
    lasts = {_sequence(name): name for name in sorted(order, key=_number)}
    requests = [
        request(
            name, sent.get(name, 0),
            back.get(name, sent.get(name, 0) + taken.get(name, 1) if refused.get(name) else None),
            refused.get(name, ""),
            sequence=_sequence(name), start=_number(name) == 0,
            end=lasts[_sequence(name)] == name and _sequence(name) not in open_,
        )
        for name in order
    ]  # fmt: skip
    timeline = happened(*requests, runs=tuple(runs), **more)
    return timeline if silent else replace(timeline, executions=_placed(timeline, tell))


def idle(*batches: str, **more: Any) -> Timeline:
    """Return the same with an idle time of 400 ms."""
    config = {"sequence": {"max_sequence_idle_ns": IDLE_MS * MS}, **more.pop("config", {})}
    return ran(*batches, config=config, **more)


def _placed(timeline: Timeline, tell: Mapping[str, dict[str, Any]]) -> tuple[Execution, ...]:
    """Return the executions with what the model was told."""
    by_serial = {one.serial: one for one in timeline.requests}
    slots: dict[int, int] = {}
    states: dict[int, int] = {}
    placed = []
    for run in timeline.executions:
        places = []
        for serial in run.serials:
            asked = by_serial[serial].payload
            state = 0 if asked.start else states.get(asked.sequence, 0)
            slot = slots.setdefault(asked.sequence, len(slots))
            place = Place(slot, int(asked.start), int(asked.end), 1, asked.sequence, state)
            places.append(place._replace(**tell.get(by_serial[serial].name, {})))
            states[asked.sequence] = step(state, serial)
        placed.append(replace(run, places=tuple(places)))
    return tuple(placed)


def _sequence(name: str) -> int:
    """Return the correlation ID in a name: 5 of `s5.0`, and 99 of `plug`."""
    return 99 if name == "plug" else int(name.removeprefix("again-").partition(".")[0].removeprefix("s"))


def _number(name: str) -> int:
    return int(name.partition(".")[2] or 0)
