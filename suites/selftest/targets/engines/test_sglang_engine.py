"""SGLang itself: its texts are the witness's, ends are told once, and its process serves one engine after another."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from batchproof.reference_batcher.continuous import EngineConfig
from batchproof.suites.selftest.targets.engines import interpreter, needs
from batchproof.targets.engines import Engine, Generation, Output
from batchproof.targets.engines.sglang import SglangTarget
from batchproof.targets.protocol import Unsupported
from batchproof.targets.witness import language

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

pytestmark = [needs("sglang"), pytest.mark.timeout(300)]
CONFIG = EngineConfig(max_num_seqs=4, max_num_batched_tokens=32, block_size=16, num_blocks=64)


@pytest.fixture(scope="module")
def sglang() -> Iterator[SglangTarget]:
    """One process for all tests of this module."""
    target = SglangTarget(interpreter("sglang"))
    yield target
    target.close()


def request(serial: int, length: int, tokens: int = 6, **more: int) -> Generation:
    return Generation(f"r{serial}", serial, language.prompt(serial, length, **more), tokens)


def to_the_end(engine: Engine, wanted: Sequence[Generation]) -> list[Output]:
    for one in wanted:
        engine.submit(one)
    found, busy = [], True
    while busy:
        outputs, busy = engine.step()
        found += outputs
    return found


def text(outputs: Sequence[Output], name: str) -> tuple[int, ...]:
    return tuple(token for one in outputs if one.name == name for token in one.tokens)


def test_the_version_says_that_there_are_stubs(sglang):
    """What is judged is not what users have installed."""
    assert sglang.info.version.endswith("+stubs")


def test_texts_are_the_witness_s(sglang):
    """Prompts in chunks and in company, each with its own text and one end; no entry is torn."""
    engine, wanted = sglang.engine(CONFIG), [request(1, 20), request(2, 70), request(3, 5)]

    outputs = to_the_end(engine, wanted)

    for one in wanted:
        assert text(outputs, one.name) == language.continuation(one.prompt, one.max_tokens)
        assert [output.end for output in outputs if output.name == one.name and output.end] == ["length"]
    rows = [row for line in engine.log() for row in line["rows"]]
    assert {row[0] for row in rows} == {1, 2, 3}
    assert all(torn == 0 for _, _, _, torn, *_ in rows)


def test_a_prefix_of_the_radix_cache_is_read_back(sglang):
    """The second request begins where the shared blocks end, and its text is right."""
    engine = sglang.engine(EngineConfig(4, 64, 16, 64, prefix_cache=True))
    first, second = request(1, 60, shared=40), request(2, 60, shared=40)
    to_the_end(engine, [first])
    engine.log()

    outputs = to_the_end(engine, [second])

    assert text(outputs, "r2") == language.continuation(second.prompt, 6)
    assert engine.log()[0]["rows"][0][1] == 32


def test_a_request_that_is_taken_back_ends_as_an_abort(sglang):
    """One end, from the engine, and the other request goes on."""
    engine, (goes, stays) = sglang.engine(CONFIG), (request(1, 20, 50), request(2, 20))
    for one in (goes, stays):
        engine.submit(one)
    engine.step()
    engine.abort("r1")

    outputs = to_the_end(engine, [])

    assert [one.end for one in outputs if one.name == "r1" and one.end] == ["abort"]
    assert [one.end for one in outputs if one.name == "r2" and one.end] == ["length"]


def test_what_it_cannot_have_is_said(sglang):
    """SGLang wants a token budget of whole blocks."""
    with pytest.raises(Unsupported, match="multiple of the block size"):
        sglang.engine(EngineConfig(4, 40, 16, 64))
