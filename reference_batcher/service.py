"""What the shells that answer requests share: from inputs to a queued request, and from a batch to its answers.

It has no thread, no lock and no clock. The core decides what runs; the response cache and the order of answers are not the
core's affair, so they are here.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from functools import partial

from . import execution
from .answer import LightFuture
from .cache import ResponseCache, key_of
from .config import BatcherConfig
from .decisions import CANCELLED, Dispatch, Entry, Reject
from .disciplines import core_of
from .errors import BatcherError, Cancelled, Closed, Expired, Invalid, QueueFull
from .execution import Model, Tree
from .ordering import Ordering
from .protocol import Core
from .sequence_inputs import SequenceInputs
from .statistics import Statistics
from .strategy import BatchStrategy


class Answer(LightFuture):
    """A request's Future. Cancelling it while the request is queued takes the request out of the queue."""

    forget: Callable[[], None] | None = None

    def cancel(self) -> bool:
        """Cancel the request; False if it is in a batch already, or settled."""
        if not super().cancel():
            return False
        if forget := self.forget:
            forget()
        return True


@dataclass(eq=False, slots=True)
class Request:
    """What `Entry.item` holds. key: of the response cache, if there is one."""

    inputs: Tree
    key: bytes
    answer: Answer


@dataclass(eq=False, slots=True)
class Run:
    """One run of the model.

    batch: the requests of the dispatch, without those that were settled before it started. staying: those among them that
    are not finished by it. turn: its place in the order of answers. instance, slots: where it runs, see `Dispatch`.
    """

    batch: tuple[Entry, ...]
    staying: tuple[Entry, ...]
    turn: int
    instance: int = 0
    slots: tuple[int, ...] = ()


class Service:
    """A core, and what surrounds it. Methods that say so are called under the shell's lock, as the core's are."""

    def __init__(self, config: BatcherConfig, core: Core | None = None, strategy: BatchStrategy | None = None) -> None:
        self.config = config
        self.core = core_of(config, strategy) if core is None else core
        self.statistics = Statistics()
        self.closed = False
        self._shape: Hashable = None
        self._names = {spec.name for spec in config.inputs}
        self._ragged = frozenset(spec.name for spec in config.inputs if spec.ragged)
        self._cache = ResponseCache() if config.response_cache else None
        self._ordering = Ordering() if config.preserve_ordering else None
        self._turns = itertools.count()  # of runs, and of answers that need none
        self._staying: set[Entry] = set()
        self.sequences = SequenceInputs(config.sequence) if config.sequence else None

    def entry(
        self,
        inputs: Tree,
        now_ns: int,
        priority: int,
        timeout_ns: int,
        sequence: int | str = 0,
        *,
        start: bool = False,
        end: bool = False,
    ) -> Entry:
        """Make an entry; ValueError if the tensors' rows differ, or if the inputs of a sequence have no names."""
        if self.sequences is not None and not isinstance(inputs, dict):
            raise ValueError("a batcher of sequences passes control inputs by name: give the inputs as a dict of tensors")
        rows, shape = execution.rows_of(inputs), execution.shape_of(inputs, self._ragged)
        if shape == (last := self._shape):
            shape = last  # the same object, so that comparing it costs nothing
        self._shape = shape
        item = Request(inputs, key_of(inputs) if self._cache else b"", Answer())
        return Entry(rows, now_ns, item, priority, timeout_ns, shape, sequence, start, end)

    def answer_from_cache(self, entry: Entry) -> bool:
        """Answer the request without a run, if its answer is known."""
        if self._cache is None or self.closed or (known := self._cache.get(entry.item.key)) is None:
            return False
        self.statistics.count(success=1, cache_hits=1)
        entry.item.answer.set_running_or_notify_cancel()
        self._give(next(self._turns), lambda: entry.item.answer.set_result(known[0]))
        return True

    def take(self, entry: Entry) -> None:
        """Queue the request, or refuse it (under the shell's lock)."""
        if refusal := self._refusal(entry) or self.core.enqueue(entry):
            entry.item.answer.forget = None
            self.statistics.count(full=isinstance(refusal, QueueFull))
            entry.item.answer.set_exception(refusal)

    def _refusal(self, entry: Entry) -> BatcherError | None:
        if self.closed:
            return Closed("the batcher is closed and takes no new requests")
        if self._names and isinstance(entry.item.inputs, dict) and entry.item.inputs.keys() != self._names:
            given = set(entry.item.inputs)
            if missing := [spec.name for spec in self.config.inputs if not spec.optional and spec.name not in given]:
                return Invalid(f"'{self.config.name}' needs the input {', '.join(missing)}")
            if unknown := given - {spec.name for spec in self.config.inputs}:
                return Invalid(f"'{self.config.name}' has no input {', '.join(sorted(unknown))}")
        return None

    def forget(self, entry: Entry) -> None:
        """Take a request that was cancelled out of the queue (under the shell's lock)."""
        if entry.item.answer.forget:
            entry.item.answer.forget = None  # a request that is cancelled twice is counted once
            if self.core.cancel(entry):
                entry.item.answer.set_running_or_notify_cancel()  # otherwise `concurrent.futures.wait` never counts it
            self.statistics.count(cancelled=1)

    def close(self) -> None:
        """Take no new requests, and let the core serve what is queued (under the shell's lock)."""
        self.closed = True
        self.core.drain()

    def begin(self, dispatch: Dispatch) -> Run:
        """Start a run: from here on none of its requests can be cancelled (under the shell's lock)."""
        batch = self._started(dispatch.batch)
        if self._staying or dispatch.staying:
            self._staying = self._staying.difference(dispatch.batch).union(dispatch.staying)
        slots = dispatch.slots
        if slots and len(batch) < len(slots):
            place = dict(zip(dispatch.batch, slots, strict=True))
            slots = tuple(place[entry] for entry in batch)
        return Run(batch, dispatch.staying, next(self._turns), dispatch.instance, slots)

    def _started(self, batch: Sequence[Entry]) -> tuple[Entry, ...]:
        going_on = self._staying
        if not going_on:
            return tuple([entry for entry in batch if entry.item.answer.set_running_or_notify_cancel()])
        batch = [entry for entry in batch if entry not in going_on or not entry.item.answer.done()]  # unless a run failed
        return tuple([entry for entry in batch if entry in going_on or entry.item.answer.set_running_or_notify_cancel()])

    def reject(self, refused: Reject) -> None:
        """Refuse requests for the reason that is given."""
        for entry in self._started(refused.entries):
            entry.item.answer.forget = None
            if refused.error:
                self.statistics.count(failed=1)
                entry.item.answer.set_exception(refused.error)
            elif refused.reason == CANCELLED:
                self.statistics.count(cancelled=1)
                entry.item.answer.set_exception(Cancelled("another request of the sequence was cancelled"))
            else:
                self.statistics.count(expired=1)
                entry.item.answer.set_exception(Expired("request timeout expired"))

    def execute(self, model: Model, run: Run) -> Callable[[], None]:
        """Run the model, and do no more than it takes to free it; return what counts the requests and answers them.

        An exception of the model fails all requests of the batch.
        """
        settle = self._execute(model, run)
        if run.staying:  # a request that has failed must be known to have failed before its next run
            settle()
            return _nothing
        return settle

    def _execute(self, model: Model, run: Run) -> Callable[[], None]:
        if not run.batch:
            return partial(self._give, run.turn, _nothing)
        try:
            outputs = model(execution.concatenate(self._inputs(run), self._ragged))
        except Exception as error:  # noqa: BLE001 - whatever a model raises belongs to its requests
            return partial(self._failed, run, error)
        if self.sequences is not None:
            return self._stepped(self.sequences, run, outputs)
        return partial(self._done, run, outputs)

    def _inputs(self, run: Run) -> list[Tree]:
        if self.sequences is None:
            return [entry.item.inputs for entry in run.batch]
        return self.sequences.trees(run.instance, run.batch, run.slots)

    def _stepped(self, sequences: SequenceInputs, run: Run, outputs: Tree) -> Callable[[], None]:
        """Keep the states before the next batch of the instance begins, and answer when there is time."""
        try:
            places = execution.split(outputs, [1] * len(sequences.places(run.slots)))
            parts = sequences.parts(run.instance, run.batch, run.slots, places)
        except Exception as error:  # noqa: BLE001 - so does what it returns
            return partial(self._failed, run, error)
        return partial(self._answer, run, parts)

    def _done(self, run: Run, outputs: Tree) -> None:
        sizes = [entry.rows for entry in run.batch]
        try:
            parts = execution.split(outputs, sizes)
        except Exception as error:  # noqa: BLE001 - so does what it returns
            self._failed(run, error)
            return
        self._answer(run, parts)

    def _answer(self, run: Run, parts: Sequence[Tree]) -> None:
        sizes = [entry.rows for entry in run.batch]
        answers = [(entry.item, part) for entry, part in zip(run.batch, parts, strict=True) if entry not in run.staying]
        self.statistics.executed(sum(sizes), len(answers), failed=False)
        if self._cache:
            for request, part in answers:
                self._cache.put(request.key, part)
        self._give(run.turn, partial(_answer, answers))

    def _failed(self, run: Run, error: Exception) -> None:
        sizes = [entry.rows for entry in run.batch]
        self.statistics.executed(sum(sizes), len(run.batch), failed=True)
        self._give(run.turn, partial(_fail, [entry.item for entry in run.batch], error))

    def _give(self, turn: int, give: Callable[[], None]) -> None:
        if self._ordering:
            self._ordering.done(turn, give)
        else:
            give()


def _answer(answers: Sequence[tuple[Request, Tree]]) -> None:
    for request, part in answers:
        request.answer.forget = None  # an answer that knows its entry is a cycle: it would keep the inputs alive
        request.answer.set_result(part)


def _fail(requests: Sequence[Request], error: Exception) -> None:
    for request in requests:
        request.answer.forget = None
        request.answer.set_exception(error)


def _nothing() -> None:
    """Give no answer: every request of the batch was cancelled, or its answers have been given."""
