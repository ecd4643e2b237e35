"""The threaded engine: anybody submits, one thread tells what comes out, and every text is the model's own."""

from __future__ import annotations

import threading
from random import Random
from typing import TYPE_CHECKING, Any

import pytest

from batchproof.reference_batcher.continuous import EngineConfig, Request
from batchproof.reference_batcher.continuous.requests import Row
from batchproof.reference_batcher.continuous.threaded import Engine

if TYPE_CHECKING:
    from collections.abc import Sequence

    from batchproof.reference_batcher.continuous import Said

WAIT_S = 60
CONFIG = EngineConfig(max_num_seqs=4, max_num_batched_tokens=12, block_size=4, num_blocks=18, max_model_len=48)


class Heard:
    """A client: what it heard of each sample, and a moment to wait for."""

    def __init__(self, ends: int = 1) -> None:
        self.said: list[tuple[str, int, tuple[int, ...], str]] = []
        self._ends = ends
        self._ended = threading.Event()

    def __call__(self, one: Said) -> None:
        self.said.append((one.name, one.sample, one.tokens, one.end))
        if len(self.ends) == self._ends:
            self._ended.set()

    def wait(self) -> list[tuple[str, int, tuple[int, ...], str]]:
        assert self._ended.wait(WAIT_S)
        return self.said

    @property
    def ends(self) -> list[str]:
        return [end for *_, end in self.said if end]

    @property
    def text(self) -> list[int]:
        return [token for _, _, tokens, _ in self.said for token in tokens]


class Gated:
    """A model that says 1, 2, 3, ... and runs when it may."""

    def __init__(self) -> None:
        self.runs = 0
        self.entered, self.may = threading.Semaphore(0), threading.Semaphore(0)
        self.failing = False

    def __call__(self, rows: Sequence[Row]) -> list[int | None]:
        self.entered.release()
        assert self.may.acquire(timeout=WAIT_S)
        if self.failing:
            self.failing = False
            raise ValueError("out of memory")
        self.runs += 1
        return [self.runs if row.last else None for row in rows]

    def run(self, times: int = 1) -> None:
        """Let it run so often, and wait until each run has begun."""
        for _ in range(times):
            self.may.release()

    def held(self) -> None:
        """Wait until it has begun."""
        assert self.entered.acquire(timeout=WAIT_S)


def alone(prompt: tuple[int, ...], count: int) -> list[int]:
    """Return what the torch model says if it computes all of the text for each token, and nothing else."""
    from batchproof.reference_batcher.continuous.language_model import PagedLanguageModel

    model, tokens = PagedLanguageModel(CONFIG), prompt
    for _ in range(count):
        blocks = tuple(range(CONFIG.blocks_of(len(tokens))))
        tokens += tuple(model([Row(None, 0, tokens, blocks, last=True)]))
    return list(tokens[len(prompt) :])


@pytest.mark.parametrize("cached", [False, True], ids=["computed", "cached"])
def test_texts_of_a_torch_model_are_those_that_it_says_alone(cached: bool) -> None:
    """From four threads, in chunks, preempted, with a cached prefix: real attention through block tables."""
    pytest.importorskip("torch", reason="the extra `reference` (torch) is not installed")
    from batchproof.reference_batcher.continuous.language_model import PagedLanguageModel

    draw = Random(7)
    prompts = [(7,) * 9 + tuple(draw.randrange(256) for _ in range(draw.randint(1, 15))) for _ in range(12)]
    config = EngineConfig(**{**CONFIG.facts(), "prefix_cache": cached})
    clients = [Heard(2 if place % 3 == 0 else 1) for place in range(12)]

    with Engine(config, PagedLanguageModel(config)) as engine:
        def send(places: range) -> None:
            for place in places:
                asked = Request(f"r{place}", prompts[place], 20, samples=2 if place % 3 == 0 else 1)
                assert engine.submit(asked, clients[place]) is None

        threads = [threading.Thread(target=send, args=(range(first, 12, 4),)) for first in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        heard = [client.wait() for client in clients]
        gauges = engine.gauges()

    for prompt, said in zip(prompts, heard, strict=True):
        for sample in {sample for _, sample, _, _ in said}:
            assert [token for _, of, tokens, _ in said for token in tokens if of == sample] == alone(prompt, 20)
    assert (gauges["used_blocks"], gauges["preempted"] > 0, gauges["cached_tokens"] > 0) == (0, True, cached)


def test_tokens_are_told_before_the_next_run() -> None:
    """While the model runs a second time, its first token is told."""
    model, client = Gated(), Heard()
    with Engine(CONFIG, model) as engine:
        engine.submit(Request("a", (5,), 3), client)
        model.held()
        model.run()
        model.held()
        assert client.said == [("a", 0, (1,), "")]
        model.run(2)
        assert client.wait()[1:] == [("a", 0, (2,), ""), ("a", 0, (3,), "length")]


def test_an_abort_in_the_model_ends_the_text_once() -> None:
    """What the model says of it after that is not told, and the name is free at once."""
    model, gone, other = Gated(), Heard(), Heard()
    with Engine(CONFIG, model) as engine:
        engine.submit(Request("a", (5,), 3), gone)
        model.held()
        engine.abort("a")
        engine.abort("nobody")
        assert engine.submit(Request("a", (5,), 1), other) is None
        model.run(2)
        assert (gone.wait(), other.wait()) == ([("a", 0, (), "abort")], [("a", 0, (2,), "length")])


def test_a_model_that_raises_ends_its_iteration_only() -> None:
    """Who was in it is told `error`, who waits is served, and no block is lost."""
    model, clients = Gated(), [Heard() for _ in range(6)]
    model.failing = True
    with Engine(CONFIG, model) as engine:
        engine.submit(Request("0", (5,), 2), clients[0])
        model.held()
        for place in range(1, 6):
            engine.submit(Request(str(place), (5,), 2), clients[place])
        engine.abort("0")
        model.run()
        model.held()
        model.failing = True
        model.run(10)
        ends = [client.wait()[-1][-1] for client in clients]
        assert (ends, engine.gauges()["used_blocks"]) == (["abort", *["error"] * 4, "length"], 0)


def test_a_client_that_raises_hears_nothing_more() -> None:
    """Its request is aborted; the others go on."""
    model, other = Gated(), Heard()
    model.run(20)
    heard: list[Any] = []

    def broken(one: Said) -> None:
        heard.append(one.end)
        raise ConnectionError("gone")

    with Engine(CONFIG, model) as engine:
        engine.submit(Request("a", (5,), 9), broken)
        engine.submit(Request("b", (5,), 9), other)
        assert other.wait()[-1][-1] == "length"
        assert (heard, engine.gauges()["used_blocks"]) == (["", "abort"], 0)


def test_closing_takes_back_what_is_under_way() -> None:
    """Each request has one end, later ones are refused, and the thread is gone."""
    model, client = Gated(), Heard()
    engine = Engine(CONFIG, model)
    engine.submit(Request("a", (5,), 9), client)
    model.held()
    model.run(20)
    engine.close()
    engine.close()

    assert (client.ends, engine.submit(Request("b", (5,), 1), client)) == (["abort"], "the engine is closed")
    assert not engine._thread.is_alive()
