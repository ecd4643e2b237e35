"""What both shells share: from inputs to a queued request, from a batch to its answers. No thread, no clock."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from functools import partial

from . import execution
from .answer import LightFuture
from .cache import ResponseCache, key_of
from .config import BatcherConfig
from .core import DynamicBatcher
from .decisions import Dispatch, Entry
from .errors import BatcherError, Closed, Expired, Invalid, QueueFull
from .execution import Model, Tree
from .ordering import Ordering
from .statistics import Statistics


class Answer(LightFuture):
    """A request's Future. Cancelling it while it is queued takes the request out of the queue."""

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


class Service:
    """The core, and what surrounds it; the shell calls it under its own lock where that is said."""

    def __init__(self, config: BatcherConfig) -> None:
        self.config = config
        self.core = DynamicBatcher(config)
        self.statistics = Statistics()
        self.closed = False
        self._shape: Hashable = None
        self._names = {spec.name for spec in config.inputs}
        self._ragged = frozenset(spec.name for spec in config.inputs if spec.ragged)
        self._cache = ResponseCache() if config.response_cache else None
        self._ordering = Ordering() if config.preserve_ordering else None

    def entry(self, inputs: Tree, now_ns: int, priority: int, timeout_ns: int) -> Entry:
        """Make an entry; ValueError if the tensors' rows differ."""
        rows, shape = execution.rows_of(inputs), execution.shape_of(inputs, self._ragged)
        if shape == (last := self._shape):
            shape = last  # the same object, so that the core need not look into it
        self._shape = shape
        item = Request(inputs, key_of(inputs) if self._cache else b"", Answer())
        return Entry(rows, now_ns, item, priority, timeout_ns, shape)

    def known(self, entry: Entry) -> bool:
        """Answer from the cache, if it can."""
        if self._cache is None or self.closed or (known := self._cache.get(entry.item.key)) is None:
            return False
        self.statistics.count(success=1, cache_hits=1)
        entry.item.answer.set_running_or_notify_cancel()
        self._give(self.core.number(), lambda: entry.item.answer.set_result(known[0]))
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
        """The request was cancelled (under the shell's lock)."""
        if entry.item.answer.forget:
            entry.item.answer.forget = None  # who cancels twice is counted once
            if self.core.cancel(entry):
                entry.item.answer.set_running_or_notify_cancel()  # else `concurrent.futures.wait` never counts it
            self.statistics.count(cancelled=1)

    def begin(self, batch: Sequence[Entry]) -> tuple[Entry, ...]:
        """Return what is left of a batch that starts now: from here on none can be cancelled (under the shell's lock)."""
        return tuple([entry for entry in batch if entry.item.answer.set_running_or_notify_cancel()])

    def reject(self, entries: Sequence[Entry]) -> None:
        """Refuse requests whose queue timeout is over."""
        for entry in self.begin(entries):
            entry.item.answer.forget = None
            self.statistics.count(expired=1)
            entry.item.answer.set_exception(Expired("request timeout expired"))

    def run(self, model: Model, batch: Sequence[Entry], dispatch: Dispatch) -> None:
        """Execute what `begin` left of a dispatched batch and answer; an exception of the model fails all its requests."""
        self.execute(model, batch, dispatch)()

    def execute(self, model: Model, batch: Sequence[Entry], dispatch: Dispatch) -> Callable[[], None]:
        """As `run`, but do no more than the model needs to be free again: return what counts and answers."""
        if not batch:
            return partial(self._give, dispatch.number, _nothing)
        try:
            outputs = model(execution.concatenate([entry.item.inputs for entry in batch], self._ragged))
        except Exception as error:  # noqa: BLE001 - whatever a model raises belongs to its requests
            return partial(self._failed, dispatch.number, batch, error)
        return partial(self._done, dispatch.number, batch, outputs)

    def _done(self, number: int, batch: Sequence[Entry], outputs: Tree) -> None:
        sizes = [entry.rows for entry in batch]
        try:
            parts = execution.split(outputs, sizes)
        except Exception as error:  # noqa: BLE001 - so does what it returns
            self._failed(number, batch, error)
            return
        requests = _requests(batch)
        self.statistics.executed(sum(sizes), len(requests), failed=False)
        if self._cache:
            for request, part in zip(requests, parts, strict=True):
                self._cache.put(request.key, part)
        self._give(number, partial(_answer, requests, parts))

    def _failed(self, number: int, batch: Sequence[Entry], error: Exception) -> None:
        sizes = [entry.rows for entry in batch]
        self.statistics.executed(sum(sizes), len(batch), failed=True)
        self._give(number, partial(_fail, _requests(batch), error))

    def _give(self, number: int, give: Callable[[], None]) -> None:
        if self._ordering:
            self._ordering.done(number, give)
        else:
            give()


def _requests(batch: Sequence[Entry]) -> list[Request]:
    requests: list[Request] = [entry.item for entry in batch]
    for request in requests:
        request.answer.forget = None  # an answer that knows its entry is a cycle: it would keep the inputs alive
    return requests


def _answer(requests: Sequence[Request], parts: Sequence[Tree]) -> None:
    for request, part in zip(requests, parts, strict=True):
        request.answer.set_result(part)


def _fail(requests: Sequence[Request], error: Exception) -> None:
    for request in requests:
        request.answer.set_exception(error)


def _nothing() -> None:
    """All of the batch was cancelled."""
