"""Runs of load on an engine in simulated time: exact times, checked texts, and engines that do wrong."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from batchproof.load.generation.demand import Demand, demand
from batchproof.load.generation.lengths import Lengths
from batchproof.load.generation.runs import Loaded
from batchproof.load.generation.samples import Objective
from batchproof.load.schedule import Schedule, constant
from batchproof.reference_batcher.continuous import EngineConfig, Scheduler
from batchproof.reference_batcher.virtual import VirtualClock
from batchproof.stats.arrays import NEVER
from batchproof.targets.engines import Output
from batchproof.targets.engines.reference import ReferenceEngine
from batchproof.targets.witness import language

MS = 1_000_000
S = 1_000_000_000
CONFIG = EngineConfig(4, 64, 16, 64, 128)


class Odd(ReferenceEngine):
    """An engine that does one thing wrong, by name."""

    def __init__(self, wrong: str = "", config: EngineConfig = CONFIG) -> None:
        super().__init__(Scheduler(config), config, VirtualClock())
        self.wrong = wrong
        self.device(10 * MS, MS)

    def step(self) -> tuple[list[Output], bool]:
        """Run an iteration, and change what it says."""
        outputs, busy = super().step()
        return [one for output in outputs for one in self._changed(output)], busy

    def _changed(self, output: Output) -> list[Output]:
        match self.wrong:
            case "text":
                return [Output(output.name, tuple(token ^ 1 for token in output.tokens), output.end)]
            case "short":
                return [Output(output.name, output.tokens, "length" if output.tokens else "")]
            case "twice" if output.end:
                return [output, output]
            case "stranger":
                return [output, Output("nobody", (17,))]
            case "silent":
                return []
        return [output]


def loaded(wrong: str = "", limits: EngineConfig = CONFIG) -> Loaded:
    """Return such an engine, as it is loaded. limits: those that it is held to."""
    engine = Odd(wrong)
    return Loaded(engine, limits, language, 30 * S, clock=engine.clock)


def asked(due: list[int], prompts: list[int], texts: list[int]) -> Demand:
    """Return requests with these numbers."""
    columns = (np.array(one, np.int64) for one in (prompts, texts))
    return Demand(Schedule(np.array(due, np.int64), "by hand"), *columns, np.zeros(len(due), np.int32))


def test_latency_counts_from_the_due_time() -> None:
    """The first iteration takes 10 ms + 8 ms, and who comes 3 ms after its beginning waits 15 ms before the next one."""
    run = loaded().offer(asked([0, 3 * MS], [8, 6], [2, 1]))

    # 18 ms for the first prompt; then 10 ms + 7 ms for its second token and the other prompt
    assert run.valid
    assert run.samples.ttft_ns.tolist() == [18 * MS, (18 + 17 - 3) * MS]
    assert run.samples.gap_ns.tolist() == [17 * MS]
    assert run.samples.latency_ns.tolist() == [35 * MS, 32 * MS]
    assert run.samples.sendable.lag_ns.tolist() == [0, 0]
    assert [sum(row[2] for row in line["rows"]) for line in run.lines] == [8, 7]


def test_an_idle_engine_is_woken_by_the_next_request() -> None:
    """Nothing is stepped while nobody waits."""
    run = loaded().offer(asked([0, S], [8, 8], [1, 1]))

    assert run.samples.ttft_ns.tolist() == [18 * MS, 18 * MS]


def test_goodput_is_what_keeps_the_objective() -> None:
    """Of two requests in 3 ms of load, one has its first token within 20 ms."""
    run = loaded().offer(asked([0, 3 * MS], [8, 6], [2, 1]))

    assert run.goodput(Objective(20 * MS, 20 * MS)) == pytest.approx(1 / 0.003)


def test_a_closed_loop_keeps_its_clients_busy() -> None:
    """8 clients keep 4 rows full: a decode iteration takes 14 ms, and a text of one token takes one of 10 + 4 x 4 ms."""
    many = demand(constant(1000, 1), Lengths(4), Lengths(1), 1, longest=128)
    run = loaded().saturate(many, 8, 1.0)

    assert run.valid
    assert run.tokens_per_s == pytest.approx(4 / 0.026, rel=0.05)
    assert run.requests_per_s == pytest.approx(run.tokens_per_s, rel=0.01)
    assert all(len(line["rows"]) == 4 for line in run.lines[:-2])
    assert run.samples.count < many.count


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ("text", "the text of request 0 is not that of its prompt"),
        ("short", "ended after 1 of 3 tokens"),
        ("twice", "request 0 was answered again after its end"),
        ("stranger", "the engine answered 'nobody', which was not sent"),
    ],
)
def test_a_wrong_answer_makes_a_run_invalid(wrong: str, said: str) -> None:
    """The first reason says what was wrong."""
    run = loaded(wrong).offer(asked([0, 0, 0], [5, 5, 5], [3, 3, 3]))

    assert not run.valid
    assert any(said in one for one in run.wrong)
    assert run.wrong[0] == run.validity.reasons[0]


def test_iterations_are_held_to_the_limits() -> None:
    """An engine that runs more rows than it was configured with is seen, whatever it answers."""
    run = loaded(limits=EngineConfig(2, 64, 16, 64, 128)).offer(asked([0, 0, 0], [5, 5, 5], [3, 3, 3]))

    assert run.wrong == ("iteration 1 has 3 rows and 15 tokens; the limits are 2 and 64",)


def test_an_entry_out_of_place_is_seen() -> None:
    """The witness says it, even where the text is right."""
    engine = Odd()
    read: Any = engine._model._read
    engine._model._read = lambda row: (read(row)[0], [place + 1 for place in read(row)[1]])  # type: ignore[method-assign]
    run = Loaded(engine, CONFIG, language, S, clock=engine.clock).offer(asked([0], [5], [1]))

    assert run.wrong == ("in iteration 1, a row read context entries that were not in their place",)


def test_an_engine_that_says_nothing_is_given_up() -> None:
    """Its requests count as unanswered, and the run is INVALID; it is not a mistake of the text."""
    run = loaded("silent").offer(asked([0], [5], [3]))

    assert run.samples.latency_ns.tolist() == [NEVER]
    assert run.wrong == ()
    assert "no request was answered" in run.validity.reasons


