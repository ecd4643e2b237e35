"""The reference batcher under test: the threaded shell with plain callables and torch."""

from __future__ import annotations

import asyncio
import concurrent.futures
import threading
import time
from concurrent.futures import Future, ThreadPoolExecutor, as_completed, wait
from typing import Any

import numpy as np
import pytest

from batchproof.bench.peers.device import Device
from batchproof.reference_batcher import Batcher, BatcherConfig, Closed, Expired, Oversize
from batchproof.reference_batcher.answer import LightFuture
from batchproof.reference_batcher.execution import rows_of
from batchproof.reference_batcher.threaded import ANSWER_NS

MS = 1_000_000
HOUR = 3_600_000 * MS
LONG = 60  # seconds that anything may take before a test fails; nothing waits that long


class Gated:
    """A model that stays in its first batch until it is released, and keeps its inputs."""

    def __init__(self, model: Any = lambda rows: rows) -> None:
        self._model = model
        self.entered, self.go = threading.Event(), threading.Event()
        self.batches: list[Any] = []

    def __call__(self, rows: Any) -> Any:
        """Note the batch, wait, and run the model."""
        self.batches.append(rows)
        self.entered.set()
        assert self.go.wait(LONG)
        return self._model(rows)


def behind_a_plug(batcher: Batcher, model: Gated, plug: Any, *requests: Any) -> list[Any]:
    """Queue the requests while the model is busy with `plug`, release it, and return the requests' results."""
    first = batcher.submit(plug)
    assert model.entered.wait(LONG)
    futures = [batcher.submit(one) for one in requests]
    model.go.set()
    first.result(LONG)
    return [future.result(LONG) for future in futures]


def outcome(future: Future[Any]) -> Any:
    """Return the exception of a Future, or its result."""
    return future.exception(LONG) or future.result()


def doubled(tree: Any) -> Any:
    """Return twice everything, in the same kind of tree."""
    if isinstance(tree, dict):
        return {key: doubled(value) for key, value in tree.items()}
    if isinstance(tree, tuple):
        return tuple(doubled(value) for value in tree)
    return [2 * row for row in tree] if isinstance(tree, list) else tree * 2


def plain(tree: Any) -> Any:
    """Return the same tree with lists in place of arrays, to compare."""
    if isinstance(tree, dict):
        return {key: plain(value) for key, value in tree.items()}
    return tuple(plain(value) for value in tree) if isinstance(tree, tuple) else list(tree)


@pytest.mark.parametrize(
    "kind",
    [
        lambda *rows: list(rows),
        lambda *rows: np.array(rows),
        lambda *rows: (np.array(rows), list(rows)),
        lambda *rows: {"a": np.array(rows), "b": (list(rows), np.array(rows))},
    ],
    ids=["list", "array", "tuple", "dict"],
)
def test_each_request_gets_its_own_rows(kind: Any) -> None:
    """Requests of several rows, in any kind of tree, travel together and come back apart."""
    model = Gated(doubled)

    with Batcher(model, BatcherConfig(max_batch_size=8)) as batcher:
        results = behind_a_plug(batcher, model, kind(0), kind(1), kind(2, 3, 4), kind(5, 6))

    assert [rows_of(batch) for batch in model.batches] == [1, 6]
    assert [plain(result) for result in results] == [plain(kind(2)), plain(kind(4, 6, 8)), plain(kind(10, 12))]


def test_a_full_batch_leaves_at_once() -> None:
    """Requests that fill a batch are served although the queue delay is an hour."""
    with Batcher(doubled, BatcherConfig(max_batch_size=3, max_queue_delay_ns=HOUR)) as batcher:
        futures = [batcher.submit([1, 2]), batcher.submit([3])]

        assert [future.result(LONG) for future in futures] == [[2, 4], [6]]


def test_an_error_reaches_its_own_batch_only() -> None:
    """An exception of the model is raised, unchanged, by the Future of each member and by no other."""
    boom = RuntimeError("boom")

    def model(rows: list[int]) -> list[int]:
        if -1 in rows:
            raise boom
        return rows

    gated = Gated(model)
    with Batcher(gated, BatcherConfig(max_batch_size=2)) as batcher:
        plug = batcher.submit([0])
        assert gated.entered.wait(LONG)
        futures = [batcher.submit([row]) for row in (1, -1, 3, 4)]
        gated.go.set()

        assert [outcome(future) for future in (plug, *futures)] == [[0], boom, boom, [3], [4]]


@pytest.mark.parametrize("size", [0, 5], ids=["empty", "one too many"])
def test_a_size_that_never_fits_is_refused(size: int) -> None:
    """A request without rows, or with more rows than a batch may hold, is refused through its Future, at once."""
    with Batcher(doubled, BatcherConfig(max_batch_size=4)) as batcher:
        future = batcher.submit(list(range(size)))

        assert future.done()
        with pytest.raises(Oversize, match="at least 1 row" if size == 0 else "5 must be <= 4"):
            future.result()


@pytest.mark.parametrize("tree", [{"a": [1], "b": [1, 2]}, ([1], [1, 2]), {}, ()], ids=str)
def test_a_tree_without_one_number_of_rows_is_refused(tree: Any) -> None:
    """Tensors of one request with different numbers of rows, or no tensor at all, are the caller's ValueError."""
    with Batcher(doubled) as batcher, pytest.raises(ValueError, match="the same number of rows"):
        batcher.submit(tree)


@pytest.mark.parametrize("change", [lambda rows: rows[1:], lambda rows: [*rows, 0]], ids=["lost", "added"])
def test_a_model_that_miscounts_fails_its_batch(change: Any) -> None:
    """A model that loses or adds a row fails every member, so that no request gets a neighbour's row."""
    model = Gated(change)
    with Batcher(model, BatcherConfig(max_batch_size=4)) as batcher:
        plug = batcher.submit([0])
        assert model.entered.wait(LONG)
        futures = [batcher.submit([row, row]) for row in (1, 2)]
        model.go.set()
        errors = [future.exception(LONG) for future in (plug, *futures)]

    assert [type(error) for error in errors] == [ValueError] * 3
    assert "rows for a batch of 4" in str(errors[1])


def test_close_serves_what_is_queued_and_refuses_what_comes() -> None:
    """Closing answers every accepted request without waiting for more, and accepts no other.

    Closing twice is closing once.
    """
    model = Gated()
    batcher = Batcher(model, BatcherConfig(max_batch_size=4, max_queue_delay_ns=HOUR))
    futures = [batcher.submit([row]) for row in range(6)]
    assert model.entered.wait(LONG)

    closing = threading.Thread(target=batcher.close)
    closing.start()
    while not (futures[-1].done() and isinstance(futures[-1].exception(), Closed)):
        time.sleep(0.001)
        futures.append(batcher.submit([9]))
    model.go.set()
    closing.join(LONG)
    batcher.close()

    assert [future.result(LONG) for future in futures[:6]] == [[row] for row in range(6)]
    assert all(future.done() for future in futures)
    assert isinstance(outcome(batcher.submit([7])), Closed)


def test_close_may_be_called_by_a_callback() -> None:
    """Closing on the batcher's own thread, from a Future's callback, does not wait for itself."""
    model = Gated()
    batcher = Batcher(model, BatcherConfig(max_batch_size=1))
    first = batcher.submit([0])
    assert model.entered.wait(LONG)
    second = batcher.submit([1])

    first.add_done_callback(lambda _: batcher.close())
    model.go.set()

    assert (first.result(LONG), second.result(LONG)) == ([0], [1])


def test_instances_run_at_once() -> None:
    """As many batches are in the model at one time as there are instances."""
    meeting = threading.Barrier(3)

    def model(rows: list[int]) -> list[int]:
        meeting.wait(LONG)
        return rows

    with Batcher(model, BatcherConfig(max_batch_size=1, instances=3)) as batcher:
        futures = [batcher.submit([row]) for row in range(3)]

        assert [future.result(LONG) for future in futures] == [[0], [1], [2]]


def test_each_instance_may_have_its_own_model() -> None:
    """A sequence of models gives each instance one, and there must be as many as instances."""
    meeting = threading.Barrier(2)

    def model(name: str) -> Any:
        return lambda rows: (meeting.wait(LONG), [name] * len(rows))[1]

    with Batcher([model("a"), model("b")], BatcherConfig(max_batch_size=1, instances=2)) as batcher:
        results = [future.result(LONG) for future in [batcher.submit([0]), batcher.submit([1])]]

    assert sorted(results) == [["a"], ["b"]]
    with pytest.raises(ValueError, match="1 models for 2 instances"):
        Batcher([model("a")], BatcherConfig(instances=2))


def test_queue_timeout_refuses_while_the_model_is_busy() -> None:
    """A request that waits for longer than its queue timeout is refused then, and never reaches the model."""
    model = Gated()
    with Batcher(model, BatcherConfig(max_batch_size=4, queue_timeout_ns=50 * MS)) as batcher:
        plug = batcher.submit([0])
        while not model.entered.wait(0.01):  # a host that stalls may let the plug itself expire
            plug = batcher.submit([0]) if plug.done() else plug
        late = batcher.submit([1])

        assert isinstance(late.exception(LONG), Expired)
        assert not plug.done()
        assert batcher.queued() == 0
        model.go.set()

    assert model.batches == [[0]]


def test_many_threads_may_submit() -> None:
    """Requests from eight threads are each executed once and answered with their own rows."""
    seen: list[int] = []

    def model(rows: list[int]) -> list[int]:
        seen.extend(rows)
        return [2 * row for row in rows]

    with Batcher(model, BatcherConfig(max_batch_size=8, max_queue_delay_ns=MS)) as batcher, ThreadPoolExecutor(8) as pool:
        futures = list(pool.map(lambda row: batcher.submit([row]), range(400)))
        results = [future.result(LONG) for future in futures]

    assert results == [[2 * row] for row in range(400)]
    assert sorted(seen) == list(range(400))


def test_only_a_queued_request_can_be_cancelled() -> None:
    """A cancelled request leaves the queue and is never executed; one that is being executed can no longer be cancelled."""
    model = Gated()

    with Batcher(model) as batcher:
        plug = batcher.submit([0])
        assert model.entered.wait(LONG)
        queued = batcher.submit([1])
        cancelled = [future.cancel() for future in (plug, queued)]
        model.go.set()
        waiting = wait([plug, queued], LONG).not_done

    assert cancelled == [False, True]
    assert not waiting
    assert (plug.result(), queued.cancelled()) == ([0], True)
    assert model.batches == [[0]]
    assert batcher.statistics()["cancelled"] == 1


def test_torch_module_runs_in_evaluation_and_inference_mode() -> None:
    """A torch module is not in training mode, records no gradients, and gives in a batch what it gives alone."""
    torch = pytest.importorskip("torch", reason="the extra `reference` (torch) is not installed")
    torch.set_num_threads(1)
    module = torch.nn.Sequential(torch.nn.Linear(4, 3), torch.nn.Dropout(0.9))
    images = torch.rand(5, 4, generator=torch.Generator().manual_seed(1729))

    with Batcher(module, BatcherConfig(max_batch_size=4, max_queue_delay_ns=HOUR)) as batcher:
        futures = [batcher.submit(rows) for rows in images[:4].split(2)]
        results = torch.cat([future.result(LONG) for future in futures])

    assert not module.training
    assert not results.requires_grad
    assert torch.allclose(results, module[0](images[:4]))


@pytest.mark.parametrize(
    ("forward", "tree"),
    [
        (lambda _, batch: {"sum": batch["a"] + batch["b"]}, lambda rows: {"a": rows, "b": rows}),
        (lambda _, a, b: {"sum": a + b}, lambda rows: (rows, rows)),
    ],
    ids=["dict", "tuple"],
)
def test_torch_module_takes_trees(forward: Any, tree: Any) -> None:
    """A dict is a torch module's one argument, a tuple is its arguments, and outputs may be dicts."""
    torch = pytest.importorskip("torch", reason="the extra `reference` (torch) is not installed")
    module = type("Sum", (torch.nn.Module,), {"forward": forward})()
    rows = torch.arange(6.0).reshape(3, 2)

    with Batcher(module, BatcherConfig(max_batch_size=3, max_queue_delay_ns=HOUR)) as batcher:
        futures = [batcher.submit(tree(rows[:1])), batcher.submit(tree(rows[1:]))]
        sums = [future.result(LONG)["sum"].tolist() for future in futures]

    assert sums == [(2 * rows[:1]).tolist(), (2 * rows[1:]).tolist()]


def test_an_answer_has_what_the_standard_future_has() -> None:
    """The Future that is cheap to make has every field of the standard one, with the same value, except the Condition."""
    standard, light = vars(Future()), LightFuture()

    assert {name: getattr(light, name) for name in standard if name != "_condition"} == {
        name: value for name, value in standard.items() if name != "_condition"
    }


def test_an_answer_can_be_waited_for_in_every_way() -> None:
    """Threads, `wait`, `as_completed`, asyncio and callbacks all receive an answer, and a timeout is one."""
    model = Gated()
    with Batcher(model, BatcherConfig(max_batch_size=4)) as batcher, ThreadPoolExecutor(4) as pool:
        future = batcher.submit([1])
        with pytest.raises(concurrent.futures.TimeoutError):
            future.result(0.001)
        called: list[Future[Any]] = []
        future.add_done_callback(called.append)

        async def awaited() -> Any:
            return await asyncio.wrap_future(future)

        ways = [
            lambda: future.result(LONG),
            lambda: future.exception(LONG),
            lambda: wait([future], LONG).done.pop().result(),
            lambda: next(as_completed([future], LONG)).result(),
        ]
        heard = [pool.submit(way) for way in ways]
        model.go.set()

        assert [one.result(LONG) for one in heard] == [[1], None, [1], [1]]
        assert (asyncio.run(awaited()), called) == ([1], [future])
        assert (future.running(), future.done(), future.cancel(), future.cancelled()) == (False, True, False, False)


def test_answers_are_given_although_the_next_batch_cannot_be_built() -> None:
    """A batch with requests that do not fit together fails alone, without the model; those before it are answered."""
    model = Gated(Device(5 * ANSWER_NS))
    with Batcher(model, BatcherConfig(max_batch_size=2)) as batcher:
        plug = batcher.submit([0])
        assert model.entered.wait(LONG)
        odd = [batcher.submit("a"), batcher.submit([1])]  # neither has a shape, so the core takes them for alike
        model.go.set()

        assert plug.result(LONG) == [0]
        assert [type(future.exception(LONG)) for future in odd] == [ValueError, ValueError]
    assert model.batches == [[0]]
