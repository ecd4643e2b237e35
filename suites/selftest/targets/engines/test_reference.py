"""The reference engine with the witness: texts are those that were computed apart, and the log has every row."""

from __future__ import annotations

import pytest

from batchproof.reference_batcher.continuous import EngineConfig
from batchproof.targets import resolve
from batchproof.targets.claims import problems
from batchproof.targets.engines import Generation, Output
from batchproof.targets.engines.reference import CLAIMS, ContinuousTarget, ReferenceEngine, ThreadedEngine
from batchproof.targets.protocol import UnknownTarget, Unsupported
from batchproof.targets.witness import language


def generation(serial: int, length: int, max_tokens: int, shared: int = 0, **asked: object) -> Generation:
    """Return a request of the witness's client."""
    return Generation(f"r{serial}", serial, language.prompt(serial, length, shared), max_tokens, **asked)


def texts(engine: ReferenceEngine | ThreadedEngine, *requests: Generation) -> dict[tuple[str, int], tuple[int, ...]]:
    """Return the text of each sample, of which each ends once."""
    for one in requests:
        engine.submit(one)
    found: dict[tuple[str, int], tuple[int, ...]] = {}
    ended = set()
    busy = True
    while busy or len(ended) < len(found):
        outputs, busy = engine.step()
        for one in outputs:
            assert (one.name, one.sample) not in ended
            found[one.name, one.sample] = (*found.get((one.name, one.sample), ()), *one.tokens)
            ended |= {(one.name, one.sample)} if one.end else set()
    assert ended == set(found)
    return found


@pytest.mark.parametrize("shell", ["stepped", "threaded"])
@pytest.mark.parametrize("blocks", [24, 64], ids=["preempted", "room"])
@pytest.mark.parametrize("cached", [False, True], ids=["computed", "cached"])
def test_texts_are_right(shell: str, blocks: int, cached: bool) -> None:
    """In company, preempted, with a cached prefix, twice from one prompt: each text is that of its prompt alone."""
    config = EngineConfig(max_num_batched_tokens=40, block_size=4, num_blocks=blocks, prefix_cache=cached, max_model_len=96)
    engine = ContinuousTarget(shell).engine(config)
    requests = [generation(serial, 20 + serial, 30, 9, samples=serial % 2 + 1) for serial in range(1, 8)]

    found = texts(engine, *requests)

    assert found == {
        (one.name, sample): language.continuation(one.prompt, 30) for one in requests for sample in range(one.samples)
    }
    gauges = engine.gauges()
    engine.close()
    assert (gauges["used_blocks"], gauges["preempted"] > 0, gauges["cached_tokens"] > 0) == (0, blocks == 24, cached)


def test_the_log_has_every_row() -> None:
    """A row names its request, where it begins, how many tokens are new, what is torn, and its blocks."""
    engine = ContinuousTarget().engine(EngineConfig(max_num_batched_tokens=8, block_size=4, num_blocks=8))
    texts(engine, generation(5, 10, 2))
    lines = engine.log()

    rows = [[5, 0, 8, 0, [0, 1]], [5, 8, 2, 0, [0, 1, 2]], [5, 10, 1, 0, [0, 1, 2]]]
    assert [[row[:5] for row in line["rows"]] for line in lines] == [[row] for row in rows]
    assert [line["number"] for line in lines] == [1, 2, 3]
    assert all(line["enter_ns"] <= line["exit_ns"] for line in lines)
    assert engine.log() == []


def test_refusals_and_aborts_are_outputs() -> None:
    """They come with the next step."""
    engine = ContinuousTarget().engine(EngineConfig())
    engine.submit(generation(1, 10, 5))
    engine.submit(generation(1, 10, 5))
    engine.abort("r1")

    refused = Output("r1", end="refused", text="a request 'r1' is under way")
    assert engine.step() == ([refused, Output("r1", end="abort")], False)


def test_shells() -> None:
    """A threaded engine runs by itself; a mutant is stepped; there is no other shell."""
    assert resolve("continuous?shell=threaded").info.claims["iterations"] == "free"
    with pytest.raises(UnknownTarget, match="shell is stepped, or threaded without a mutant, not 'virtual'"):
        resolve("continuous?shell=virtual")


def test_the_target() -> None:
    """It is a built-in name, its claims are claims, and it has no dynamic batcher."""
    target = resolve("continuous")

    assert (target.info.discipline, problems(CLAIMS)) == ("continuous", [])
    with pytest.raises(Unsupported, match="dynamic batching"):
        target.deploy(None)
