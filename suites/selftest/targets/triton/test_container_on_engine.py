"""Target `triton-docker` on a real engine: it judges, it says how its container ended, and nothing is left behind.

Skipped without an engine, or without the image that `batchproof image build` makes (BATCHPROOF_DOCKER_IMAGE names another).
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from batchproof.fixtures.driving.case import Case, run_case
from batchproof.fixtures.driving.script import Answered, Send
from batchproof.reference_batcher import BatcherConfig
from batchproof.targets.docker.engine import Engine, connect
from batchproof.targets.docker.labels import MARK
from batchproof.targets.protocol import TargetError
from batchproof.targets.triton import container as docker
from batchproof.targets.triton.owned import OwnTriton

IMAGE = os.environ.get("BATCHPROOF_DOCKER_IMAGE", "batchproof-triton:2.51.0")
SPEC = f"triton-docker?image={IMAGE}"
PATIENT = 90  # seconds; a start takes some five


@pytest.fixture(scope="module")
def engine() -> Iterator[Engine]:
    """Return the engine, with the image in it."""
    try:
        found = connect()
    except TargetError as error:
        pytest.skip(str(error))
    if not found.client.images.list(IMAGE):
        pytest.skip(f"the engine has no image {IMAGE}: batchproof image build")
    yield found
    found.client.close()


@pytest.fixture(autouse=True)
def nothing_left(engine: Engine) -> Iterator[None]:
    """Check that containers, volumes and networks are the same before and after each test."""
    before = inventory(engine)
    yield
    assert inventory(engine) - before == set()


@pytest.fixture
def target(engine: Engine) -> Iterator[OwnTriton]:
    """Return a container of this process. Triton 2.51.0 may die when it loads its first Python model (F-2026-35)."""
    for left in (3, 2, 1, 0):
        try:
            started = docker.docker_triton(SPEC)
            break
        except TargetError:
            if not left:
                raise
    yield started
    started.close()


def inventory(engine: Engine) -> set[str]:
    """Return everything in the engine that a run could leave there."""
    client = engine.client
    kinds = client.containers.list(all=True, ignore_removed=True), client.volumes.list(), client.networks.list()
    return {f"{type(one).__name__} {one.id}" for kind in kinds for one in kind}


def start(report: Path, rules: str) -> subprocess.Popen[str]:
    """Start `batchproof check` on the image."""
    command = [sys.executable, "-m", "batchproof", "check", "--target=triton-docker", f"--image={IMAGE}",
               f"--rules={rules}", f"--report={report}"]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def ours(engine: Engine, pid: int) -> list[str]:
    """Return the states of the containers that a process owns."""
    labelled = engine.client.containers.list(all=True, filters={"label": f"{MARK}=1"}, ignore_removed=True)
    return [one.status for one in labelled if one.labels["batchproof.owner"].endswith(f"-{pid}")]


def worker(run: subprocess.Popen[str]) -> int:
    """Return the process that works for a run, which waits for it; wait until it is there."""
    deadline = time.monotonic() + PATIENT
    while not (found := Path(f"/proc/{run.pid}/task/{run.pid}/children").read_text(encoding="utf-8").split()):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    return int(found[0])


def until_running(engine: Engine, pid: int) -> None:
    """Wait until a process has a container that runs."""
    deadline = time.monotonic() + PATIENT
    while ours(engine, pid) != ["running"]:
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_a_run_leaves_nothing_in_the_engine(engine: Engine, tmp_path: Path) -> None:
    """It ends, keeps the server's log alongside its report, and names how to run it again."""
    run = start(tmp_path, "DB-SIZE-006,CFG-PARSE-*")
    pid = worker(run)
    output, _ = run.communicate(timeout=PATIENT)

    assert run.returncode == 0, output
    assert "Started" in (tmp_path / "server.log").read_text(encoding="utf-8")
    header = json.loads((tmp_path / "report.jsonl").read_text(encoding="utf-8").splitlines()[0])
    assert (header["target"]["name"], header["target"]["reached"]) == ("triton", SPEC)
    assert header["command"] == f"batchproof check --target '{SPEC}' --rules 'DB-SIZE-006,CFG-PARSE-*'"
    assert ours(engine, pid) == []


def test_a_killed_run_is_cleaned_up_by_the_next(engine: Engine, tmp_path: Path) -> None:
    """What it left in the engine is gone when the next run has begun."""
    killed = start(tmp_path / "killed", "DB-SIZE-*")
    pid = worker(killed)
    until_running(engine, pid)
    killed.kill()
    killed.communicate(timeout=PATIENT)

    left = ours(engine, pid)
    again = start(tmp_path / "again", "DB-SIZE-006")
    output, _ = again.communicate(timeout=PATIENT)

    assert left == ["running"]
    assert again.returncode == 0, output
    assert ours(engine, pid) == []


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_run_removes_its_container(engine: Engine, tmp_path: Path, number: signal.Signals) -> None:
    """A run that is asked to end while it starts removes its container itself."""
    run = start(tmp_path, "DB-SIZE-*")
    pid = worker(run)
    until_running(engine, pid)

    run.send_signal(number)
    run.communicate(timeout=PATIENT)

    assert run.returncode != 0
    assert ours(engine, pid) == []


def test_a_server_that_ends_at_its_start_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """The error has the server's own words."""
    monkeypatch.setattr(docker, "command_line", lambda _entry: ["--model-repository=/nowhere"])

    with pytest.raises(TargetError, match=r"(?s)ended with exit code 1; the end of its log:.*/nowhere"):
        docker.docker_triton(SPEC)


@pytest.mark.parametrize(
    ("do", "words"), [("kill", "was ended by SIGKILL"), ("pause", "is paused"), ("remove", "removed by something else")]
)
def test_a_container_that_ends_is_reported(target: OwnTriton, engine: Engine, do: str, words: str) -> None:
    """`alive` says whether it was killed, paused or removed."""
    (one,) = [one for one in engine.client.containers.list(filters={"label": f"{MARK}=1"})
              if one.labels["batchproof.owner"].endswith(f"-{os.getpid()}")]
    before = target.alive()

    one.remove(force=True) if do == "remove" else getattr(one, do)()

    assert before == ""
    assert words in target.alive()


def test_the_witness_works_in_a_container(target: OwnTriton) -> None:
    """Its clock is this host's if they share a kernel, and what the server says of a bad configuration comes back."""
    case = Case(BatcherConfig(max_batch_size=2), (Send("r0"), Answered(("r0",))))

    timeline = run_case(target, case)

    local = os.environ.get("DOCKER_HOST", "unix").startswith("unix")
    assert timeline.problems == ()
    assert timeline.same_clock or not local
    assert bool(target.process_group) or not local
    assert "failed to read text proto" in target.validate("strange", 'name: "strange" dynamic_batching { no: 1 }')
