"""What a campaign has reached: which features met which traffic, ends, depths, batches and histories.

These are the points of coverage. A campaign that reaches a new one, or two together that had never met, is kept and changed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations

from batchproof.fixtures.driving.features import features_of
from batchproof.fixtures.driving.phases import Phase
from batchproof.fixtures.driving.sequence_features import steps_features_of
from batchproof.fixtures.evidence.timeline import Timeline
from batchproof.reference_batcher.config import BatcherConfig

Point = tuple[str, ...]  # one thing, or two that have met, in the order of the alphabet
DEPTHS = (0, 1, 2, 4, 8, 16, 32, 64)  # of a queue, in multiples of max_batch_size
DEEP = tuple(
    f"{low} to {high} limits" if high else f"{low} limits and more"
    for low, high in zip(DEPTHS, (*DEPTHS[1:], 0), strict=True)
)
AGES = (0, 100, 1000)
OLD = ("new", "over 100 requests", "over 1000 requests")
ENDS = ("answered", "invalid", "full", "expired", "cancelled", "failed")
BATCHES = ("alone", "partly full", "full", "mixed rows", "mixed levels", "failed")
GROUPS = ("feature", "size", "instances", "traffic", "end", "depth", "batch", "age")


def reached(config: BatcherConfig, phases: Sequence[Phase], timeline: Timeline, age: int) -> frozenset[str]:
    """Return the single points of one campaign. age: how many requests its deployment had served before."""
    return frozenset(_points(config, phases, timeline, age))


def together(points: frozenset[str]) -> set[Point]:
    """Return all points: each alone, and each two together."""
    ordered = sorted(points)
    return {(one,) for one in ordered} | set(combinations(ordered, 2))


def _points(config: BatcherConfig, phases: Sequence[Phase], timeline: Timeline, age: int) -> Iterator[str]:
    found = features_of(config) if config.sequence is None else steps_features_of(config)
    yield from (f"feature {name}" for name in found or {"none"})
    yield f"size {_size(config.max_batch_size)}"
    yield f"instances {config.instances if config.instances < 3 else '3 and more'}"
    yield from (f"traffic {phase.name}" for phase in phases)
    yield from {f"end {sent.kind or 'answered'}" for sent in timeline.requests if sent.answered_ns is not None}
    yield f"depth {DEEP[_place(DEPTHS, deepest(timeline) / config.max_batch_size)]}"
    yield from {f"batch {name}" for name in _batches(config, timeline)}
    yield f"age {OLD[_place(AGES, age)]}"


def _size(size: int) -> str:
    return str(size) if size < 3 else "3 to 8" if size < 9 else "9 and more"


def _place(scale: Sequence[int], value: float) -> int:
    return max(at for at, least in enumerate(scale) if value >= least)


def deepest(timeline: Timeline) -> int:
    """Return how many requests waited at the same time, at most."""
    entered = {serial: run.enter_ns for run in timeline.executions for serial in run.serials}
    edges = []
    for sent in timeline.requests:
        left_ns = entered.get(sent.serial, sent.answered_ns)
        edges.append((sent.sent_ns, 1))
        if left_ns is not None:
            edges.append((max(left_ns, sent.sent_ns), -1))
    most = now = 0
    for _, change in sorted(edges, key=lambda edge: (edge[0], -edge[1])):
        now += change
        most = max(most, now)
    return most


def _batches(config: BatcherConfig, timeline: Timeline) -> Iterator[str]:
    levels = {sent.serial: config.level(sent.payload.priority) for sent in timeline.requests}
    for run in timeline.executions:
        rows = sum(run.rows)
        if len(run.serials) == 1:
            yield "alone"
        yield "full" if rows >= config.max_batch_size else "partly full"
        if len(set(run.rows)) > 1:
            yield "mixed rows"
        if config.priority_levels and len({levels.get(serial, 0) for serial in run.serials}) > 1:
            yield "mixed levels"
        if run.failed:
            yield "failed"


class Coverage:
    """What a hunt has met so far.

    points: each alone and each two together, with how many campaigns have reached it. decisions: how many of each kind have
    been judged.
    """

    def __init__(self) -> None:
        self.points: dict[Point, int] = {}
        self.decisions: dict[str, int] = {}
        self.campaigns = self.deployments = self.requests = self.batches = 0

    def add(self, points: frozenset[str], judged: Mapping[str, int], timeline: Timeline) -> tuple[Point, ...]:
        """Count one campaign; return what nobody had reached before it."""
        self.campaigns += 1
        self.requests += len(timeline.requests)
        self.batches += len(timeline.executions)
        for kind, number in judged.items():
            self.decisions[kind] = self.decisions.get(kind, 0) + number
        every = together(points)
        new = tuple(sorted(every - self.points.keys()))
        for point in every:
            self.points[point] = self.points.get(point, 0) + 1
        return new

    def alone(self, group: str) -> dict[str, int]:
        """Return the single points of a group, without its name, and how many campaigns have reached each."""
        start = f"{group} "
        singles = {point[0]: number for point, number in self.points.items() if len(point) == 1}
        return {name[len(start) :]: number for name, number in singles.items() if name.startswith(start)}
