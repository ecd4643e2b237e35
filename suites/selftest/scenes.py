"""Hand-written evidence for the rules about repositories: a scene in a line or two. Times are in milliseconds."""

from __future__ import annotations

from typing import Any

from batchproof.fixtures.driving.script import MS
from batchproof.fixtures.evidence.scene import Call, Look, Operation, Ran, Scene
from batchproof.fixtures.evidence.timeline import Execution, Sent
from batchproof.host.stalls import Stall
from batchproof.suites.selftest.timelines import LATE
from batchproof.targets.witness.place import Place
from batchproof.targets.witness.probe import FIELDS, Payload

Requests = list[tuple[str, int, dict[str, Any]]]


def asked(names: str, to: str = "model", back: float | None = 500, kind: str = "", **more: Any) -> Requests:
    """Requests that differ by name only: to which model and version, and when their answer or refusal came."""
    version = more.pop("version", 0)
    payload = Payload(**{name: more.pop(name) for name in FIELDS if name in more})
    back_ns = None if back is None else round(back * MS)
    came = {"answered_ns": back_ns, "kind": kind, "echoed": not kind and back is not None}
    return [(to, version, {"name": name, "payload": payload, "sent_ns": 0, **came, **more}) for name in names.split()]


def ran(
    model: str, names: str, enter: float = 100, leave: float | None = None, process: int = 1, version: int = 1,
    group: int = 0, number: int = 0, rows: int = 1,
) -> tuple[str, str, Place, float, float, int]:
    """One execution of a model; names: of its requests, `-` for one of nobody's."""
    return model, names, Place(version, process, group, number), enter, enter + 10 if leave is None else leave, rows


def did(
    verb: str, model: str = "model", begun: float = 0, ended: float | None = 10, error: str = "", **facts: Any
) -> Operation:
    """One operation; facts: of the model that is loaded."""
    return Operation(verb, model, round(begun * MS), None if ended is None else round(ended * MS), error, facts)


def looked(name: str, model: str = "model", ready: bool = True, at: float = 0, **more: Any) -> Look:
    """What the server said about a model."""
    return Look(name, model, round(at * MS), ready, **more)


def scene(
    *requests: Requests, runs: tuple[Any, ...] = (), models: dict[str, Any] | None = None,
    done: tuple[Operation, ...] = (), looks: tuple[Look, ...] = (), marks: dict[str, float] | None = None,
    stalled: int = 0,
) -> Scene:
    """A scene: serials are places, models have a limit of 4 unless `models` says more."""
    calls = [one for group in requests for one in group]
    serials = {sent["name"]: place for place, (_, _, sent) in enumerate(calls, 1)}
    names = {model for model, *_ in calls} | {one[0] for one in runs}
    given = models or {}
    executions = [
        Ran(model, Execution(place.pack(), number, tuple(serials.get(name, -1) for name in members.split()),
                             (rows,) * len(members.split()), round(enter * MS), round(leave * MS)))
        for number, (model, members, place, enter, leave, rows) in enumerate(runs, 1)
    ]  # fmt: skip
    return Scene(
        {name: {"max_batch_size": 4, **given.get(name, {})} for name in sorted(names | set(given))},
        tuple(Call(model, version, Sent(serial=serials[sent["name"]], **sent)) for model, version, sent in calls),
        tuple(sorted(executions, key=lambda one: one.run.enter_ns)),
        done,
        looks,
        {name: round(at * MS) for name, at in {"start": 0, "end": 5000, **(marks or {})}.items()},
        (Stall(0, (stalled or LATE) * MS),) if stalled else (),
    )
