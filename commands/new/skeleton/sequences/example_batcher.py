"""A batcher of sequences as many people write it: one thread gives each sequence a place, and calls the model."""

import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any


class Refused(ValueError):
    """The request can never be served."""


@dataclass(eq=False)
class Step:
    """One request of a sequence. id: the correlation ID."""

    item: Any
    id: int | str
    start: bool
    end: bool
    future: Future[Any] = field(default_factory=Future)


@dataclass(eq=False)
class _Series:
    """One sequence, from its START. steps: what waits. ended: nothing more will come. last: when it was last busy."""

    id: int | str
    steps: deque[Step] = field(default_factory=deque)
    ended: bool = False
    last: float = 0.0


class Batcher:
    """`submit` returns a Future of this item's output.

    `model` takes a list with a Step for each place, or None for a place without a request, and returns as many outputs.
    A sequence keeps its place until its END, until it is idle for longer than `max_idle_s`, or until it is cancelled.
    """

    def __init__(self, model: Callable[[list[Step | None]], Sequence[Any]], max_batch_size: int, max_idle_s: float) -> None:
        self.model, self.max_idle_s = model, max_idle_s
        self.places: list[_Series | None] = [None] * max_batch_size
        self.line: list[_Series] = []  # those without a place, in the order of their START
        self.open: dict[int | str, _Series] = {}  # the latest of each ID
        self.changed = threading.Condition()
        threading.Thread(target=self._loop, daemon=True).start()

    def submit(self, item: Any, id_: int | str, *, start: bool, end: bool) -> Future[Any]:
        """Queue one item of a sequence. Its Future can be cancelled until the item is taken."""
        step = Step(item, id_, start, end)
        with self.changed:
            series = self.open.get(id_)
            if not id_ or len(item) != 1 or not (start or (series and not series.ended)):
                step.future.set_exception(
                    Refused("it needs one row, a correlation ID, and START if the sequence is not open")
                )
                return step.future
            if start or series is None:
                if series:
                    series.ended = True  # it is over when what it has sent is done
                series = self.open[id_] = _Series(id_)
                self.line.append(series)
            series.steps.append(step)
            series.ended = end
            self.changed.notify()
        step.future.add_done_callback(lambda future: self._cut(series, step) if future.cancelled() else None)
        return step.future

    def _cut(self, series: _Series, step: Step) -> None:
        """End a sequence with a request that was cancelled, and those that wait behind it."""
        with self.changed:
            if step in series.steps:
                series.ended = True
                behind = [series.steps.pop() for _ in range(len(series.steps) - series.steps.index(step))]
                for one in behind:
                    one.future.cancel()
                self.changed.notify()

    def _loop(self) -> None:
        while True:
            with self.changed:
                while not any(batch := self._next()):
                    self.changed.wait(self.max_idle_s / 4 if any(self.places) else None)
            self._run(batch)

    def _next(self) -> list[Step | None]:
        """Free the places of sequences that are over, give them to those that wait, and take the next step of each."""
        now = time.monotonic()
        for place, series in enumerate(self.places):
            if series and not series.steps and (series.ended or now - series.last > self.max_idle_s):
                series.ended, self.places[place] = True, None
                if self.open.get(series.id) is series:
                    del self.open[series.id]
        self.line = [series for series in self.line if series.steps]
        for series in list(self.line):
            if None in self.places and series.id not in {one.id for one in self.places if one}:
                self.places[self.places.index(None)] = series
                self.line.remove(series)
        last = max((place for place, series in enumerate(self.places) if series), default=-1)
        return [self._taken(series) for series in self.places[: last + 1]]

    def _taken(self, series: _Series | None) -> Step | None:
        if not (series and series.steps) or series.steps[0].future.cancelled():  # `_cut` takes away what was cancelled
            return None
        return series.steps.popleft() if series.steps[0].future.set_running_or_notify_cancel() else None

    def _run(self, batch: list[Step | None]) -> None:
        try:
            outputs = self.model(batch)
        except Exception as error:
            outputs = [error for _ in batch]
        with self.changed:
            for series in filter(None, self.places):
                series.last = time.monotonic() if any(step and step.id == series.id for step in batch) else series.last
        for step, output in zip(batch, outputs, strict=True):
            if step and isinstance(output, Exception):
                step.future.set_exception(output)
            elif step:
                step.future.set_result(output)
