"""A run alongside its simulation: the margins, and for whom they count."""

from __future__ import annotations

import pytest

from batchproof.bench.engines.asked import Texts
from batchproof.bench.engines.calibration import Pace
from batchproof.bench.engines.oracle import Comparison, compared
from batchproof.bench.engines.own_times import own_times
from batchproof.bench.engines.serving import config_of
from batchproof.load.generation.runs import Loaded, TextRun
from batchproof.reference_batcher.continuous import EngineConfig
from batchproof.suites.selftest.bench.engines.simulated import Jerky
from batchproof.targets.engines.reference import ReferenceEngine
from batchproof.targets.witness import language


@pytest.mark.parametrize(("ratio", "verdict"), [(1.0, "PASS"), (1.04, "PASS"), (1.06, "FAIL"), (0.94, "INCONCLUSIVE")])
def test_the_reference_is_held_to_its_simulation(ratio: float, verdict: str) -> None:
    """Slower fails; faster cannot be, so that the simulation does not fit."""
    found = Comparison({"ttft": 100.0, "e2e": 100.0 * ratio}, {"ttft": 100.0, "e2e": 100.0})

    assert found.verdict("continuous") == verdict
    assert found.ratios["e2e"] == pytest.approx(ratio)


def test_others_are_reported() -> None:
    """Another scheduler need not decide as the reference does; vLLM documents that it nearly does."""
    assert Comparison({"e2e": 300.0}, {"e2e": 100.0}).verdict("transformers") == ""
    assert Comparison({"e2e": 114.0}, {"e2e": 100.0}).verdict("vllm") == "PASS"
    assert Comparison({"e2e": 116.0}, {"e2e": 100.0}).verdict("vllm") == "FAIL"


def run_on(engine: ReferenceEngine, config: EngineConfig, rate: float) -> TextRun:
    """Offer load to an engine in simulated time."""
    engine.device(10_000_000, 50_000)
    loaded = Loaded(engine, config, language, 10_000_000_000, clock=engine.clock)
    return loaded.offer(Texts().asked(rate, 12.0, 5, config))


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_host_that_stalls_does_not_change_the_ratio(seed: int) -> None:
    """The simulated engine meets the same stalls, although they make up most of the time."""
    config = config_of({})
    engine = Jerky(config)
    engine._random.seed(seed)
    run = run_on(engine, config, 20.0)
    found = compared(run, config, Pace(10_000_000, 50_000, 0))

    assert found is not None
    assert found.verdict("continuous") == "PASS"
    assert found.slowness is not None
    assert found.slowness > 1.5


def test_a_scheduler_that_decides_otherwise_is_seen_beside_stalls() -> None:
    """With half of the rows, requests wait that need not."""
    config = config_of({}, 8)
    found = compared(run_on(Jerky(config, half=True), config, 20.0), config, None)

    assert found is not None
    assert found.verdict("continuous") == "FAIL"
    assert found.slowness is None


def test_the_times_of_iterations_are_taken_apart() -> None:
    """A base, a time a row and one a token; what one took besides stays with its moment, and idle time with nobody."""
    sizes = [(1 + number % 5, 1 + 7 * number % 40) for number in range(60)]
    enter, lines = 0, []
    for number, (rows, tokens) in enumerate(sizes):
        news = [tokens - rows + 1 if row == 0 else 1 for row in range(rows)]
        lines.append({"enter_ns": 7 + enter, "rows": [[1 + row, 0, new, 0, []] for row, new in enumerate(news)]})
        enter += 1000 + 30 * rows + 2 * max(tokens, rows)
        enter += 500 if number == 40 else 0
    lines.append({"enter_ns": 10**9, "rows": [[99, 0, 1, 0, []]]})
    found = own_times(lines)

    assert found is not None
    assert found.takes_ns(lines[20]["enter_ns"] - 7, 3, 9) == pytest.approx(1000 + 90 + 18, abs=40)
    assert found.takes_ns(lines[40]["enter_ns"] - 7, 3, 9) == pytest.approx(1500 + 90 + 18, abs=40)
    assert int(found.more_ns[-1]) == 0
    assert own_times(lines[:20]) is None
