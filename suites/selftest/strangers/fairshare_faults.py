"""FairShare with one fault each, as trackers of other software report them."""

from __future__ import annotations

import asyncio
from typing import Any

from batchproof.suites.selftest.strangers.fairshare import Call, FairShare, TooLong


class OneLaneFirst(FairShare):
    """A lane keeps its turn as long as it is ready, so that a busy shape starves all others."""

    def turn(self) -> None:
        """Serve the first lane that is ready, and leave it where it is."""
        while self.free and any(self.ready(lane) for lane in self.lanes.values()):
            shape, lane = next(pair for pair in self.lanes.items() if self.ready(pair[1]))
            batch = [lane.calls.popleft() for _ in range(self.fit(lane)[0])]
            for call in batch:
                self.forget(lane, call)
            if lane.calls:
                self.arm(lane)
            else:
                self.leave(shape, lane)
            self.start(batch)


class ShortKey(FairShare):
    """The cache's key is a short hash of the inputs, so that different inputs share an entry sooner or later."""

    def key(self, tensor: Any, extra: Any) -> Any:
        """Return twelve bits of a hash."""
        return hash(super().key(tensor, extra)) & 0xFFF


class RemembersFailure(FairShare):
    """A call that fails is kept in the cache like an answer, and so is replayed."""

    async def fly(self, key: Any, call: Call) -> Any:
        """Leave the flight where it is if the model raised."""
        self.flights[key] = call.answer
        try:
            answer = await self.wait(call)
        except (asyncio.CancelledError, TooLong):
            del self.flights[key]
            raise
        self.remember(key, answer)
        del self.flights[key]
        return answer


class LeaderTakesAll(FairShare):
    """If the first of equal calls is cancelled, those that joined it are cancelled too."""

    async def predict(self, tensor: Any, extra: Any = None, queued: Any = lambda: None) -> Any:
        """Join a flight for better or worse."""
        flight = self.flights.get(self.key(tensor, extra))
        if flight is None:
            return await super().predict(tensor, extra, queued)
        await asyncio.wait({flight})
        return flight.result()


class Disarmed(FairShare):
    """The timer of a lane ends with the request that started it, also if that was cancelled and others wait behind it."""

    def drop(self, call: Call) -> bool:
        """Take a call out, and stop the lane's timer if it was the oldest."""
        lane = self.lanes.get(call.shape)
        if not call.waits or lane.calls[0] is not call or len(lane.calls) == 1:
            return super().drop(call)
        lane.calls.remove(call)
        self.forget(lane, call)
        if lane.timer is not None:
            lane.timer.cancel()
        return True


class KeepsPlaces(FairShare):
    """A request that was cancelled keeps its place in the queue limit until a batch leaves."""

    ghosts = 0

    def drop(self, call: Call) -> bool:
        """Take a call out, and its place not yet."""
        if dropped := super().drop(call):
            self.ghosts += 1
            self.waiting += 1
        return dropped

    def start(self, batch: list[Call]) -> None:
        """Give the places back."""
        self.waiting -= self.ghosts
        self.ghosts = 0
        super().start(batch)


class CountsTwice(FairShare):
    """A request that expires gives its place back twice, so that the queue limit grows."""

    def expire(self, call: Call) -> None:
        """Count it in the timer, and in whoever waits for it."""
        if call.waits:
            self.waiting -= 1
        super().expire(call)


class NeverForgotten(FairShare):
    """A batch with a request that was cancelled meanwhile stays among the running ones, and the batcher never closes."""

    async def run(self, batch: list[Call]) -> None:
        """Execute a batch."""
        await super().run(batch)
        if any(call.answer.cancelled() for call in batch):
            self.running.add(self.loop.create_future())
