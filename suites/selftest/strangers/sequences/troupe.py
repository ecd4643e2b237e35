"""A batcher of sequences as a troupe of actors: a task for each correlation ID, a mailbox each, and a stage per instance.

A player (actor) takes one line after another from its mailbox, and offers it to its stage. It takes the next one when the
stage has performed the last. A stage collects the offers of its players, the oldest line first, and performs them as one
batch. There are no slots: a stage has a number of seats, and whoever finds none waits in the lobby.
Everything but the model runs on one event loop.
"""

from __future__ import annotations

import asyncio
import heapq
import itertools
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any


class Malformed(ValueError):
    """The request can never be served."""


class Late(TimeoutError):
    """The sequence waited for a seat for too long."""


class Withdrawn(RuntimeError):
    """Another request of the sequence was cancelled."""


class Gone(RuntimeError):
    """The troupe has been dissolved."""


@dataclass(eq=False)
class Scene:
    """One sequence."""

    name: object
    order: int  # of its START
    over: bool = False  # no line of it will come any more


@dataclass(eq=False)
class Line:
    """One request: what the model gets, and the Future of its answer."""

    order: int
    scene: Scene
    item: Any
    start: bool
    end: bool
    future: Future[Any] = field(default_factory=Future)
    running: bool = False


def refuse(line: Line, error: BaseException) -> None:
    """Refuse a line, unless its sender has cancelled it."""
    if not line.future.done() and line.future.set_running_or_notify_cancel():
        line.future.set_exception(error)


class Stage:
    """One instance of the model: it collects what its players offer, and performs it in batches."""

    def __init__(self, troupe: Troupe, number: int, model: Callable[[list[Any]], Sequence[Any]]) -> None:
        self.troupe, self.number, self.model = troupe, number, model
        self.thread = ThreadPoolExecutor(1, thread_name_prefix=f"stage-{number}")
        self.free = troupe.seats
        self.offers: list[tuple[int, int, float, Line, Player, asyncio.Future[bool]]] = []
        self.changed = asyncio.Event()
        self.busy = False

    async def perform(self, player: Player, line: Line) -> bool:
        """Offer a line, and return whether the model answered it."""
        done = self.troupe.loop.create_future()
        heapq.heappush(self.offers, (line.order, next(self.troupe.ticks), time.monotonic(), line, player, done))
        self.changed.set()
        return await done

    def withdraw(self, scene: Scene) -> None:
        """Take back what a scene offers."""
        for offer in [one for one in self.offers if one[3].scene is scene]:
            self.offers.remove(offer)
            offer[5].set_result(False)
        heapq.heapify(self.offers)

    async def run(self) -> None:
        """Perform until the troupe is dissolved."""
        while True:
            size = await self.collect()
            batch = [heapq.heappop(self.offers) for _ in range(size)]
            batch = [one for one in batch if self.begins(one)]
            if batch:
                self.busy = True
                await self.play(batch)
                self.busy = False

    async def collect(self) -> int:
        """Wait until a batch is due, and return how many offers it has."""
        while True:
            self.changed.clear()
            now = time.monotonic()
            size = min(len(self.offers), self.troupe.limit)
            due = min((one[2] for one in self.offers), default=now) + self.troupe.delay_s
            best = max((one for one in self.troupe.preferred if one <= size), default=0)
            if best and (now < due or not self.troupe.delay_s):
                return best
            if size and (size == self.troupe.limit or now >= due):
                return size
            try:
                await asyncio.wait_for(self.changed.wait(), due - now if size else None)
            except asyncio.TimeoutError:
                continue

    def begins(self, offer: Any) -> bool:
        """Return whether the line is still wanted; from now on it cannot be cancelled."""
        line, player, done = offer[3:]
        if line.future.set_running_or_notify_cancel():
            line.running = True
            return True
        player.cancelled(line)
        done.set_result(False)
        return False

    async def play(self, batch: list[Any]) -> None:
        """Run the model once, and tell everybody."""
        calls = [self.troupe.call(line, player) for _, _, _, line, player, _ in batch]
        try:
            answers = await self.troupe.loop.run_in_executor(self.thread, self.model, self.number, calls)
        except Exception as error:  # noqa: BLE001 - whatever the model raises is its answer
            for _, _, _, line, player, done in batch:
                player.failed(line)
                line.future.set_exception(error)
                done.set_result(True)
            return
        for (_, _, _, line, player, done), (answer, state) in zip(batch, answers, strict=True):
            player.state = state
            line.future.set_result(answer)
            done.set_result(True)


class Player:
    """The actor of one correlation ID: it plays the sequences of this ID, one after another."""

    def __init__(self, troupe: Troupe, key: object) -> None:
        self.troupe, self.key = troupe, key
        self.mailbox: deque[Line] = deque()
        self.mail = asyncio.Event()
        self.scene: Scene | None = None  # to which the next line without START belongs
        self.stage: Stage | None = None
        self.seat: asyncio.Future[Stage] | None = None
        self.state = troupe.initial
        self.born = next(troupe.ticks)
        self.waited = False
        self.waits_since = 0
        self.under_way: Line | None = None
        self.playing = False

    async def play(self) -> None:
        """Play until the mailbox is empty and no sequence is open."""
        while self.mailbox:
            scene = self.mailbox[0].scene
            self.stage = await self.troupe.cast(self, scene)
            if self.stage is not None:
                self.state = self.troupe.initial
                await self.play_scene(scene)
                self.troupe.leave(self)
        self.troupe.players.pop(self.key, None)

    async def play_scene(self, scene: Scene) -> None:
        """Play the lines of one sequence, until its END, its cancellation, or until it was idle for too long."""
        assert self.stage is not None
        while True:
            if not self.mailbox:
                if self.scene is not scene:
                    return  # it was ended or cancelled
                if not await self.hears():
                    self.scene, scene.over = None, True
                    return
                continue
            line = self.mailbox[0]
            if line.scene is not scene:
                if scene.over:
                    return
                scene, self.state = line.scene, self.troupe.initial  # a START on a live sequence: it keeps the seat
                continue
            self.mailbox.popleft()
            self.under_way = line
            await self.stage.perform(self, line)
            self.under_way = None
            if line.end:
                return

    async def hears(self) -> bool:
        """Wait for mail, and return whether some came before the sequence was idle for too long."""
        self.mail.clear()
        try:
            await asyncio.wait_for(self.mail.wait(), self.troupe.idle_s)
        except asyncio.TimeoutError:
            return bool(self.mailbox)
        return True

    def failed(self, line: Line) -> None:
        """Do nothing: the state is what it was, and the next line is played."""

    def cancelled(self, line: Line) -> None:
        """End the sequence of a line that its sender has cancelled."""
        self.give_up(line.scene, Withdrawn("another request of the sequence was cancelled"))

    def give_up(self, scene: Scene, error: BaseException) -> None:
        """End a sequence: refuse all of its lines that are not in the model."""
        head = bool(self.mailbox) and self.mailbox[0].scene is scene
        lines = [line for line in self.mailbox if line.scene is scene]
        if self.under_way is not None and self.under_way.scene is scene and not self.under_way.running:
            lines.append(self.under_way)
        self.mailbox = deque(line for line in self.mailbox if line.scene is not scene)
        scene.over = True
        if self.scene is scene:
            self.scene = None
        if self.stage is not None:
            self.stage.withdraw(scene)
        elif self.seat is not None and not self.seat.done() and head:
            self.seat.cancel()
        for line in lines:
            refuse(line, error)
        self.mail.set()


class Troupe:
    """`submit` returns a Future.

    model(instance, calls) takes (item, start, end, name, state) of each request, and returns (answer, state).
    """

    def __init__(
        self, model: Callable[[int, list[Any]], Sequence[Any]], *, stages: int = 1, limit: int = 8, seats: int = 8,
        delay_s: float = 0.0, preferred: Sequence[int] = (), idle_s: float = 1.0, initial: Any = 0,
        accepted: Callable[[Any], None] = lambda item: None,
    ) -> None:  # fmt: skip
        self.limit, self.seats, self.delay_s, self.preferred = limit, seats, delay_s, tuple(preferred)
        self.idle_s, self.initial, self.accepted = idle_s, initial, accepted
        self.ticks = itertools.count()
        self.players: dict[object, Player] = {}
        self.lobby: deque[Player] = deque()
        self.tasks: set[asyncio.Task[None]] = set()
        self.closed = False
        self.loop = asyncio.new_event_loop()
        self.thread = threading.Thread(target=self.loop.run_forever, daemon=True, name="troupe")
        self.thread.start()
        asyncio.run_coroutine_threadsafe(self.open(model, stages), self.loop).result()

    async def open(self, model: Callable[[int, list[Any]], Sequence[Any]], stages: int) -> None:
        """Begin to collect on every stage."""
        self.stages = [Stage(self, number, model) for number in range(stages)]
        self.directors = [self.loop.create_task(stage.run()) for stage in self.stages]

    def key(self, name: object) -> object:
        """Return under which key a correlation ID is known; a number and a string never share one."""
        return (type(name), name)

    def submit(
        self, name: object, item: Any, *, start: bool = False, end: bool = False, timeout_s: float = 0.0
    ) -> Future[Any]:
        """Queue a request, in the order of the calls."""
        order = next(self.ticks)
        line = Line(order, Scene(name, order), item, start, end)
        if self.closed:
            line.future.set_exception(Gone("closed"))
            return line.future
        self.loop.call_soon_threadsafe(self.receive, name, line, timeout_s)
        return line.future

    def receive(self, name: object, line: Line, timeout_s: float) -> None:
        """Put a line into the mailbox of its player, or refuse it."""
        if line.future.cancelled():
            return
        if self.closed:
            line.future.set_exception(Gone("closed"))
            return
        player = self.players.get(self.key(name))
        if not line.start and (player is None or player.scene is None):
            line.future.set_exception(Malformed(f"sequence {name!r} is not open: its first request needs START"))
            return
        if player is None:
            player = self.players[self.key(name)] = Player(self, self.key(name))
        if line.start:
            player.scene = line.scene
        assert player.scene is not None
        line.scene = player.scene
        player.mailbox.append(line)
        if line.end:
            line.scene.over = True
            player.scene = None
        self.accepted(line.item)
        line.future.add_done_callback(lambda done: done.cancelled() and self.tell(player.cancelled, line))
        player.mail.set()
        if timeout_s:
            self.loop.call_later(timeout_s, self.late, player, line)
        if not player.playing:
            player.playing = True
            task = self.loop.create_task(player.play())
            self.tasks.add(task)
            task.add_done_callback(self.tasks.discard)

    def tell(self, what: Callable[..., None], *args: Any) -> None:
        """Call a function on the loop."""
        self.loop.call_soon_threadsafe(what, *args)

    def late(self, player: Player, line: Line) -> None:
        """Refuse a sequence whose line has waited in the lobby for too long."""
        if line in player.mailbox and player.stage is None:
            player.give_up(line.scene, Late("waited for a seat for too long"))

    async def cast(self, player: Player, scene: Scene) -> Stage | None:
        """Wait for a seat, first come first served; None if the sequence was given up meanwhile."""
        if self.lobby or not any(stage.free for stage in self.stages):
            player.seat = self.loop.create_future()
            place = sum(other.waits_since < scene.order for other in self.lobby)  # it may have come before some of them
            self.lobby.insert(place, player)
            player.waits_since = scene.order
            player.waited = True
            try:
                return await player.seat
            except asyncio.CancelledError:
                if player in self.lobby:
                    self.lobby.remove(player)
                return None
            finally:
                player.seat = None
        player.waited = False
        return self.seat()

    def seat(self) -> Stage:
        """Take a seat where most are free."""
        stage = max(self.stages, key=lambda one: one.free)
        stage.free -= 1
        return stage

    def leave(self, player: Player) -> None:
        """Give the seat to who waits longest."""
        assert player.stage is not None
        player.stage.free += 1
        player.stage = None
        self.admit()

    def admit(self) -> None:
        """Seat those who wait, as far as there are seats."""
        while self.lobby and any(stage.free for stage in self.stages):
            player = self.lobby.popleft()
            if player.seat is not None and not player.seat.done():
                player.stage = self.seat()
                player.seat.set_result(player.stage)

    def call(self, line: Line, player: Player) -> tuple[Any, bool, bool, object, int]:
        """Return what the model is told of a line."""
        return line.item, line.start, line.end, line.scene.name, player.state

    def close(self) -> None:
        """Refuse whatever is not in the model, and return when the model is free."""
        asyncio.run_coroutine_threadsafe(self.dissolve(), self.loop).result()
        for stage in self.stages:
            stage.thread.shutdown(wait=True)
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join()

    async def dissolve(self) -> None:
        """Refuse what waits, and wait for what is in the model."""
        self.closed = True
        for player in list(self.players.values()):
            scenes = {line.scene for line in player.mailbox} | ({player.scene} if player.scene else set())
            if player.under_way is not None:
                scenes.add(player.under_way.scene)
            for scene in scenes:
                player.give_up(scene, Gone("closed"))
        while any(stage.busy for stage in self.stages):
            await asyncio.sleep(0.001)
        for task in [*self.directors, *self.tasks]:
            task.cancel()
        await asyncio.gather(*self.directors, *self.tasks, return_exceptions=True)
