"""vLLM's server itself: its streams, a client that goes away, its metrics, and what is left of it."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from batchproof.reference_batcher.continuous import EngineConfig
from batchproof.suites.selftest.targets.engines import interpreter, needs
from batchproof.targets.engines import EngineGone, Generation, Output
from batchproof.targets.engines.process import ClientEngine, HostedEngine
from batchproof.targets.engines.vllm import VllmHttpTarget
from batchproof.targets.kit.readiness import until
from batchproof.targets.witness import language

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

pytestmark = [needs("vllm"), pytest.mark.timeout(300)]
SHARED = Path("/dev/shm")  # noqa: S108 - where vLLM's processes share memory


@pytest.fixture(scope="module")
def vllm() -> Iterator[VllmHttpTarget]:
    """One process for all tests of this module; nothing is left of it, nor of its servers."""
    before = set(SHARED.iterdir())
    target = VllmHttpTarget(interpreter("vllm"))
    yield target
    keeper = target._host.process if target._host else None
    pids = keeper.processes() if keeper else []
    target.close()
    until(lambda: not [pid for pid in pids if Path(f"/proc/{pid}/cmdline").exists()], 20.0, "the end of all processes")
    until(lambda: set(SHARED.iterdir()) <= before, 20.0, "the end of shared memory")


def asked(serial: int, length: int, count: int, prompt: tuple[int, ...] | None = None) -> Generation:
    return Generation(f"r{serial}", serial, language.prompt(serial, length) if prompt is None else prompt, count)


def steps(engine: HostedEngine, done: Callable[[list[Output]], bool]) -> list[Output]:
    """Run steps until this is so, at most 500."""
    found: list[Output] = []
    for _ in range(500):
        found += engine.step()[0]
        if done(found):
            break
    return found


def test_streams_carry_the_text_and_refusals_their_words(vllm: VllmHttpTarget):
    """Requests that run together each get their text, token by token, and one end."""
    engine = vllm.engine(EngineConfig())
    wanted = [asked(serial, 20 * serial, 6) for serial in (1, 2, 3)]
    for one in (*wanted, asked(4, 0, 3, ())):
        engine.submit(one)
    found = steps(engine, lambda found: sum(bool(one.end) for one in found) == 4)
    lines = engine.log()

    for one in wanted:
        mine = [output for output in found if output.name == one.name]
        assert tuple(token for output in mine for token in output.tokens) == language.continuation(one.prompt, 6)
        assert [output.end for output in mine if output.end] == ["length"]
    assert [one.text[:4] for one in found if one.end == "refused"] == ["400:"]
    assert {row[0] for line in lines if len(line["rows"]) == 3 for row in line["rows"]} == {1, 2, 3}
    assert not any(row[3] for line in lines for row in line["rows"])
    assert engine.gauges()["output_tokens"] == 18


def test_who_goes_away_takes_the_request_back(vllm: VllmHttpTarget):
    """After a disconnect nothing runs any more, and the blocks are free."""
    engine = vllm.engine(EngineConfig())
    assert isinstance(engine, ClientEngine)
    engine.submit(asked(5, 40, 200))
    steps(engine, lambda found: len(found) > 3)
    running = engine.gauges()
    engine.disconnect("r5")
    steps(engine, lambda _: engine.gauges()["running"] == 0)

    assert (running["running"], running["used_blocks"]) == (1, 2)
    assert (engine.gauges()["running"], engine.gauges()["used_blocks"]) == (0, 0)


def test_a_server_that_is_killed_is_gone(vllm: VllmHttpTarget):
    """Its end is said, and the next engine is another server."""
    engine = vllm.engine(EngineConfig())
    engine.submit(asked(6, 40, 100))
    steps(engine, lambda found: len(found) > 1)
    assert vllm._host is not None
    program, server, *_ = vllm._host.process.processes()
    assert program == vllm._host.process.pid
    os.kill(server, signal.SIGKILL)
    with pytest.raises(EngineGone, match="vLLM's server has ended"):
        steps(engine, lambda _: False)
    engine = vllm.engine(EngineConfig())
    engine.submit(asked(7, 20, 3))

    assert "length" in [one.end for one in steps(engine, lambda found: any(one.end for one in found))]
