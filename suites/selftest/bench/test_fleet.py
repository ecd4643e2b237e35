"""Models that are compared come up at once if the target can do that, and none is left behind."""

import signal
import threading
import time
from concurrent.futures import Future
from dataclasses import replace
from types import SimpleNamespace

import pytest

from batchproof.bench.fleet import together
from batchproof.bench.measurement import Bench
from batchproof.load.workload import WORKS
from batchproof.reference_batcher import BatcherConfig
from batchproof.targets.protocol import TargetError, TargetInfo
from batchproof.targets.verbs import full

WORK = WORKS["accelerator"]
CONFIGS = [BatcherConfig(max_batch_size=size) for size in (1, 2, 4)]


class Model:
    """Answers at once, and notes that it was closed."""

    def __init__(self, config, closed):
        self.config, self._closed = config, closed

    def submit(self, _request):
        future = Future()
        future.set_result(None)
        return future

    def close(self):
        self._closed.append(self.config)


class Fleet:
    """A target that notes which models come and go. `meet`: how many threads must be in `deploy` at the same time."""

    def __init__(self, at_once, meet=1, breaks=None, **claims):
        self.info = TargetInfo("fleet", "1", "here", claims=claims)
        self.up, self.closed, self._breaks = [], [], breaks
        self._barrier = threading.Barrier(meet)
        if at_once:
            self.deploys_at_once = at_once

    def deploy(self, config):
        self._barrier.wait(timeout=10)
        if config == self._breaks:
            raise TargetError("refused")
        self.up.append(config)
        return Model(config, self.closed)


@pytest.fixture
def bench_on(bench):
    def make(fleet):
        return replace(bench(), target=full(fleet))

    return make


def test_they_come_up_at_once_and_stay(bench_on):
    """All three are in `deploy` at the same time, and a model that was used can be used again."""
    fleet = Fleet(3, meet=3)
    with together(bench_on(fleet), WORK, CONFIGS) as serve:
        assert set(fleet.up) == set(CONFIGS)
        for config in (*CONFIGS, CONFIGS[0]):
            with serve(config) as served:
                assert served.deployment.inner.config == config
        assert fleet.closed == []
    assert sorted(config.max_batch_size for config in fleet.closed) == [1, 2, 4]


@pytest.mark.parametrize(
    ("fleet", "work"),
    [(Fleet(0), WORK), (Fleet(3, side_by_side=False), WORK), (Fleet(3), SimpleNamespace(name="big", model="image"))],
    ids=["not-claimed", "not-side-by-side", "torch"],
)
def test_others_come_up_when_asked_for(bench_on, fleet, work, monkeypatch):
    """They come up one after the other, and each goes before the next one comes."""
    torch = "batchproof.load.workload._torch"
    monkeypatch.setattr(torch, lambda target, _work, config, *_: Up(target.deploy(config)))
    with together(bench_on(fleet), work, CONFIGS) as serve:
        assert fleet.up == []
        for number, config in enumerate(CONFIGS, 1):
            with serve(config):
                assert (len(fleet.up), len(fleet.closed)) == (number, number - 1)


class Up:
    """Stands in for `Served`, with a torch model."""

    def __init__(self, model):
        self._model, self.clock = model, SimpleNamespace(wait=lambda *_: True, now_ns=lambda: 0)
        self.submit, self.close = model.submit, model.close

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def test_a_refused_model_takes_all_others_away(bench_on):
    """The error is the target's own, and every model that came up before or after is closed."""
    fleet = Fleet(3, meet=3, breaks=CONFIGS[1])
    with pytest.raises(TargetError, match="refused"), together(bench_on(fleet), WORK, CONFIGS):
        pytest.fail("one of them is missing")
    eventually(lambda: len(fleet.closed) == len(fleet.up))
    assert set(fleet.closed) == set(fleet.up) == {CONFIGS[0], CONFIGS[2]}


def test_an_interruption_does_not_wait_for_a_server_that_hangs(bench_on, monkeypatch):
    """After Ctrl-C, a model that comes up later is closed at once, and one that had not begun to come up never does."""
    fleet, go = Fleet(1), threading.Event()
    one = bench_on(fleet)
    serve = one.serve

    def slow(work, config):
        signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)
        go.wait(10)
        return serve(work, config)

    monkeypatch.setattr(Bench, "serve", lambda _, work, config: slow(work, config))
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt), together(one, WORK, CONFIGS):
            pytest.fail("not all are up")
    finally:
        signal.signal(signal.SIGINT, before)
    assert fleet.up == []
    go.set()
    eventually(lambda: fleet.closed)
    assert fleet.closed == fleet.up == CONFIGS[:1]


def eventually(true):
    """Wait until something is true; pytest's timeout ends it."""
    while not true():
        time.sleep(0.01)
