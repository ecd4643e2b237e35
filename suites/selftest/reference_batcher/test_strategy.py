"""Custom batching in the reference batcher: the five hooks, and what becomes of a batch when one raises."""

from __future__ import annotations

import logging
import time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from batchproof.reference_batcher import Batcher, BatcherConfig, StrategyError
from batchproof.reference_batcher.core import DynamicBatcher
from batchproof.reference_batcher.decisions import Dispatch, Entry, Reject
from batchproof.reference_batcher.strategy import HOOKS

HOUR = 3_600_000_000_000


class Pairs:
    """Two requests a batch. fails: the hook that raises, at its call with this number."""

    def __init__(self, fails: str = "", call: int = 1) -> None:
        self.calls: list[Any] = []
        self._fails, self._call = fails, call

    def batcher_initialize(self, config: BatcherConfig) -> None:
        """Log."""
        self._called("batcher_initialize", config.name)

    def batch_initialize(self) -> list[str]:
        """Return a list of those who have joined."""
        self._called("batch_initialize")
        return []

    def include(self, request: Entry, record: list[str]) -> bool:
        """Refuse the third."""
        self._called("include", str(request.inputs))
        joins = len(record) < 2
        record += [request.inputs] * joins
        return joins

    def batch_finalize(self, record: list[str]) -> None:
        """Log who has joined."""
        self._called("batch_finalize", "".join(map(str, record)))

    def batcher_finalize(self) -> None:
        """Log."""
        self._called("batcher_finalize")

    def _called(self, *call: str) -> None:
        self.calls.append(call)
        if call[0] == self._fails and [name for name, *_ in self.calls].count(call[0]) == self._call:
            raise KeyError("tokens")


class Item:
    """What a shell knows about a request."""

    def __init__(self, inputs: str) -> None:
        self.inputs = inputs


def core(strategy: Pairs, *names: str, **config: Any) -> DynamicBatcher:
    """A core with these requests in its queue, which are as old as their place."""
    made = DynamicBatcher(BatcherConfig(**config), strategy)
    for at, name in enumerate(names):
        made.enqueue(Entry(1, at, Item(name)))
    return made


def left(batcher: DynamicBatcher, now_ns: int = 10) -> str:
    """Return who leaves, and how: `ab` is a batch, `-ab` were refused, and `` means that it waits."""
    decision = batcher.poll(now_ns)
    if isinstance(decision, Dispatch):
        batcher.finished(decision.instance)
        return "".join(entry.inputs for entry in decision.batch)
    return "-" + "".join(entry.inputs for entry in decision.entries) if isinstance(decision, Reject) else ""


def test_hooks_in_order() -> None:
    """Each batch has a record; who is refused begins the next one, without a wait; the strategy ends with the batcher."""
    strategy = Pairs()
    batcher = core(strategy, *"abc", max_queue_delay_ns=HOUR)

    assert [left(batcher), left(batcher)] == ["ab", ""]
    batcher.drain()
    assert [left(batcher), left(batcher), left(batcher)] == ["c", "", ""]
    assert [" ".join(call) for call in strategy.calls] == [
        "batcher_initialize model",
        "batch_initialize", "include a", "include b", "include c", "batch_finalize ab",
        "batch_initialize", "include c", "batch_finalize c",
        "batcher_finalize",
    ]  # fmt: skip


def test_a_batch_that_is_begun_anew_has_a_new_record() -> None:
    """Somebody more urgent comes while the batch waits: its record is ended, and nobody is in two records."""
    strategy = Pairs()
    batcher = core(strategy, "a", max_queue_delay_ns=HOUR, priority_levels=2, default_priority_level=2)
    assert left(batcher) == ""
    batcher.enqueue(Entry(1, 5, Item("u"), priority=1))

    assert left(batcher) == ""
    assert [" ".join(call) for call in strategy.calls[1:]] == [
        "batch_initialize", "include a", "batch_finalize a", "batch_initialize", "include u", "include a",
    ]  # fmt: skip


def test_a_request_that_is_refused_even_alone_is_served() -> None:
    """The first request of a batch joins whatever the strategy says, and then nobody else does, whatever it would say."""

    class Nobody(Pairs):
        def include(self, request: Entry, record: list[str]) -> bool:
            """Refuse everybody but b."""
            del record
            return str(request.inputs) == "b"

    batcher = core(Nobody(), "a", "b", "c", max_queue_delay_ns=HOUR)

    assert [left(batcher), left(batcher), left(batcher), left(batcher)] == ["a", "b", "c", ""]


def test_a_batch_that_is_taken_back_may_fail_to_end() -> None:
    """Nobody is left to be told when the batcher is closed; the strategy still ends."""
    strategy = Pairs("batch_finalize")
    batcher = core(strategy, "a", max_queue_delay_ns=HOUR)
    assert left(batcher) == ""
    assert batcher.cancel(next(iter(batcher.queue)))
    batcher.drain()

    assert left(batcher) == ""
    assert [name for name, *_ in strategy.calls][-2:] == ["batch_finalize", "batcher_finalize"]


@pytest.mark.parametrize(
    ("hook", "call", "wanted"),
    [
        ("batch_initialize", 1, ["-a", "bc", "d"]),
        ("batch_initialize", 2, ["ab", "-c", "d"]),
        ("include", 1, ["-a", "bc", "d"]),
        ("include", 2, ["-ab", "cd"]),
        ("include", 3, ["-abc", "d"]),
        ("batch_finalize", 1, ["-ab", "cd"]),
        ("batch_finalize", 2, ["ab", "-cd"]),
    ],
)
def test_a_hook_that_raises_harms_one_batch(hook: str, call: int, wanted: list[str]) -> None:
    """The requests of the batch that is being formed fail, and the next batch is as if nothing had happened."""
    strategy = Pairs(hook, call)
    batcher = core(strategy, *"abcd")
    seen = []
    while batcher.waiting:
        seen.append(left(batcher))

    assert seen == wanted
    made, ended = ([name for name, *_ in strategy.calls].count(it) for it in ("batch_initialize", "batch_finalize"))
    assert made - ended == (hook == "batch_initialize")  # that one has made no record


def test_a_hook_that_raises_is_told_to_the_requests() -> None:
    """The Future raises the batcher's own error, with the hook and the exception, and the batcher lives."""
    with Batcher(lambda rows: rows, strategy=Pairs("batch_initialize")) as batcher:
        with pytest.raises(StrategyError, match="hook batch_initialize raised KeyError: 'tokens'"):
            batcher.submit([1]).result(10)
        assert batcher.submit([2]).result(10) == [2]
        assert batcher.statistics()["failed"] == 1


def test_the_last_hook_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    """No request is left that could be told of it."""
    with caplog.at_level(logging.ERROR), Batcher(lambda rows: rows, strategy=Pairs("batcher_finalize")) as batcher:
        assert batcher.submit([1]).result(10) == [1]

    assert "batcher_finalize raised" in caplog.text


def test_no_batcher_without_a_whole_strategy() -> None:
    """It is refused before any thread has started, and so is one that cannot begin."""
    with pytest.raises(TypeError, match=f"object is not a batching strategy: it lacks {', '.join(HOOKS)}"):
        Batcher(lambda rows: rows, strategy=object())  # type: ignore[arg-type]
    with pytest.raises(KeyError):
        Batcher(lambda rows: rows, strategy=Pairs("batcher_initialize"))


def test_a_slow_hook_loses_nothing() -> None:
    """Requests that come while a hook is at work are served, too."""
    config = BatcherConfig(strategy="slow:5", max_batch_size=4)
    with Batcher(lambda rows: rows, config) as batcher:
        futures = []
        for number in range(12):
            futures.append(batcher.submit([number]))
            time.sleep(0.001)
        assert [future.result(10) for future in futures] == [[number] for number in range(12)]


SMALL = st.lists(st.tuples(st.integers(1, 4), st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=12)


@settings(max_examples=200, database=None, deadline=None)
@given(SMALL, st.integers(1, 6), st.integers(0, 2), st.integers(0, 2))
def test_any_traffic(requests: list[tuple[int, int, int]], limit: int, delay: int, levels: int) -> None:
    """Everybody leaves once; no batch is above the strategy's limit or max_batch_size; each record is ended once."""
    strategy = Counting(limit)
    config = BatcherConfig(max_batch_size=4, max_queue_delay_ns=delay * 1000, priority_levels=levels,
                           default_priority_level=min(levels, 1))  # fmt: skip
    batcher, now, batches = DynamicBatcher(config, strategy), 0, []

    def ask() -> None:
        while isinstance(decision := batcher.poll(now), Dispatch):
            batches.append([entry.inputs for entry in decision.batch])
            batcher.finished(decision.instance)

    for number, (rows, gap, priority) in enumerate(requests):
        now += gap * 1000
        batcher.enqueue(Entry(rows, now, Item(str(number)), priority))
        ask()
    batcher.drain()
    ask()

    assert sorted(name for batch in batches for name in batch) == sorted(map(str, range(len(requests))))
    volumes = [[int(requests[int(name)][0]) for name in batch] for batch in batches]
    assert all(len(batch) == 1 or sum(batch) <= min(4, limit) for batch in volumes)
    assert strategy.open == []
    assert strategy.made == strategy.ended


class Counting:
    """At most so many rows a batch; it counts its records."""

    def __init__(self, limit: int) -> None:
        self.limit, self.made, self.ended = limit, 0, 0
        self.open: list[list[int]] = []

    def batcher_initialize(self, config: BatcherConfig) -> None:
        """Do nothing."""

    def batch_initialize(self) -> list[int]:
        """Return a list of rows."""
        self.made += 1
        self.open.append([])
        return self.open[-1]

    def include(self, request: Entry, record: list[int]) -> bool:
        """Join if the rows fit."""
        assert self.open == [record]
        if sum(record) + request.rows > self.limit and record:
            return False
        record.append(request.rows)
        return True

    def batch_finalize(self, record: list[int]) -> None:
        """Forget it."""
        self.ended += 1
        self.open.remove(record)

    def batcher_finalize(self) -> None:
        """Do nothing."""
