"""An asyncio batcher with a lane for each shape, served in turns, and a cache that lets equal calls join a flight.

Every method runs on the event loop, so there are no locks. A lane is ready if it fills a batch, or if its oldest request has
waited for the delay. While an instance is free, the ready lanes take turns; a turn is one batch.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict, deque
from typing import Any

from batchproof.reference_batcher import BatcherConfig
from batchproof.targets import Kind, Request, Response, TargetInfo, relay
from batchproof.targets.kit import Counted, Folder, Loop, Witnesses, cancel

CACHE = 512  # answers


class Full(Exception):
    """Too many requests wait."""


class TooLong(Exception):
    """It has waited for longer than its timeout."""


class TooLarge(Exception):
    """It has more rows than a batch may have."""


class Gone(Exception):
    """The batcher is closed."""


class Call:
    """A request that waits or runs: its tensors, its place in time, and the Future of its answer."""

    def __init__(self, loop: Any, tensor: Any, extra: Any) -> None:
        self.tensor, self.extra, self.rows = tensor, extra, len(tensor)
        self.shape = None if extra is None else extra.shape[1:]
        self.at = loop.time()
        self.answer = loop.create_future()
        self.waits, self.timer = True, None


class Lane:
    """The calls of one shape, in their order, with the rows that they have together."""

    def __init__(self) -> None:
        self.calls: deque[Call] = deque()
        self.rows = 0
        self.timer: Any = None


class FairShare:
    """Batches calls of a coroutine `model(tensors, extras) -> answers`; make it on the loop that it lives on."""

    def __init__(
        self, model: Any, max_batch: int, delay_s: float, instances: int, timeout_s: float, limit: int, cached: bool
    ) -> None:
        self.loop = asyncio.get_running_loop()
        self.model, self.max_batch, self.delay_s, self.free = model, max_batch, delay_s, instances
        self.timeout_s, self.limit, self.cached = timeout_s, limit, cached
        self.lanes: OrderedDict[Any, Lane] = OrderedDict()  # those with calls; the first has the next turn
        self.waiting = 0
        self.running: set[Any] = set()
        self.known: OrderedDict[Any, Any] = OrderedDict()  # key -> answer
        self.flights: dict[Any, Any] = {}  # key -> Future of the answer that is being made
        self.closed = False

    async def predict(self, tensor: Any, extra: Any = None, queued: Any = lambda: None) -> Any:
        """Return the model's answer. queued: called once the request waits in a lane."""
        if self.closed:
            raise Gone("closed")
        if len(tensor) > self.max_batch:
            raise TooLarge(f"{len(tensor)} rows, and a batch has at most {self.max_batch}")
        if not self.cached:
            return await self.wait(self.enqueue(tensor, extra, queued))
        key = self.key(tensor, extra)
        if key in self.known:
            self.known.move_to_end(key)
            return self.known[key]
        while key in self.flights:
            flight = self.flights[key]
            await asyncio.wait({flight})
            if not flight.cancelled() and not isinstance(flight.exception(), TooLong):
                return flight.result()
            await asyncio.sleep(0)  # its leader gave up: whoever is first here leads the next one
        return await self.fly(key, self.enqueue(tensor, extra, queued))

    async def fly(self, key: Any, call: Call) -> Any:
        """Lead the calls with this key: whoever comes meanwhile gets the same answer."""
        self.flights[key] = call.answer
        try:
            answer = await self.wait(call)
            self.remember(key, answer)
            return answer
        finally:
            if self.flights.get(key) is call.answer:
                del self.flights[key]

    def key(self, tensor: Any, extra: Any) -> Any:
        """Return what makes inputs equal."""
        return tensor.shape, tensor.tobytes(), None if extra is None else (extra.shape, extra.tobytes())

    def remember(self, key: Any, answer: Any) -> None:
        """Keep an answer, and forget the one that nobody asked for the longest."""
        self.known[key] = answer
        if len(self.known) > CACHE:
            self.known.popitem(last=False)

    def enqueue(self, tensor: Any, extra: Any, queued: Any) -> Call:
        """Put a call into the lane of its shape."""
        if self.limit and self.waiting >= self.limit:
            raise Full(f"{self.limit} requests wait already")
        call = Call(self.loop, tensor, extra)
        lane = self.lanes.setdefault(call.shape, Lane())
        lane.calls.append(call)
        lane.rows += call.rows
        self.waiting += 1
        queued()
        if self.timeout_s:
            call.timer = self.loop.call_later(self.timeout_s, self.expire, call)
        if len(lane.calls) == 1:
            self.arm(lane)
        self.turn()
        return call

    async def wait(self, call: Call) -> Any:
        """Wait for the answer of a call; whoever cancels this takes the call out of its lane."""
        try:
            return await call.answer
        finally:
            self.drop(call)

    def drop(self, call: Call) -> bool:
        """Take a call out of its lane, if it is still there."""
        if not call.waits:
            return False
        lane = self.lanes[call.shape]
        oldest = lane.calls[0] is call
        lane.calls.remove(call)
        self.forget(lane, call)
        if not lane.calls:
            self.leave(call.shape, lane)
        elif oldest:
            self.arm(lane)
        self.turn()  # what was behind a large call may fill a batch
        return True

    def forget(self, lane: Lane, call: Call) -> None:
        """Count a call no longer that is out of its lane."""
        lane.rows -= call.rows
        self.waiting -= 1
        call.waits = False
        if call.timer is not None:
            call.timer.cancel()

    def leave(self, shape: Any, lane: Lane) -> None:
        """Take an empty lane out of the round."""
        if lane.timer is not None:
            lane.timer.cancel()
        del self.lanes[shape]

    def expire(self, call: Call) -> None:
        """Refuse a call that has waited for too long."""
        if self.drop(call) and not call.answer.done():
            call.answer.set_exception(TooLong(f"waited for {self.timeout_s} s"))

    def arm(self, lane: Lane) -> None:
        """Wake up when the delay of a lane's oldest call is over."""
        if lane.timer is not None:
            lane.timer.cancel()
        lane.timer = self.loop.call_at(lane.calls[0].at + self.delay_s, self.turn) if self.delay_s else None

    def fit(self, lane: Lane) -> tuple[int, int, bool]:
        """Return how many calls at the lane's head share a batch, their rows, and whether they fill it."""
        count = rows = 0
        for call in lane.calls:
            if rows + call.rows > self.max_batch:
                return count, rows, True
            count, rows = count + 1, rows + call.rows
        return count, rows, rows == self.max_batch

    def ready(self, lane: Lane) -> bool:
        """Return whether a batch of this lane may leave now."""
        over = self.loop.time() >= lane.calls[0].at + self.delay_s - 1e-6
        return self.closed or over or self.fit(lane)[2]

    def turn(self) -> None:
        """Give turns to the lanes that are ready, while there is a free instance."""
        while self.free and any(self.ready(lane) for lane in self.lanes.values()):
            shape, lane = next(iter(self.lanes.items()))
            self.lanes.move_to_end(shape)
            if not self.ready(lane):
                continue
            count, _, _ = self.fit(lane)
            batch = [lane.calls.popleft() for _ in range(count)]
            for call in batch:
                self.forget(lane, call)
            if lane.calls:
                self.arm(lane)
            else:
                self.leave(shape, lane)
            self.start(batch)

    def start(self, batch: list[Call]) -> None:
        """Give a batch to a free instance."""
        self.free -= 1
        task = self.loop.create_task(self.run(batch))
        self.running.add(task)
        task.add_done_callback(self.finished)

    def finished(self, task: Any) -> None:
        """Take the next batch."""
        self.running.discard(task)
        self.free += 1
        self.turn()

    async def run(self, batch: list[Call]) -> None:
        """Execute a batch, and settle its calls."""
        extras = [call.extra for call in batch]
        try:
            answers = await self.model([call.tensor for call in batch], extras)
        except Exception as error:  # noqa: BLE001 - whatever a model raises belongs to its requests
            for call in batch:
                self.settle(call, None, error)
        else:
            for call, answer in zip(batch, answers, strict=True):
                self.settle(call, answer, None)

    def settle(self, call: Call, answer: Any, error: Exception | None) -> None:
        """Answer a call, unless its sender has gone away."""
        if call.answer.done():
            return
        if error is None:
            call.answer.set_result(answer)
        else:
            call.answer.set_exception(error)

    async def close(self) -> None:
        """Take nothing more; return once everything that waits has been answered."""
        self.closed = True
        self.turn()
        while self.running:
            await asyncio.wait(set(self.running))
            await asyncio.sleep(0)


class Target:
    """FairShare, with the witness as its model."""

    info = TargetInfo(
        "fairshare",
        "1.0",
        "fairshare:Target",
        claims={
            "delay": True,
            "delay_anchor": "oldest-enqueue",
            "shapes": "each-shape",
            "rows": True,
            "instances": True,
            "crowd": True,
            "cancel": True,
            "queue_timeout": True,
            "max_queue_size": True,
            "response_cache": True,
            "close": True,
            "closing": "answers",
        },
    )

    def __init__(self, batcher: type[Any] = FairShare) -> None:
        self.batcher = batcher

    def deploy(self, config: BatcherConfig) -> Deployed:
        """Serve the witness with this configuration."""
        return Deployed(config, self.batcher)


class Deployed:
    """One FairShare on an event loop of its own."""

    cancel = staticmethod(cancel)

    def __init__(self, config: BatcherConfig, batcher: Any = FairShare) -> None:
        self.folder, self.loop = Folder(), Loop()
        self.log, self.release, self.queued = self.folder.log, self.folder.release, self.folder.queued
        self.counted = Counted(Witnesses(self.folder.path))
        self.batcher = self.loop.call(
            batcher, self.counted.execute_async, config.max_batch_size, config.max_queue_delay_ns / 1e9, config.instances,
            config.queue_timeout_ns / 1e9, config.max_queue_size, config.response_cache,
        )  # fmt: skip

    def submit(self, request: Request) -> Any:
        """Send the payload."""
        return relay(self.loop.submit(self.predict(request)), lambda answer: Response(*answer), kind)

    async def predict(self, request: Request) -> Any:
        """Wait for the answer, and count the request while it is in a lane."""
        waits = []
        try:
            return await self.batcher.predict(
                request.tensor(), request.extra_tensor(), lambda: waits.append(self.counted.accepted(request.serial))
            )
        finally:
            if waits:
                self.counted.left(request.serial)

    def close(self) -> None:
        """Close the batcher: what it has accepted is answered."""
        self.loop.submit(self.batcher.close()).result(60)

    def finish(self) -> None:
        """Cancel what is left, and remove the logs."""
        self.loop.close()
        self.folder.remove()


KINDS = {Full: Kind.FULL, TooLong: Kind.EXPIRED, TooLarge: Kind.INVALID, Gone: Kind.CLOSED}


def kind(error: BaseException) -> Kind:
    """Return what an error of the batcher means."""
    return KINDS.get(type(error), Kind.FAILED)
