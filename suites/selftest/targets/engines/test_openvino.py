"""The adapter for OpenVINO GenAI: what it claims, and, where there is one, that its text and its log are right."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import pytest

from batchproof import targets
from batchproof.reference_batcher.continuous import EngineConfig
from batchproof.suites.selftest.targets.engines import interpreter, needs
from batchproof.targets.claims import problems
from batchproof.targets.engines import Generation, Output
from batchproof.targets.engines.openvino import CLAIMS, OpenVinoTarget
from batchproof.targets.protocol import TargetError, Unsupported
from batchproof.targets.witness import graph_language as language


def test_the_claims_are_claims():
    """Each claim exists, and has a value that it can have."""
    assert problems(CLAIMS) == []


def test_an_interpreter_without_openvino_is_named_with_the_way_to_install_it():
    """The message says what to do."""
    with pytest.raises(TargetError, match=r"does not have openvino-genai.*batchproof\[openvino\]"):
        targets.resolve(f"openvino?python={sys.executable}")


@pytest.fixture(scope="module")
def target() -> Iterator[OpenVinoTarget]:
    """Yield the target in the interpreter that the environment names."""
    found = OpenVinoTarget(interpreter("openvino"))
    yield found
    found.close()


def asked(serial: int, length: int, count: int, shared: int = 0, **more: object) -> Generation:
    """Return a request for `count` tokens."""
    return Generation(f"r{serial}", serial, language.prompt(serial, length, shared), count, **more)  # type: ignore[arg-type]


def run(target: OpenVinoTarget, config: EngineConfig, *requests: Generation) -> tuple[dict, list]:
    """Return each request's text and end, by name and sample, and the witness's lines."""
    engine = target.engine(config)
    outputs: list[Output] = []
    for request in requests:
        engine.submit(request)
    for _ in range(400):
        found, busy = engine.step()
        outputs += found
        if not busy:
            break
    keys = sorted({(one.name, one.sample) for one in outputs})
    texts = {
        key: (
            tuple(token for one in outputs if (one.name, one.sample) == key for token in one.tokens),
            [one.end for one in outputs if (one.name, one.sample) == key and one.end],
        )
        for key in keys
    }
    return texts, engine.log()


def expected(*requests: Generation) -> dict:
    """Return what `run` should."""
    return {
        (one.name, sample): (language.continuation(one.prompt, one.max_tokens), ["length"])
        for one in requests
        for sample in range(one.samples)
    }


@needs("openvino")
@pytest.mark.parametrize(
    "config",
    [
        EngineConfig(),
        EngineConfig(max_num_batched_tokens=48),
        EngineConfig(num_blocks=8),
        EngineConfig(prefix_cache=True, num_blocks=16),
        EngineConfig(chunked_prefill=False),
    ],
    ids=["plenty", "small budget", "small cache", "prefix cache", "whole prompts"],
)
def test_every_text_is_the_clients_and_no_entry_is_torn(target: OpenVinoTarget, config: EngineConfig):
    """Chunks, preemption and shared blocks change nothing."""
    requests = [asked(number, 20 + 7 * number, 40, shared=16) for number in range(1, 7)]
    texts, lines = run(target, config, *requests)
    rows = [row for line in lines for row in line["rows"]]

    assert texts == expected(*requests)
    assert {row[3] for row in rows} == {0}
    assert {row[0] for row in rows} - {0} == set(range(1, 7))


@needs("openvino")
def test_samples_are_numbered_and_a_stop_token_ends_a_text(target: OpenVinoTarget):
    """Both come from the engine's own words."""
    several = asked(1, 40, 5, samples=3)
    text = language.continuation(language.prompt(2, 30), 6)
    texts, _ = run(target, EngineConfig(), several, asked(2, 30, 20, stop=(text[3],)))

    assert texts == {**expected(several), ("r2", 0): (text[:4], ["stop"])}


@needs("openvino")
def test_the_log_tells_the_blocks_and_the_chunks(target: OpenVinoTarget):
    """A prompt of 80 tokens in chunks of 32: [serial, start, new, torn, blocks]."""
    _, lines = run(target, EngineConfig(max_num_batched_tokens=32), asked(5, 80, 2))

    assert [[row[:4] for row in line["rows"]] for line in lines] == [
        [[5, 0, 32, 0]], [[5, 32, 32, 0]], [[5, 64, 16, 0]], [[5, 80, 1, 0]],
    ]  # fmt: skip
    assert [len(line["rows"][0][4]) for line in lines] == [1, 2, 3, 3]


@needs("openvino")
def test_what_it_does_not_have_is_unsupported(target: OpenVinoTarget):
    """Priorities do not exist, and nothing sets the size of a block."""
    for config in (EngineConfig(policy="priority"), EngineConfig(block_size=16)):
        with pytest.raises(Unsupported):
            target.engine(config)


@needs("openvino")
def test_an_aborted_request_ends_once(target: OpenVinoTarget):
    """Its end is what the handle says; the other request goes on."""
    engine = target.engine(EngineConfig())
    engine.submit(asked(1, 30, 50))
    engine.submit(other := asked(2, 30, 4))
    first, _ = engine.step()
    engine.abort("r1")
    outputs = [*first, *(one for _ in range(6) for one in engine.step()[0])]

    assert [one.end for one in outputs if one.name == "r1" and one.end] == ["abort"]
    text = tuple(token for one in outputs if one.name == "r2" for token in one.tokens)
    assert text == language.continuation(other.prompt, 4)
