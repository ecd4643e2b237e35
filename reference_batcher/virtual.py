"""The virtual-time shell: the same core under a simulated clock. No thread, no sleep; an hour passes at once."""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Callable
from concurrent.futures import Future

from . import execution
from .config import BatcherConfig
from .core import DynamicBatcher
from .decisions import Dispatch, Entry, Reject
from .errors import Closed, Oversize
from .execution import Model, Tree
from .modules import prepare

__all__ = ["VirtualBatcher", "VirtualClock", "prepare"]

STILL_LIMIT = 100_000
Finish = Callable[[Model], None]
Service = Callable[[int, tuple[Entry, ...], Finish], None]


class VirtualClock:
    """Simulated time. Nothing happens except inside `sleep_until_ns` and `wait`."""

    def __init__(self, start_ns: int = 0) -> None:
        self._now_ns = start_ns
        self._events: list[tuple[int, int, Callable[[], None]]] = []
        self._ticket = itertools.count()
        self._still = 0

    def now_ns(self) -> int:
        """The simulated time."""
        return self._now_ns

    def at(self, when_ns: int, action: Callable[[], None]) -> None:
        """Call `action` when the time is `when_ns`; actions of one moment run in the order they were given."""
        heapq.heappush(self._events, (max(when_ns, self._now_ns), next(self._ticket), action))

    def sleep_until_ns(self, when_ns: int) -> None:
        """Let everything up to and including `when_ns` happen."""
        while self._events and self._events[0][0] <= when_ns:
            self._step()
        self._now_ns = max(self._now_ns, when_ns)

    def wait(self, condition: Callable[[], bool], deadline_ns: int) -> bool:
        """Let things happen until `condition()`; False when the deadline comes first."""
        while not condition():
            if not self._events or self._events[0][0] > deadline_ns:
                self._now_ns = max(self._now_ns, deadline_ns)
                return condition()
            self._step()
        return True

    def _step(self) -> None:
        when_ns, _, action = heapq.heappop(self._events)
        self._still = self._still + 1 if when_ns == self._now_ns else 0
        if self._still > STILL_LIMIT:
            raise RuntimeError(f"{STILL_LIMIT} things happened at one moment: the simulation does not move on")
        self._now_ns = when_ns
        action()


class VirtualBatcher:
    """The reference batcher in virtual time.

    service: called as `service(instance, batch, finish)` when a batch starts; it arranges, through the clock, that
    `finish(model)` is called when the batch's work is done; the model then gives the outputs, in no time.
    """

    def __init__(self, config: BatcherConfig, service: Service, clock: VirtualClock) -> None:
        self.config = config
        self.clock = clock
        self._service = service
        self._core = DynamicBatcher(config)
        self._closed = False
        self._wake_ns: int | None = None

    def submit(self, inputs: Tree) -> Future[Tree]:
        """As `Batcher.submit`."""
        rows = execution.rows_of(inputs)
        item = execution.new_item(inputs)
        if self._closed:
            item[1].set_exception(Closed("the batcher is closed and takes no new requests"))
        elif why := self._core.refusal(rows):
            item[1].set_exception(Oversize(why))
        else:
            self._core.enqueue(Entry(rows, self.clock.now_ns(), item))
            self._pump()
        return item[1]

    def queued(self) -> int:
        """Requests that wait and are in no batch yet."""
        return len(self._core.queue)

    def close(self) -> None:
        """Take no new requests; those that are queued are served as time goes on."""
        self._closed = True
        self._core.drain()
        self._pump()

    def _pump(self) -> None:
        while True:
            match self._core.poll(self.clock.now_ns()):
                case Dispatch(instance, batch):
                    self._start(instance, batch)
                case Reject(entries):
                    execution.reject(entries)
                case wait:
                    self._wake_at(wait.until_ns)
                    return

    def _start(self, instance: int, batch: tuple[Entry, ...]) -> None:
        def finish(model: Model) -> None:
            execution.run(model, batch)
            self._core.finished(instance)
            self._pump()

        self._service(instance, batch, finish)

    def _wake_at(self, when_ns: int | None) -> None:
        if when_ns is None or when_ns == self._wake_ns:
            return
        self._wake_ns = when_ns
        self.clock.at(when_ns, self._wake)

    def _wake(self) -> None:
        self._wake_ns = None
        self._pump()
