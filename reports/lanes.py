"""A timeline cut down to what a picture of it can show: a few requests, their batches, the bounds, the stalls of the host.

A report holds this for every attempt that has a timeline, those that passed too, so it is small: at most `MOST` requests,
with times in nanoseconds from the first event. `reports.html.lanes` draws it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any, TypeVar

from batchproof.reports.choice import chosen

MOST = 24  # requests: more lanes than that are no picture any more
MOST_STALLS = 8
MOST_BLOCKS = 120
LARGEST_NS = 1 << 62
LEAST_STALL_NS = 1_000_000  # shorter ones are every host's daily life
LEAST_SHARE = 300  # of the picture: a shorter stall would be thinner than a line

_T = TypeVar("_T")


@dataclass(frozen=True)
class Lane:
    """One request. accepted_ns: when it was seen in the queue. timeout_ns: its own queue timeout, 0 if there is none.

    kind: the kind of a refusal; empty for an answer, and for a request that got none (answered_ns is None).
    """

    name: str
    sent_ns: int
    answered_ns: int | None = None
    accepted_ns: int | None = None
    rows: int = 1
    kind: str = ""
    timeout_ns: int = 0


@dataclass(frozen=True)
class Block:
    """One batch. lanes: the places of its requests among those that are drawn. requests: how many it had in all."""

    number: int
    lanes: tuple[int, ...]
    enter_ns: int | None = None
    exit_ns: int | None = None
    instance: int = 0
    requests: int = 1
    rows: int = 1
    failed: bool = False


@dataclass(frozen=True)
class Limit:
    """An upper bound on a duration, where it was judged. lane: whose it is; None: it concerns the whole picture.

    It was exceeded if observed_ns > bound_ns + slack_ns, and for certain if that is more than noise explains.
    """

    since_ns: int
    bound_ns: int
    observed_ns: int
    lane: int | None = None
    slack_ns: int = 0
    stall_ns: int = 0


@dataclass(frozen=True)
class Lanes:
    """One picture. Times are nanoseconds from the first event; a batch has none if the model's clock is another one.

    end_ns: the drive's end. delay_ns: the queue delay. stalls: when each began, and how long it took. marks: what else the
    rig did (releases of gates, cancellations, ...). hidden: how many requests are not drawn.
    """

    lanes: tuple[Lane, ...]
    blocks: tuple[Block, ...] = ()
    limits: tuple[Limit, ...] = ()
    stalls: tuple[tuple[int, int], ...] = ()
    marks: tuple[tuple[str, int], ...] = ()
    end_ns: int = 0
    delay_ns: int = 0
    hidden: int = 0

    def to_json(self) -> dict[str, Any]:
        """Return JSON data without what is at its default, because most of it is."""
        lists = {name: [_slim(one) for one in getattr(self, name)] for name in ("lanes", "blocks", "limits")}
        pairs = {name: [list(one) for one in getattr(self, name)] for name in ("stalls", "marks")}
        numbers = {name: getattr(self, name) for name in ("end_ns", "delay_ns", "hidden")}
        return {name: value for name, value in (lists | pairs | numbers).items() if value or name == "lanes"}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Lanes:
        """Read data that fits the schema of a report; places that do not exist are left out."""
        lanes = tuple(Lane(**_known(Lane, one)) for one in data["lanes"][:MOST])
        blocks = tuple(
            Block(**{**_known(Block, one), "lanes": tuple(sorted({at for at in one["lanes"] if 0 <= at < len(lanes)}))})
            for one in data.get("blocks", ())[:MOST_BLOCKS]
        )
        limits = tuple(Limit(**_known(Limit, one)) for one in data.get("limits", ())[:MOST])
        return cls(
            lanes,
            blocks,
            tuple(one for one in limits if one.lane is None or 0 <= one.lane < len(lanes)),
            stalls=tuple((_plain(start), _plain(took)) for start, took in data.get("stalls", ())[:MOST_STALLS]),
            marks=tuple((name, _plain(at)) for name, at in data.get("marks", ())[:MOST]),
            end_ns=_plain(data.get("end_ns", 0)),
            delay_ns=_plain(data.get("delay_ns", 0)),
            hidden=_plain(data.get("hidden", 0)) + max(0, len(data["lanes"]) - MOST),
        )


def cut(timeline: Mapping[str, Any], about: Sequence[str] = (), bounds: Iterable[Mapping[str, Any]] = ()) -> Lanes:
    """Return the picture of a timeline's JSON data. KeyError or TypeError if the data is of another kind.

    about: requests that must be in it, with those in their batches and their neighbours. bounds: name (of the request, or
    ""), since_ns, bound_ns, slack_ns, stall_ns and observed_ns of each bound that was judged; since_ns is a moment of the
    timeline.
    """
    bounds = tuple(bounds)
    together = [run["serials"] for run in timeline["executions"]]
    drawn = chosen(timeline["requests"], MOST, (*about, *(one["name"] for one in bounds)), together)
    if not drawn:
        return Lanes((), hidden=0)
    first_ns = min(one["sent_ns"] for one in drawn)
    place = {one["serial"]: at for at, one in enumerate(drawn)}
    names = {one["name"]: at for at, one in enumerate(drawn)}
    lanes = tuple(_lane(one, first_ns) for one in drawn)
    blocks = tuple(_blocks(timeline, place, first_ns))[:MOST_BLOCKS]
    limits = tuple(_limit(one, names, first_ns) for one in bounds)[:MOST]
    ends = [0, *(moment for lane in lanes for moment in (lane.sent_ns, lane.answered_ns) if moment is not None)]
    ends += [moment for block in blocks for moment in (block.enter_ns, block.exit_ns) if moment is not None]
    end_ns = max(*ends, timeline["marks"].get("end", 0) - first_ns)
    last_ns = end_ns if any(lane.answered_ns is None for lane in lanes) else max(ends)
    return Lanes(
        lanes,
        blocks,
        limits,
        stalls=tuple(_stalls(timeline["stalls"], first_ns, last_ns)),
        marks=tuple(_marks(timeline["marks"], first_ns, last_ns))[:MOST],
        end_ns=end_ns,
        delay_ns=int(timeline["config"].get("max_queue_delay_ns", 0)),
        hidden=len(timeline["requests"]) - len(drawn),
    )


def _lane(request: Mapping[str, Any], first_ns: int) -> Lane:
    def since(moment: int | None) -> int | None:
        return None if moment is None else moment - first_ns

    return Lane(
        name=request["name"],
        sent_ns=request["sent_ns"] - first_ns,
        answered_ns=since(request["answered_ns"]),
        accepted_ns=since(request.get("accepted_ns")),
        rows=request["payload"]["rows"],
        kind=request["kind"],
        timeout_ns=int(request["payload"].get("timeout_ns", 0)),
    )


def _blocks(timeline: Mapping[str, Any], place: Mapping[int, int], first_ns: int) -> Iterable[Block]:
    same = timeline["same_clock"]
    for number, run in enumerate(timeline["executions"], 1):
        lanes = tuple(sorted({place[serial] for serial in run["serials"] if serial in place}))
        if lanes:
            left_ns = run["exit_ns"]
            yield Block(
                number=number,
                lanes=lanes,
                enter_ns=run["enter_ns"] - first_ns if same else None,
                exit_ns=left_ns - first_ns if same and left_ns is not None else None,
                instance=run["instance"],
                requests=len(run["serials"]),
                rows=sum(run["rows"]),
                failed=run["failed"],
            )


def _limit(bound: Mapping[str, Any], names: Mapping[str, int], first_ns: int) -> Limit:
    rest = {name: bound[name] for name in ("bound_ns", "slack_ns", "stall_ns", "observed_ns")}
    return Limit(since_ns=bound["since_ns"] - first_ns, lane=names.get(bound["name"]), **rest)


def _stalls(stalls: Sequence[Mapping[str, int]], first_ns: int, last_ns: int) -> list[tuple[int, int]]:
    """Return the longest stalls that touch the picture and can be seen in it, in their order; the longest in any case."""
    spans = [(one["at_ns"] - one["late_ns"] - first_ns, one["late_ns"]) for one in stalls]
    seen = [(start, took) for start, took in spans if took >= LEAST_STALL_NS and start <= last_ns and start + took >= 0]
    longest = sorted(seen, key=lambda span: -span[1])[:MOST_STALLS]
    return sorted(longest[:1] + [span for span in longest[1:] if span[1] * LEAST_SHARE >= last_ns])


def _marks(marks: Mapping[str, int], first_ns: int, last_ns: int) -> list[tuple[str, int]]:
    """Return what the rig did while the picture lasts; that it saw a request in the queue is not something it did."""
    dull = ("start", "end", "queued", "entered")
    found = [(name, at - first_ns) for name, at in marks.items() if name.partition(":")[0] not in dull]
    return sorted((one for one in found if 0 <= one[1] <= last_ns), key=lambda one: one[1])


def _slim(one: Any) -> dict[str, Any]:
    required = {field.name: field.default for field in fields(one)}
    return {name: value for name, value in asdict(one).items() if value != required[name]}


def _known(kind: type[_T], data: Mapping[str, Any]) -> dict[str, Any]:
    return {field.name: _plain(data[field.name]) for field in fields(kind) if field.name in data}  # type: ignore[arg-type]


def _plain(value: Any) -> Any:
    """Return a number as an integer of at most 62 bits: in JSON, 1e300 is one too."""
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return int(min(max(value, -LARGEST_NS), LARGEST_NS)) if number else value
