"""Custom batching: a strategy of the user's decides who joins a batch, through five hooks.

The hooks are those of Triton's custom batching (core/include/triton/core/tritonbackend.h, TRITONBACKEND_ModelBatch...). The
batcher calls them for the batch at the head of its queue, and they decide nothing but where that batch ends: the order of
the queue, `max_batch_size`, the queue delay and all else stay the batcher's affair.
"""

from __future__ import annotations

import contextlib
import logging
from typing import Any, Protocol

from .config import BatcherConfig
from .decisions import Entry
from .errors import StrategyError
from .lookahead import Head

HOOKS = ("batcher_initialize", "batch_initialize", "include", "batch_finalize", "batcher_finalize")


class BatchStrategy(Protocol):
    """What decides who joins a batch. The batcher calls one hook at a time, under its lock: a slow hook makes all wait.

    A record is whatever the strategy wants to remember about one batch. Each batch has a record of its own. The batcher may
    begin a batch anew, with a new record, when somebody else has come to the head of its queue; so there can be more
    records than batches.

    A hook that raises fails the requests of the batch that is being formed, with a `StrategyError`, and no others.
    """

    def batcher_initialize(self, config: BatcherConfig) -> None:
        """Begin. This is called once, before any other hook. If it raises, the batcher does not start."""

    def batch_initialize(self) -> Any:
        """Return the record of a new batch."""

    def include(self, request: Entry, record: Any) -> bool:
        """Return whether this request joins the batch: its `rows`, `inputs` and `priority` are known.

        If it does not, the batch leaves without it, and the request begins the next one. The first request of a batch joins
        whatever the answer is, otherwise it would never be served; if it is refused, nobody else joins it.
        """

    def batch_finalize(self, record: Any) -> None:
        """End a record: its batch is complete, or is begun anew."""

    def batcher_finalize(self) -> None:
        """End. It is called once, when the batcher is closed and its queue is empty."""


class Hooks:
    """Calls a strategy's hooks for one batch after another; TypeError names the hooks that it lacks."""

    def __init__(self, strategy: BatchStrategy, config: BatcherConfig) -> None:
        if lacking := [name for name in HOOKS if not callable(getattr(strategy, name, None))]:
            raise TypeError(f"{type(strategy).__name__} is not a batching strategy: it lacks {', '.join(lacking)}")
        self._strategy = strategy
        self._closed = False
        strategy.batcher_initialize(config)

    def include(self, entry: Entry, head: Head) -> bool:
        """Return whether the strategy lets a request join; StrategyError if a hook raises."""
        try:
            if not head.record:
                head.record = (self._call("batch_initialize"),)
            return bool(self._call("include", entry, *head.record))
        except StrategyError as error:
            with contextlib.suppress(StrategyError):  # one error is enough, and the record is ended once
                self.end(head)
            error.batch = (*head.batch, entry)
            raise

    def end(self, head: Head) -> None:
        """End the record of a batch, if it has one; StrategyError if the hook raises."""
        record, head.record = head.record, ()
        try:
            if record:
                self._call("batch_finalize", *record)
        except StrategyError as error:
            error.batch = tuple(head.batch)
            raise

    def close(self) -> None:
        """End the strategy, once. There is no request that could be told of an exception, so it is logged."""
        if self._closed:
            return
        self._closed = True
        try:
            self._strategy.batcher_finalize()
        except Exception:
            logging.getLogger(__name__).exception("the batching strategy's hook batcher_finalize raised")

    def _call(self, hook: str, *arguments: Any) -> Any:
        try:
            return getattr(self._strategy, hook)(*arguments)
        except Exception as error:
            what = f"the batching strategy's hook {hook} raised {type(error).__name__}: {error}"
            raise StrategyError(what) from error
