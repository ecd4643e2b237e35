"""The virtual-time shell: any core under a simulated clock. It has no threads and never sleeps; an hour passes at once."""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any

from .config import BatcherConfig
from .decisions import Dispatch, Entry, Reject
from .execution import Model, Tree
from .modules import prepare
from .protocol import Core
from .service import Service
from .strategy import BatchStrategy

__all__ = ["VirtualBatcher", "VirtualClock", "prepare"]

STILL_LIMIT = 100_000
Finish = Callable[[Model], None]
StartsService = Callable[[int, tuple[Entry, ...], Finish], None]


class VirtualClock:
    """Simulated time. Nothing happens except inside `sleep_until_ns` and `wait`."""

    simulated = True

    def __init__(self, start_ns: int = 0) -> None:
        self._now_ns = start_ns
        self._events: list[tuple[int, int, Callable[[], None]]] = []
        self._ticket = itertools.count()
        self._still = 0
        self.stopped = False  # while this is set, nothing happens and time goes on

    def now_ns(self) -> int:
        """The simulated time."""
        return self._now_ns

    def at(self, when_ns: int, action: Callable[[], None]) -> None:
        """Call `action` at `when_ns`; the actions of one moment run in the order in which they were given."""
        heapq.heappush(self._events, (max(when_ns, self._now_ns), next(self._ticket), action))

    def sleep_until_ns(self, when_ns: int) -> None:
        """Let everything up to and including `when_ns` happen."""
        while self._events and self._events[0][0] <= when_ns and not self.stopped:
            self._step()
        self._now_ns = max(self._now_ns, when_ns)

    def wait(self, condition: Callable[[], bool], deadline_ns: int) -> bool:
        """Let things happen until `condition()` holds; False if the deadline comes first."""
        while not condition():
            if not self._events or self._events[0][0] > deadline_ns:
                self._now_ns = max(self._now_ns, deadline_ns)
                return condition()
            self._step()
        return True

    def _step(self) -> None:
        when_ns, _, action = heapq.heappop(self._events)
        self._still = self._still + 1 if when_ns <= self._now_ns else 0
        if self._still > STILL_LIMIT:
            raise RuntimeError(f"{STILL_LIMIT} things happened at one moment: the simulation does not move on")
        self._now_ns = max(self._now_ns, when_ns)
        action()


class VirtualBatcher:
    """The reference batcher in virtual time.

    config: as in `Batcher`: None is a `BatcherConfig` with nothing set.
    service: called as `service(instance, batch, finish)` when a batch starts. It arranges, through the clock, that
    `finish(model)` is called when the batch's work is done; the model then computes the outputs, in no time.
    core: a fresh core to run, in place of the one that the configuration asks for. strategy: as in `Batcher`.
    """

    def __init__(
        self,
        config: BatcherConfig | None,
        service: StartsService,
        clock: VirtualClock,
        core: Core | None = None,
        strategy: BatchStrategy | None = None,
    ) -> None:
        config = config or BatcherConfig()
        self.config = config
        self.clock = clock
        self._start_service = service
        self._service = Service(config, core, strategy)
        self._wake_ns: int | None = None
        self._slots: dict[int, tuple[int, ...]] = {}
        self._running = 0

    def submit(
        self,
        inputs: Tree,
        *,
        priority: int = 0,
        timeout_ns: int = 0,
        sequence: int | str = 0,
        start: bool = False,
        end: bool = False,
    ) -> Future[Tree]:
        """As `Batcher.submit`."""
        now_ns = self.clock.now_ns()
        entry = self._service.entry(inputs, now_ns, priority, timeout_ns, sequence, start=start, end=end)
        if not self._service.answer_from_cache(entry):
            entry.item.answer.forget = lambda: self._forget(entry)
            self._service.take(entry)
            self._pump()
        future: Future[Tree] = entry.item.answer
        return future

    def places(self, instance: int, batch: tuple[Entry, ...]) -> list[Tree]:
        """Return the inputs of each place of the batch of sequences that an instance has just begun."""
        sequences = self._service.sequences
        return sequences.trees(instance, batch, self._slots[instance]) if sequences else []

    def queued(self) -> int:
        """Return how many requests wait and have not been in a batch yet."""
        return self._service.core.waiting

    def drained(self) -> bool:
        """Return whether it is closed, and nothing waits or runs any more: then `Batcher.close` returns."""
        return self._service.closed and self._service.core.drained and not self._running

    def statistics(self) -> dict[str, Any]:
        """As `Batcher.statistics`."""
        return self._service.statistics.snapshot()

    def close(self) -> None:
        """Take no new requests; those that are queued are served as time goes on."""
        self._service.close()
        self._pump()

    def _forget(self, entry: Entry) -> None:
        self._service.forget(entry)
        self._pump()

    def _pump(self) -> None:
        while True:
            match self._service.core.poll(self.clock.now_ns()):
                case Dispatch() as dispatch:
                    self._start(dispatch)
                case Reject() as refused:
                    self._service.reject(refused)
                case wait:
                    self._wake_at(wait.until_ns)
                    return

    def _start(self, dispatch: Dispatch) -> None:
        run = self._service.begin(dispatch)
        batch = run.batch
        self._slots[run.instance] = run.slots

        def finish(model: Model) -> None:
            self._service.execute(model, run)()
            self._service.core.finished(dispatch.instance)
            self._pump()
            self._running -= 1

        self._running += 1
        self._start_service(dispatch.instance, batch, finish)

    def _wake_at(self, when_ns: int | None) -> None:
        if when_ns is None or when_ns == self._wake_ns:
            return
        self._wake_ns = when_ns
        self.clock.at(when_ns, self._wake)

    def _wake(self) -> None:
        self._wake_ns = None
        self._pump()
