"""What the scheduler decides, iteration by iteration: each test writes down all of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from batchproof.reference_batcher.continuous import EngineConfig, Request, Scheduler

if TYPE_CHECKING:
    from batchproof.reference_batcher.continuous import Said


def config(**asked: object) -> EngineConfig:
    """Return a configuration with blocks of four tokens."""
    return EngineConfig(**{"max_num_seqs": 2, "max_num_batched_tokens": 8, "block_size": 4, "max_model_len": 32, **asked})


def request(name: str, prompt: int = 4, max_tokens: int = 2, **asked: object) -> Request:
    """Return a request whose prompt's tokens are like those of no other request."""
    return Request(name, tuple(ord(name) * 100 + place for place in range(prompt)), max_tokens, **asked)


class Run:
    """A scheduler whose model says 7, 7, 7.

    lines: each iteration, a word a row: `a0+4` is four tokens of `a` from place 0 on. ends: `a1 length` is sample 1 of `a`.
    """

    def __init__(self, config: EngineConfig) -> None:
        self.scheduler = Scheduler(config)
        self.lines: list[str] = []
        self.ends: list[str] = []
        self.preempted: list[str] = []

    def step(self) -> str:
        """Run an iteration; return its line."""
        iteration = self.scheduler.schedule()
        rows = [f"{row.sequence.request.name}{row.start}+{len(row.tokens)}" for row in iteration.rows]
        self.preempted += [one.request.name for one in iteration.preempted]
        self.note(self.scheduler.finished(iteration, [7 if row.last else None for row in iteration.rows]))
        self.lines.append(" ".join(rows))
        return self.lines[-1]

    def note(self, said: list[Said]) -> None:
        """Keep the ends."""
        self.ends += [f"{one.name}{one.sample or ''} {one.end}" for one in said if one.end]

    def all(self, *requests: Request) -> list[str]:
        """Add requests, and run to the end; return the lines."""
        assert [self.scheduler.add(one) for one in requests] == [None] * len(requests)
        while self.scheduler.busy and len(self.lines) < 100:
            self.step()
        return self.lines


def test_the_running_go_first_and_the_first_who_waits_fills_the_rest() -> None:
    """At most two rows, at most eight tokens; who has ended makes room in the next iteration."""
    run = Run(config())

    assert run.all(request("a"), request("b", 6, 1), request("c")) == ["a0+4 b0+4", "a4+1 b4+2", "c0+4", "c4+1"]
    assert run.ends == ["a length", "b length", "c length"]


def test_without_chunks_a_prompt_waits_for_room() -> None:
    """It is computed in one iteration, and blocks those behind it."""
    run = Run(config(chunked_prefill=False, max_num_batched_tokens=32, max_num_seqs=3))

    lines = run.all(request("a", 20, 2), request("b", 20, 1), request("c", 4, 1))

    assert lines == ["a0+20", "a20+1 b0+20 c0+4"]


def test_the_newest_is_preempted_and_computes_its_text_again() -> None:
    """Of two that grow into the last block, the first gets it; the other one begins anew, with what it has said."""
    run = Run(config(num_blocks=3))

    lines = run.all(request("a", 4, 4), request("b", 4, 4))

    assert lines == ["a0+4 b0+4", "a4+1", "a5+1", "a6+1", "b0+5", "b5+1", "b6+1"]
    assert (run.preempted, run.ends) == (["b"], ["a length", "b length"])


def test_a_lower_priority_number_is_admitted_first_and_preempted_last() -> None:
    """Arrival decides between equals; a running one is not displaced by who waits."""
    run = Run(config(policy="priority", num_blocks=3, max_num_seqs=2))
    run.scheduler.add(request("a", 4, 4, priority=2))
    run.step()

    lines = run.all(request("b", 4, 1, priority=1), request("c", 4, 4), request("d", 4, 1))

    assert lines == ["a0+4", "a4+1 c0+4", "c4+1", "c5+1 d0+4", "c6+1 b0+4", "a0+6", "a6+1"]
    assert run.preempted == ["a"]


def test_a_cached_prefix_is_not_computed_again() -> None:
    """The block of the last token is, even if all of the prompt is cached."""
    run = Run(config(prefix_cache=True))
    prompt = tuple(range(100, 108))

    lines = run.all(Request("a", prompt, 1))
    lines = run.all(Request("b", prompt, 1), Request("c", (*prompt, 1, 2), 1), Request("d", (0, *prompt[1:]), 1))

    assert lines == ["a0+8", "b4+4 c8+2", "d0+8"]
    assert run.scheduler.gauges()["cached_tokens"] == 12


def test_samples_end_one_by_one() -> None:
    """Each is a row of its own."""
    run = Run(config())

    assert run.all(request("a", samples=2)) == ["a0+4 a0+4", "a4+1 a4+1"]
    assert run.ends == ["a length", "a1 length"]


@pytest.mark.parametrize(
    ("asked", "ends", "tokens"),
    [
        ({"max_tokens": 3}, ["a length"], 3),
        ({"prompt": 30, "max_tokens": 9}, ["a length"], 2),
        ({"stop": (5, 7)}, ["a stop"], 1),
        ({"stop": (7,), "max_tokens": 1}, ["a stop"], 1),
    ],
    ids=["max_tokens", "edge", "stop", "both"],
)
def test_a_text_ends(asked: dict[str, object], ends: list[str], tokens: int) -> None:
    """At max_tokens, at the edge of the context, or with a stop token, which is a part of it."""
    run = Run(config())
    run.all(request("a", **asked))

    gauges = run.scheduler.gauges()
    assert (run.ends, gauges["output_tokens"], gauges["used_blocks"]) == (ends, tokens, 0)


@pytest.mark.parametrize(
    ("asked", "why"),
    [
        (request("a", 0), "the prompt is empty"),
        (request("a", max_tokens=0), "max_tokens must be at least 1, not 0"),
        (request("a", samples=0), "samples must be at least 1, not 0"),
        (request("a", 32), "a prompt of 32 tokens leaves no room for another one: max_model_len is 32"),
        (request("a", 8, 6), "13 tokens need 4 blocks, and there are 3"),
        (request("b"), "a request 'b' is under way"),
    ],
    ids=["empty", "max_tokens", "samples", "long", "blocks", "duplicate"],
)
def test_a_refusal_says_why(asked: Request, why: str) -> None:
    """The scheduler is as it was before."""
    scheduler = Scheduler(config(num_blocks=3))
    scheduler.add(request("b", 8, 5))
    before = scheduler.gauges()

    assert (scheduler.add(asked), scheduler.gauges()) == (why, before)


@pytest.mark.parametrize("steps", [0, 1, 2, 3], ids=["waiting", "prefill", "between", "decode"])
def test_an_aborted_request_leaves_at_once(steps: int) -> None:
    """Its blocks are free, nobody else is disturbed, and its name can be used again."""
    run = Run(config(max_num_seqs=1))
    run.scheduler.add(request("a", 20, 5))
    for _ in range(steps):
        run.step()
    run.note(run.scheduler.abort("a"))
    run.note(run.scheduler.abort("a"))

    assert (run.ends, run.scheduler.gauges()["used_blocks"], run.scheduler.busy) == (["a abort"], 0, False)
    assert run.all(request("a", 4, 1))[-1] == "a0+4"


def test_a_request_that_is_aborted_in_the_model_keeps_its_blocks_until_it_comes_back() -> None:
    """Nobody can be given what the model writes into; what it says is lost."""
    scheduler = Scheduler(config())
    scheduler.add(request("a"))
    iteration = scheduler.schedule()

    assert [one.end for one in scheduler.abort("a")] == ["abort"]
    assert scheduler.gauges()["used_blocks"] == 1
    assert scheduler.finished(iteration, [7]) == []
    assert scheduler.gauges()["used_blocks"] == 0
    with pytest.raises(RuntimeError, match="is not running"):
        scheduler.finished(iteration, [7])
