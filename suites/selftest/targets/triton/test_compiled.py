"""Backends in C under test: they compile cleanly, and the witness in C says what the witness in Python says."""

from __future__ import annotations

import shutil
import subprocess
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from batchproof.fixtures.driving.case import Case, run_case
from batchproof.fixtures.driving.script import MS, Answered, Send
from batchproof.reference_batcher import BatcherConfig, SequenceBatching, StateSpec
from batchproof.targets import resolve
from batchproof.targets.protocol import TargetError
from batchproof.targets.triton import compiled

if TYPE_CHECKING:
    from collections.abc import Iterator

    from batchproof.fixtures.evidence.timeline import Timeline

needs_cc = pytest.mark.skipif(not shutil.which("cc"), reason="needs a C compiler")
needs_triton = pytest.mark.skipif(not find_spec("pytriton"), reason="needs the embedded Triton (batchproof[triton])")


@needs_cc
@pytest.mark.parametrize("source", ["null_backend.c", "state_witness.c", "strategy.c"])
def test_the_sources_compile_without_a_warning(source: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also with the warnings that the project does not ask for when it compiles them on a user's machine."""
    path = Path(str(files("batchproof.targets.triton") / source))
    asked: list[list[str]] = []

    def run(command: list[str], **_: Any) -> subprocess.CompletedProcess[str]:
        asked.append(command)
        Path(command[command.index("-o") + 1]).touch()
        return subprocess.CompletedProcess(command, 0, "", "")

    with monkeypatch.context() as patch:
        patch.setattr(compiled.subprocess, "run", run)
        (compiled.strategy_library if source == "strategy.c" else compiled.state_witness).__wrapped__()
    defined = [option for option in asked[0] if option.startswith("-D")]
    strict = ["cc", "-std=gnu11", "-Wall", "-Wextra", "-Werror", "-O1", "-c", "-o", str(tmp_path / "o")]
    command = [*strict, *defined, str(path)]

    done = subprocess.run(command, capture_output=True, text=True, check=False)

    assert done.stderr == ""


def test_without_a_compiler_the_message_names_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It says what needs the compiler, and what to install."""
    monkeypatch.setattr(compiled.shutil, "which", lambda _name: None)

    with pytest.raises(TargetError, match="the stand-in needs a C compiler, and there is no cc: install gcc"):
        compiled.compile_library("null_backend.c", "the stand-in", tmp_path / "library.so")


@pytest.fixture(scope="module")
def started() -> Iterator[Any]:
    """An embedded Triton."""
    target = resolve("triton")
    yield target
    target.close()


@pytest.fixture
def triton(started: Any) -> Any:
    """The embedded Triton, started again if it died in an earlier test: on a busy host it may (F-2026-35)."""
    if started.alive():
        started.restart()
    return started


def told(timeline: Timeline) -> list[list[tuple[Any, ...]]]:
    """Return what the model was told in each run, with the place of each request's serial instead of its state."""
    order = {one.serial: number for number, one in enumerate(timeline.requests)}
    return [[(*place[:5], order[serial]) for place, serial in zip(run.places, run.serials, strict=True)]
            for run in timeline.executions]  # fmt: skip


@needs_cc
@needs_triton
@pytest.mark.parametrize("flag", ["TYPE_INT32", "TYPE_FP32", "TYPE_BOOL"])
@pytest.mark.parametrize("id_type", ["TYPE_UINT64", "TYPE_INT64", "TYPE_INT32"])
def test_the_witness_in_c_logs_what_the_one_in_python_logs(triton: Any, flag: str, id_type: str) -> None:
    """The same places, the same failures and the same answers, from the same traffic."""
    asked: dict[str, Any] = {"flag_type": flag, "id_type": id_type, "max_sequence_idle_ns": 3_600_000 * MS}
    state = (StateSpec("STATE", "STATE_AFTER", "TYPE_INT64", (1,), initial=0),)
    turns = [(Send(f"a{k}", sequence=5, start=k == 0, end=k == 3, fail=k == 1, work_ns=MS), Answered((f"a{k}",)),
              Send(f"b{k}", sequence=6, start=k == 0, end=k == 3), Answered((f"b{k}",))) for k in range(4)]  # fmt: skip
    script = tuple(step for turn in turns for step in turn)

    in_python, in_c = (
        run_case(triton, Case(BatcherConfig(max_batch_size=2, sequence=SequenceBatching(**asked, **more)), script))
        for more in ({}, {"state": state})
    )

    assert told(in_python) == told(in_c)
    assert [(one.kind, one.echoed) for one in in_python.requests] == [(one.kind, one.echoed) for one in in_c.requests]
    assert [one.seen and one.seen.position for one in in_c.requests] == [
        one.seen and one.seen.position for one in in_python.requests
    ]
    assert in_c.problems == ()
