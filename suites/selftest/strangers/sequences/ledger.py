"""A batcher of sequences over a ledger: one journal of requests in their order of arrival, and one table of sessions.

A session that is served owns a row of the table. Row `r` is place `r % slots` in the batches of instance `r // slots`, and
the row's column `states` has what the session keeps. A batch is found by reading the journal from its beginning: the first
entry of each row that is not in the model. Sessions whose time of idleness is over are evicted, least recently used first.
"""

from __future__ import annotations

import contextlib
import itertools
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any


class Unknown(ValueError):
    """The request belongs to no open session, or cannot be served."""


class Overdue(TimeoutError):
    """The session has waited for a row for too long."""


class Dropped(RuntimeError):
    """Another request of the session was cancelled."""


class Shut(RuntimeError):
    """The ledger is closed."""


@dataclass(eq=False)
class Session:
    """One sequence. after: the session of the same name that has to be over before this one gets a row."""

    name: Any
    after: Session | None
    row: int | None = None
    steps: int = 0
    pending: int = 0  # entries in the journal
    running: bool = False
    sealed: bool = False  # no further entry will come
    over: bool = False


@dataclass(eq=False)
class Entry:
    """One request."""

    session: Session
    item: Any
    end: bool
    arrived: float
    overdue: float | None
    future: Future[Any] = field(default_factory=Future)
    taken: bool = False


class Ledger:
    """`submit` returns a Future.

    model(instance, places) has a place for each row up to the last one: (item, start, end, name, state), or None. It returns
    as many (answer, state).
    """

    def __init__(
        self, model: Callable[[int, list[Any]], Sequence[Any]], *, instances: int = 1, slots: int = 8,
        delay_s: float = 0.0, utilization: float = 0.0, idle_s: float = 1.0, initial: Any = 0,
        accepted: Callable[[Any], None] = lambda item: None,
    ) -> None:  # fmt: skip
        self.model, self.instances, self.slots = model, instances, slots
        self.delay_s, self.utilization, self.idle_s, self.initial, self.accepted = (
            delay_s, utilization, idle_s, initial, accepted,
        )  # fmt: skip
        self.lock = threading.Condition()  # reentrant: whoever is told of a refusal may call again
        self.journal: list[Entry] = []
        self.table: OrderedDict[Any, Session] = OrderedDict()  # open sessions
        self.used: OrderedDict[Session, float] = OrderedDict()  # least recently used first
        self.rows: list[Session | None] = [None] * (instances * slots)
        self.taken = [0] * instances  # a bit for each slot
        self.states = [initial] * (instances * slots)
        self.left = [""] * (instances * slots)  # why the row's last session left it
        self.waiting: list[Session] = []
        self.closed = False
        self.threads = [
            threading.Thread(target=self.serve, args=(number,), daemon=True, name=f"ledger-{number}")
            for number in range(instances)
        ]
        self.threads.append(threading.Thread(target=self.evict, daemon=True, name="ledger-evict"))
        for thread in self.threads:
            thread.start()

    # --- requests in

    def submit(
        self, name: Any, item: Any, *, start: bool = False, end: bool = False, timeout_s: float = 0.0
    ) -> Future[Any]:
        """Enter a request into the journal, or refuse it."""
        with self.lock:
            now = time.monotonic()
            self.evict_idle(now)
            session = self.table.get(key(name))
            if refusal := self.refusal(name, session, start):
                future: Future[Any] = Future()
                future.set_exception(refusal)
                return future
            if start:
                if session is not None:
                    self.seal(session)
                session = self.table[key(name)] = Session(name, self.last(name))
                self.waiting.append(session)
            assert session is not None
            entry = Entry(session, item, end, now, now + timeout_s if timeout_s else None)
            self.journal.append(entry)
            session.pending += 1
            self.used[session] = now
            self.used.move_to_end(session)
            if end:
                session.sealed = True
                self.table.pop(key(name))
            self.accepted(item)
            self.assign()
            self.lock.notify_all()
        entry.future.add_done_callback(lambda done: self.cancelled(entry) if done.cancelled() else None)
        return entry.future

    def refusal(self, name: Any, session: Session | None, start: bool) -> Exception | None:
        """Return why a request cannot be taken; None if it can."""
        if self.closed:
            return Shut("closed")
        if session is None and not start:
            return Unknown(f"no session {name!r} is open: the first request needs START")
        return None

    def last(self, name: Any) -> Session | None:
        """Return the newest session of this name that is not over."""
        for session in reversed(self.used):
            if session.name == name and type(session.name) is type(name) and not session.over:
                return session
        return None

    def seal(self, session: Session) -> None:
        """Begin no more steps of a session than it has in the journal."""
        session.sealed = True
        if not session.pending and not session.running:
            self.finish(session, "restart")

    # --- rows

    def assign(self) -> None:
        """Give free rows to the sessions that wait, in the order in which they came."""
        for session in list(self.waiting):
            if session.after is not None and not session.after.over:
                continue
            row = self.free_row()
            if row is None:
                return
            self.waiting.remove(session)
            session.row, session.after = row, None
            self.rows[row] = session
            self.states[row] = self.initial
            self.taken[row // self.slots] |= self.bit(row)

    def free_row(self) -> int | None:
        """Return a free row: the lowest slot, over all instances."""
        for slot, instance in itertools.product(range(self.slots), range(self.instances)):
            row = instance * self.slots + slot
            if not self.taken[instance] & self.bit(row):
                return row
        return None

    def bit(self, row: int) -> int:
        """Return the bit of a row's slot."""
        return 1 << row % self.slots

    def finish(self, session: Session, why: str) -> None:
        """A session is over: its row is free, and its name too."""
        session.over = True
        if self.table.get(key(session.name)) is session:
            del self.table[key(session.name)]
        if session.row is not None:
            self.rows[session.row] = None
            self.left[session.row] = why
            self.taken[session.row // self.slots] &= ~self.bit(session.row)
        elif session in self.waiting:
            self.waiting.remove(session)
        self.forget(session, why)
        self.assign()
        self.lock.notify_all()

    def forget(self, session: Session, why: str) -> None:
        """Drop what is known about a session that is over."""
        self.used.pop(session, None)
        session.row = None

    # --- what ends a session early

    def cancelled(self, entry: Entry) -> None:
        """Drop a session whose sender has cancelled one of its requests."""
        with self.lock:
            if not entry.taken and not entry.session.over:
                self.drop(entry.session, Dropped("another request of the session was cancelled"), "cancel")

    def drop(self, session: Session, error: Exception, why: str) -> None:
        """Refuse what a session has in the journal, and end it as soon as it is out of the model."""
        mine = [entry for entry in self.journal if entry.session is session]
        self.journal = [entry for entry in self.journal if entry.session is not session]
        session.pending, session.sealed = 0, True
        if self.table.get(key(session.name)) is session:
            del self.table[key(session.name)]
        for entry in mine:
            entry.taken = True
            if not entry.future.done() and entry.future.set_running_or_notify_cancel():
                entry.future.set_exception(error)
        if not session.running:
            self.finish(session, why)

    def evict(self) -> None:
        """End idle sessions, and refuse those that have waited for too long."""
        with self.lock:
            while not self.closed:
                now = time.monotonic()
                self.evict_idle(now)
                late = [
                    one for one in self.journal
                    if one.overdue is not None and one.overdue <= now and one.session.row is None and not one.session.over
                ]  # fmt: skip
                for entry in late:
                    if not entry.taken:
                        self.drop(entry.session, Overdue("waited for a row for too long"), "timeout")
                ends = [at + self.idle_s for one, at in self.used.items() if self.is_idle(one)]
                ends += [one.overdue for one in self.journal if one.overdue is not None and one.session.row is None]
                self.lock.wait(max(0.0, min(ends) - time.monotonic()) if ends else None)

    def evict_idle(self, now: float) -> None:
        """End the sessions that are idle for too long."""
        for session, at in list(self.used.items()):
            if at + self.idle_s >= now:
                break
            if self.is_idle(session):
                self.finish(session, "idle")

    def is_idle(self, session: Session) -> bool:
        """Return whether a session has nothing to do."""
        return not session.pending and not session.running

    # --- batches out

    def serve(self, instance: int) -> None:
        """Run the batches of one instance until the ledger is closed."""
        while True:
            with self.lock:
                while not (batch := self.due(instance)):
                    if self.closed:
                        return
                    self.lock.wait(self.patience(instance))
                    self.evict_idle(time.monotonic())
                batch = self.take(batch)
                places = self.places(instance, batch)
            if batch:
                self.run(instance, batch, places)

    def ready(self, instance: int) -> list[Entry]:
        """Return the first entry of each row of an instance, in the order of the journal."""
        found: dict[int, Entry] = {}
        for entry in self.journal:
            row = entry.session.row
            if row is not None and row // self.slots == instance and not entry.session.running:
                found.setdefault(row, entry)
        return list(found.values())

    def due(self, instance: int) -> list[Entry]:
        """Return the entries that leave now."""
        entries = self.ready(instance)
        if not entries or not self.delay_s or not self.utilization:
            return entries
        enough = len(entries) / self.slots >= self.utilization
        return entries if enough or min(one.arrived for one in entries) + self.delay_s <= time.monotonic() else []

    def patience(self, instance: int) -> float | None:
        """Return how long nothing will be due if nothing comes."""
        entries = self.ready(instance)
        return max(0.0, min(one.arrived for one in entries) + self.delay_s - time.monotonic()) if entries else None

    def take(self, entries: list[Entry]) -> list[Entry]:
        """Take entries out of the journal; one that was cancelled takes its session along."""
        taken = []
        for entry in entries:
            if entry.taken:
                continue
            if not entry.future.set_running_or_notify_cancel():
                self.drop(entry.session, Dropped("another request of the session was cancelled"), "cancel")
                continue
            entry.taken = True
            entry.session.running = True
            entry.session.pending -= 1
            taken.append(entry)
        self.journal = [entry for entry in self.journal if not entry.taken]
        return taken

    def places(self, instance: int, batch: list[Entry]) -> list[Any]:
        """Return what the model is told of each place, up to the last row that is taken."""
        first = instance * self.slots
        last = max((row for row in range(first, first + self.slots) if self.rows[row] is not None), default=first - 1)
        places: list[Any] = [None] * (last + 1 - first)
        for entry in batch:
            session = entry.session
            assert session.row is not None
            places[session.row - first] = (
                entry.item, session.steps == 0, entry.end, session.name, self.states[session.row],
            )  # fmt: skip
        return places

    def run(self, instance: int, batch: list[Entry], places: list[Any]) -> None:
        """Run the model once, keep the states, and answer."""
        error, answers = None, []
        try:
            answers = list(self.model(instance, places))
        except Exception as raised:  # noqa: BLE001 - whatever the model raises is its answer
            error = raised
        replies: list[tuple[Entry, Any]] = []
        with self.lock:
            now = time.monotonic()
            for entry in batch:
                session = entry.session
                session.running = False
                if session in self.used:
                    self.used[session] = now
                    self.used.move_to_end(session)
                session.steps = session.steps + 1
                if error is None and session.row is not None:
                    answer, self.states[session.row] = answers[session.row - instance * self.slots]
                    replies.append((entry, answer))
                else:
                    replies.append((entry, error))
                if entry.end or (session.sealed and not session.pending):
                    self.finish(session, "end")
            self.lock.notify_all()
        for entry, answer in replies:
            if error is None:
                entry.future.set_result(answer)
            else:
                entry.future.set_exception(error)

    def close(self) -> None:
        """Refuse what waits, and return when the model is free."""
        with self.lock:
            self.closed = True
            for session in list(self.used):
                self.drop(session, Shut("closed"), "closed")
            self.lock.notify_all()
        for thread in self.threads:
            with contextlib.suppress(RuntimeError):
                thread.join()


def key(name: Any) -> Any:
    """Return under which key the table has a session; a number and a string never share one."""
    return (type(name), name)
