"""An engine in a process of its own: what goes wrong there is said in one message, and nothing is left of it."""

from __future__ import annotations

import os
import signal
import tempfile
from contextlib import suppress
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

import pytest

from batchproof.reference_batcher.continuous import EngineConfig
from batchproof.suites.selftest.targets.engines.fake_part import BABBLES, DIES, HANGS, RAISES
from batchproof.targets.engines import EngineGone, Generation, Output
from batchproof.targets.engines.process import HostedEngine, HostedTarget
from batchproof.targets.kit.readiness import until
from batchproof.targets.protocol import TargetError, Unsupported

if TYPE_CHECKING:
    from collections.abc import Iterator

HERE = Path(__file__).parent


class Fake(HostedTarget):
    """The target of the fake engine, which needs nothing that this interpreter lacks."""

    name = "fake"
    program = str(HERE / "fake_engine.py")
    beside = (str(HERE / "fake_part.py"),)
    distributions = ("numpy",)
    claims = MappingProxyType({"iterations": "stepped"})


@pytest.fixture
def fake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Fake]:
    """The target; at its end no file of its is left."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    target = Fake()
    yield target
    target.close()
    assert list(tmp_path.iterdir()) == []


def asked(name: str, *stop: int) -> Generation:
    return Generation(name, 1, (7, 8), 1, stop=stop)


def running(pid: int) -> bool:
    """Return whether a process runs, and is not only waiting to be collected."""
    with suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    return False


def is_gone(pid: int) -> None:
    until(lambda: not running(pid), 10.0, f"the end of process {pid}")


def test_what_comes_out_is_what_the_program_says(fake: Fake):
    """Outputs, the witness's lines and gauges arrive, each once; a refusal is an output."""
    engine = fake.engine(EngineConfig())
    engine.submit(asked("a"))
    engine.submit(Generation("b", 2, (), 1))
    outputs, busy = engine.step()

    assert outputs == [Output("b", end="refused", text="ValueError: an empty prompt"), Output("a", (7,), "length")]
    assert not busy
    assert engine.log() == [{"number": 1, "enter_ns": 1, "exit_ns": 2, "rows": [[1, 0, 1, 0, []]]}]
    assert engine.log() == []
    assert engine.gauges()["waiting"] == 0


def test_a_request_that_is_taken_back_does_not_come_out(fake: Fake):
    """An abort reaches the program."""
    engine = fake.engine(EngineConfig())
    engine.submit(asked("a"))
    engine.abort("a")

    assert engine.step()[0] == []


def test_what_an_engine_cannot_have_is_unsupported(fake: Fake):
    """A configuration that the program refuses is unsupported, and one at which it fails is an error with its traceback."""
    with pytest.raises(Unsupported, match="a prefix cache"):
        fake.engine(EngineConfig(prefix_cache=True))
    with pytest.raises(TargetError, match=r"(?s)cannot open an engine: ValueError: no such policy\nwith .*fake_engine\.py"):
        fake.engine(EngineConfig(policy="priority"))


@pytest.mark.parametrize(
    ("order", "message"),
    [
        (DIES, r"fake was killed by SIGABRT; the end of what it printed:\n(?s:.*)the last words"),
        (HANGS, r"fake has not answered 'step' after 0\.3 s: give it more time with BATCHPROOF_CALL_S=SECONDS"),
        (RAISES, "fake raised in an iteration: RuntimeError: out of blocks"),
        (BABBLES, "fake answered 'step' with: neither JSON nor anything else"),
    ],
    ids=["dies", "hangs", "raises", "babbles"],
)
def test_an_engine_that_fails_in_an_iteration_is_gone(
    fake: Fake, monkeypatch: pytest.MonkeyPatch, order: int, message: str
):
    """It is said how; the next engine is a new one that serves, and the processes of the old one have ended."""
    engine = fake.engine(EngineConfig())
    child = int(engine.gauges()["child"])
    engine.submit(asked("a", order))
    monkeypatch.setenv("BATCHPROOF_CALL_S", "0.3" if order == HANGS else "")
    with pytest.raises(EngineGone, match=message):
        engine.step()
    monkeypatch.delenv("BATCHPROOF_CALL_S")
    fake.forget()
    engine = fake.engine(EngineConfig())
    engine.submit(asked("b"))

    assert engine.step()[0] == [Output("b", (7,), "length")]
    is_gone(child)


def test_an_engine_that_is_killed_from_outside_is_gone(fake: Fake):
    """The message has the signal, and the next engine gets a process of its own without anybody's help."""
    engine: HostedEngine = fake.engine(EngineConfig())
    assert fake._host is not None
    pid = fake._host.process.pid
    os.kill(pid, signal.SIGKILL)
    with pytest.raises(EngineGone, match="fake was killed by SIGKILL"):
        engine.step()
    engine = fake.engine(EngineConfig())
    engine.submit(asked("b"))

    assert engine.step()[0] == [Output("b", (7,), "length")]
