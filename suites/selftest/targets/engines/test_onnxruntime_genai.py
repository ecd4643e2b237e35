"""The adapter for ONNX Runtime GenAI: what it claims, and, where there is one, that its text and its log are right."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import pytest

from batchproof import targets
from batchproof.reference_batcher.continuous import EngineConfig
from batchproof.suites.selftest.targets.engines import interpreter, needs
from batchproof.targets.claims import problems
from batchproof.targets.engines import Engine, Generation, Output
from batchproof.targets.engines.onnxruntime_genai import CLAIMS, OnnxRuntimeGenAITarget
from batchproof.targets.protocol import TargetError, Unsupported
from batchproof.targets.witness import language

HAS = needs("onnxruntime_genai")


def test_the_claims_are_claims():
    """Each claim exists, and has a value that it can have."""
    assert problems(CLAIMS) == []


def test_an_interpreter_without_the_engine_is_named_with_the_way_to_install_it():
    """The message says what to do."""
    with pytest.raises(TargetError, match=r"does not have onnxruntime-genai.*batchproof\[onnxruntime-genai\]"):
        targets.resolve(f"onnxruntime-genai?python={sys.executable}")


@pytest.fixture(scope="module")
def target() -> Iterator[OnnxRuntimeGenAITarget]:
    """Yield the target in the interpreter that the environment names."""
    found = OnnxRuntimeGenAITarget(interpreter("onnxruntime_genai"))
    yield found
    found.close()


def asked(serial: int, length: int, count: int, shared: int = 0, **more: object) -> Generation:
    """Return a request for `count` tokens."""
    return Generation(f"r{serial}", serial, language.prompt(serial, length, shared), count, **more)  # type: ignore[arg-type]


def steps(engine: Engine, most: int = 400) -> list[Output]:
    """Run the engine until it has no work; return what came out."""
    outputs: list[Output] = []
    for _ in range(most):
        found, busy = engine.step()
        outputs += found
        if not busy:
            break
    return outputs


def texts(outputs: list[Output]) -> dict[str, tuple[tuple[int, ...], list[str]]]:
    """Return each request's text and its ends."""
    return {
        name: (
            tuple(token for one in outputs if one.name == name for token in one.tokens),
            [one.end for one in outputs if one.name == name and one.end],
        )
        for name in sorted({one.name for one in outputs})
    }


@HAS
@pytest.mark.parametrize(
    "config",
    [
        EngineConfig(),
        EngineConfig(max_num_batched_tokens=48),
        EngineConfig(block_size=16, num_blocks=32),
        EngineConfig(prefix_cache=True, block_size=16, num_blocks=40),
    ],
    ids=["plenty", "small budget", "small cache", "prefix cache"],
)
def test_every_text_is_the_clients_and_no_entry_is_torn(target: OnnxRuntimeGenAITarget, config: EngineConfig):
    """Chunks and shared blocks change nothing."""
    requests = [asked(number, 20 + 7 * number, 40, shared=16) for number in range(1, 7)]
    engine = target.engine(config)
    for request in requests:
        engine.submit(request)
    found = texts(steps(engine))
    rows = [row for line in engine.log() for row in line["rows"]]

    assert found == {one.name: (language.continuation(one.prompt, 40), ["length"]) for one in requests}
    assert {row[3] for row in rows} == {0}
    assert {row[0] for row in rows} - {0} == set(range(1, 7))


@HAS
def test_the_log_tells_the_blocks_and_the_chunks(target: OnnxRuntimeGenAITarget):
    """A prompt of 80 tokens in chunks of 32: [serial, start, new, torn, blocks]."""
    engine = target.engine(EngineConfig(max_num_batched_tokens=32))
    engine.submit(asked(5, 80, 2))
    steps(engine)
    lines = engine.log()

    assert [[row[:4] for row in line["rows"]] for line in lines] == [
        [[5, 0, 32, 0]], [[5, 32, 32, 0]], [[5, 64, 16, 0]], [[5, 80, 1, 0]],
    ]  # fmt: skip
    assert [len(line["rows"][0][4]) for line in lines] == [1, 2, 3, 3]


@HAS
def test_what_it_does_not_have_is_unsupported(target: OnnxRuntimeGenAITarget):
    """There are no priorities, and no prompts that are never cut."""
    for config in (EngineConfig(policy="priority"), EngineConfig(chunked_prefill=False)):
        with pytest.raises(Unsupported):
            target.engine(config)
    with pytest.raises(Unsupported):
        target.engine(EngineConfig()).submit(asked(1, 30, 4, samples=2))


@HAS
def test_an_aborted_request_ends_once_and_a_longer_prompt_than_the_limit_is_refused(target: OnnxRuntimeGenAITarget):
    """Its end is what the engine says; the other request goes on."""
    engine = target.engine(EngineConfig(max_model_len=128))
    engine.submit(asked(1, 30, 50))
    engine.submit(other := asked(2, 30, 4))
    engine.submit(asked(3, 130, 4))
    first, _ = engine.step()
    engine.abort("r1")
    found = texts([*first, *steps(engine)])

    assert found["r1"][1] == ["abort"]
    assert found["r2"] == (language.continuation(other.prompt, 4), ["length"])
    assert found["r3"] == ((), ["refused"])
