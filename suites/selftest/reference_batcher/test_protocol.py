"""The protocol of a core under test: two disciplines other than the dynamic batcher run in every shell, unchanged."""

from __future__ import annotations

import ast
import itertools
import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import wait
from importlib.resources import files
from typing import Any

import numpy as np
import pytest

from batchproof.reference_batcher import Batcher, BatcherConfig, QueueFull
from batchproof.reference_batcher.core import DynamicBatcher
from batchproof.reference_batcher.decisions import Decision, Dispatch, Entry, Wait
from batchproof.reference_batcher.mutants import load
from batchproof.reference_batcher.protocol import Core
from batchproof.reference_batcher.simulator import simulate, simulate_closed
from batchproof.reference_batcher.virtual import VirtualBatcher, VirtualClock

US = 1_000
LONG = 30  # seconds that anything may take before a test fails; nothing waits that long
CONFIG = BatcherConfig(max_batch_size=8)
TAU_NS = [0, *(US * rows for rows in range(1, 9))]
VERBS = {"waiting", "drained", "enqueue", "cancel", "finished", "drain", "poll"}
SHELLS = ("threaded", "virtual", "event_loop", "simulator", "service")


class FixedSize:
    """First in, first out, on one instance, always exactly two requests. The last one leaves alone when the core drains."""

    def __init__(self, most: int = 1_000) -> None:
        self.queue: deque[Entry] = deque()
        self.busy = self.draining = False
        self.most = most

    @property
    def waiting(self) -> int:
        """How many requests wait."""
        return len(self.queue)

    @property
    def drained(self) -> bool:
        """Whether nothing is left."""
        return self.draining and not self.queue

    def enqueue(self, entry: Entry) -> QueueFull | None:
        """Accept the request if there is room."""
        if len(self.queue) >= self.most:
            return QueueFull("full")
        self.queue.append(entry)
        return None

    def cancel(self, entry: Entry) -> bool:
        """Take the request out of the queue, if it is there."""
        if there := entry in self.queue:
            self.queue.remove(entry)
        return there

    def finished(self, _instance: int) -> None:
        """Free the one instance."""
        self.busy = False

    def drain(self) -> None:
        """No more requests will come."""
        self.draining = True

    def poll(self, _now_ns: int) -> Decision:
        """Return a batch of two, or the last request."""
        if self.busy or len(self.queue) < (1 if self.draining else 2):
            return Wait(None)
        self.busy = True
        return Dispatch(0, tuple(self.queue.popleft() for _ in range(min(2, len(self.queue)))))


class Stepwise(FixedSize):
    """Iteration-level: a request takes `priority` runs (at least one); newcomers join those that go on, four at a time."""

    def __init__(self) -> None:
        super().__init__()
        self.inside: dict[Entry, int] = {}  # runs that are left, of those that the instance holds

    @property
    def drained(self) -> bool:
        """Whether nothing is left, on the instance either."""
        return self.draining and not self.queue and not self.inside

    def poll(self, _now_ns: int) -> Decision:
        """Return the requests that go on, with newcomers in the free places."""
        if self.busy or not (self.inside or self.queue):
            return Wait(None)
        while self.queue and len(self.inside) < 4:
            entry = self.queue.popleft()
            self.inside[entry] = max(1, entry.priority)
        self.busy, batch = True, tuple(self.inside)
        self.inside = {entry: left - 1 for entry, left in self.inside.items() if left > 1}
        return Dispatch(0, batch, staying=tuple(self.inside))


def simulated(core: Core, due_ns: list[int], steps: list[int]) -> list[list[int]]:
    """Return the batches that a core forms in the simulator, from starts and sizes, as numbers of requests."""
    run = simulate(CONFIG, due_ns, TAU_NS, priorities=steps, core=core)
    return [run.start_ns.tolist(), run.done_ns.tolist(), run.sizes.tolist()]


def virtual(core: Core, due_ns: list[int], steps: list[int], shell: Any = VirtualBatcher) -> list[list[int]]:
    """Return the same from the virtual-time shell."""
    clock, count = VirtualClock(), len(due_ns)
    starts, done, sizes = [-1] * count, [-1] * count, []

    def serve(_instance: int, batch: Any, finish: Any) -> None:
        for entry in batch:
            number = int(entry.item.inputs[0, 0])
            starts[number] = clock.now_ns() if starts[number] < 0 else starts[number]
        sizes.append(len(batch))
        clock.at(clock.now_ns() + TAU_NS[len(batch)], lambda: finish(lambda rows: rows))

    batcher = shell(CONFIG, serve, clock, core)
    for number, when_ns in enumerate(due_ns):
        clock.sleep_until_ns(when_ns)
        future = batcher.submit(np.full((1, 1), number), priority=steps[number])
        future.add_done_callback(lambda _, number=number: done.__setitem__(number, clock.now_ns()))
    clock.sleep_until_ns(10**12)
    return [starts, done, sizes]


def test_a_core_needs_no_base_class() -> None:
    """The dynamic batcher and the cores of this test keep the protocol just by having its verbs."""
    assert {name for name in vars(Core) if not name.startswith("_")} == VERBS
    for core in (DynamicBatcher(CONFIG), FixedSize(), Stepwise()):
        assert [name for name in VERBS if not hasattr(core, name)] == []


def reads(source: str) -> set[str]:
    """Return the attributes that a module reads of something called `core` or `_core`."""
    nodes = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Attribute)]
    owners = [(node.attr, getattr(node.value, "attr", getattr(node.value, "id", ""))) for node in nodes]
    return {attribute for attribute, owner in owners if owner in {"core", "_core"}}


def test_a_shell_reads_only_the_protocol_of_a_core() -> None:
    """No shell looks into a queue, or counts a core's instances."""
    folder = files("batchproof") / "reference_batcher"
    found = {shell: reads((folder / f"{shell}.py").read_text(encoding="utf-8")) for shell in SHELLS}

    assert {shell: names - VERBS for shell, names in found.items() if names - VERBS} == {}
    assert set().union(*found.values()) == VERBS
    assert reads("self._service.core.free.popleft(); core.queue") == {"free", "queue"}


@pytest.mark.parametrize("run", [simulated, virtual])
def test_another_core_runs_in_simulated_time(run: Callable[..., Any]) -> None:
    """The requests leave in pairs, in the order of arrival; the first waits for its partner and for nothing else."""
    starts, done, sizes = run(FixedSize(), [0, 10, 20, 5000], [0] * 4)

    assert (starts, sizes) == ([10, 10, 5000, 5000], [2, 2])
    assert done == [10 + 2 * US] * 2 + [5000 + 2 * US] * 2


@pytest.mark.parametrize("run", [simulated, virtual])
def test_a_request_may_take_several_runs(run: Callable[..., Any]) -> None:
    """A request that stays is answered after its last run, and newcomers join between two of its runs."""
    starts, done, sizes = run(Stepwise(), [0, 100, 200], [3, 1, 2])

    assert sizes == [1, 3, 2]
    assert starts == [0, 1000, 1000]
    assert done == [6000, 4000, 6000]


def test_both_kinds_of_simulated_time_agree_on_any_core() -> None:
    """For random arrivals and steps, the simulator and the virtual-time shell give the same times and batches."""
    random = np.random.default_rng(1729)
    for make, _ in itertools.product((FixedSize, Stepwise), range(20)):
        due_ns = np.cumsum(random.integers(0, 4 * US, 30)).tolist()
        steps = random.integers(0, 5, 30).tolist() if make is Stepwise else [0] * 30
        even = len(due_ns) - len(due_ns) % 2

        assert simulated(make(), due_ns[:even], steps[:even]) == virtual(make(), due_ns[:even], steps[:even])


def test_another_core_runs_in_a_closed_loop() -> None:
    """Two clients make a pair, again and again."""
    run = simulate_closed(CONFIG, 2, 10, TAU_NS, core=FixedSize())

    assert (run.sizes.tolist(), run.done_ns.max()) == ([2] * 5, 5 * TAU_NS[2])


def test_another_core_refuses_in_every_shell() -> None:
    """A request that the core refuses is refused through its Future, and counted."""
    with Batcher(lambda rows: rows, core=FixedSize(most=0)) as batcher:
        assert isinstance(batcher.submit([1]).exception(LONG), QueueFull)
        assert batcher.statistics()["full"] == 1
    assert simulate(CONFIG, [0, 1], TAU_NS, core=FixedSize(most=1)).refused.tolist() == [False, True]
    assert simulate(CONFIG, [0, 1], TAU_NS, core=FixedSize(most=0)).refused.tolist() == [True, True]


def test_another_core_runs_on_threads() -> None:
    """Pairs go through the model together, and the last request is served when the batcher closes."""
    sizes: list[int] = []

    def model(rows: list[int]) -> list[int]:
        sizes.append(len(rows))
        return [2 * row for row in rows]

    with Batcher(model, core=FixedSize()) as batcher:
        futures = [batcher.submit([row]) for row in range(5)]
        assert len(wait(futures[:4], LONG).not_done) == 0
        assert (batcher.queued(), futures[4].done()) == (1, False)

    assert [future.result(LONG) for future in futures] == [[2 * row] for row in range(5)]
    assert sizes == [2, 2, 1]


def test_a_request_may_take_several_runs_on_threads() -> None:
    """Each request goes through the model as often as its core says and is answered once; closing waits for all runs."""
    entered, go = threading.Event(), threading.Event()
    batches: list[list[int]] = []

    def model(rows: list[int]) -> list[int]:
        batches.append(list(rows))
        entered.set()
        assert go.wait(LONG)
        return rows

    with Batcher(model, core=Stepwise()) as batcher:
        first = batcher.submit([0], priority=3)
        assert entered.wait(LONG)
        others = [batcher.submit([row], priority=steps) for row, steps in ((1, 1), (2, 2))]
        cancelled = first.cancel()
        go.set()

    assert (cancelled, [future.result(LONG) for future in (first, *others)]) == (False, [[0], [1], [2]])
    assert batches == [[0], [0, 1, 2], [0, 2]]
    assert batcher.statistics()["success"] == 3


def test_a_run_that_fails_ends_all_its_requests() -> None:
    """Requests that would have stayed fail with their batch, and take part in no further run."""
    batches: list[list[int]] = []

    def model(rows: list[int]) -> list[int]:
        batches.append(list(rows))
        if len(batches) == 1:
            raise RuntimeError("boom")
        return rows

    with Batcher(model, core=Stepwise()) as batcher:
        failed = batcher.submit([0], priority=3)
        assert isinstance(failed.exception(LONG), RuntimeError)
        assert batcher.submit([1]).result(LONG) == [1]

    assert batches == [[0], [1]]


def test_a_mutant_of_a_shell_runs_any_core() -> None:
    """A wrong line in the code around the core is wrong for every discipline."""
    right, wrong = (virtual(FixedSize(), [0, 10], [0, 0], load(name).VirtualBatcher) for name in ("", "naps"))
    late = virtual(FixedSize(), [0, 10, 20, 30], [0] * 4, load("naps").VirtualBatcher)

    assert right == wrong == [[10, 10], [10 + 2 * US] * 2, [2, 2][:1]]
    assert late[0][2] == 10 + 2 * US + 80_000_000
