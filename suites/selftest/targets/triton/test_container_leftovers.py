"""What runs in containers leave behind, without an engine: nothing, and they remove what dead runs have left."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from batchproof.suites.selftest.engines import FakeEngine, Refusal
from batchproof.targets.docker import engine as engines
from batchproof.targets.docker.engine import Engine, sweep
from batchproof.targets.docker.labels import MARK, OWNER, PROCESS, Host, abandoned, labels
from batchproof.targets.protocol import TargetError
from batchproof.targets.triton import container as docker
from batchproof.targets.triton import owned as server
from batchproof.targets.triton.container import ContainerServer, Options, process_group

HERE = Options(image="here:1")


@pytest.fixture(autouse=True)
def ready_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Stand in for a server: a container counts as ready when it runs."""
    monkeypatch.setattr(server, "_ready", lambda _address: True)
    monkeypatch.setattr(docker, "SETTLE_S", 0.2)


def host(tmp_path: Path, *alive: int) -> Host:
    """Make a kernel of ours with these processes, all of which started at tick 77."""
    for pid in alive:
        (tmp_path / str(pid)).mkdir()
        (tmp_path / str(pid) / "stat").write_text(f"{pid} (a (b) c) S 1 {pid} {' '.join(['0'] * 16)} 77 0", encoding="utf-8")
    return Host("boot", "pid:[1]", tmp_path)


@pytest.mark.parametrize(
    ("change", "gone"),
    [
        ({}, True),
        ({OWNER: "boot-5", PROCESS: "pid:[1]-77"}, False),
        ({OWNER: "boot-5", PROCESS: "pid:[1]-76"}, True),
        ({OWNER: "other-6"}, False),
        ({PROCESS: "pid:[2]-77"}, False),
        ({OWNER: ""}, False),
        ({MARK: "0"}, False),
    ],
    ids=["dead", "alive", "its id was given to another", "another kernel", "another namespace", "nobody's", "not ours"],
)
def test_only_what_a_dead_process_owns_is_abandoned(tmp_path: Path, change: dict[str, str], gone: bool) -> None:
    """It belongs to a process of this kernel and namespace that is certainly dead."""
    written = {MARK: "1", OWNER: "boot-6", PROCESS: "pid:[1]-77"} | change

    assert abandoned(written, host(tmp_path, 5)) is gone


def test_own_labels_are_not_abandoned() -> None:
    """What this very process creates has an owner that is alive."""
    assert labels(os.getpid())[PROCESS].rpartition("-")[2].isdigit()
    assert not abandoned(labels(os.getpid()), Host.here())


def test_leftovers_of_dead_runs_are_removed(tmp_path: Path) -> None:
    """Containers, volumes and networks of dead runs go before a new one starts; those of others stay."""
    engine = FakeEngine()
    for kind in ("container", "volume", "network"):
        engine.left(kind, f"dead-{kind}", {MARK: "1", OWNER: "boot-6", PROCESS: "pid:[1]-77"})
        engine.left(kind, f"live-{kind}", {MARK: "1", OWNER: "boot-5", PROCESS: "pid:[1]-77"})

    gone = sweep(Engine(engine), host(tmp_path, 5))

    assert gone == ["container dead-container", "volume dead-volume", "network dead-network"]
    assert engine.removed[0] == ("dead-container", {"force": True, "v": True})
    assert [one.name for one in engine.things] == ["live-container", "live-volume", "live-network"]


def test_every_run_removes_leftovers_first(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """An engine that refuses to remove them does not stop the run."""
    engine = FakeEngine()
    engine.left("container", "dead", {MARK: "1", OWNER: "boot-6", PROCESS: "pid:[1]-77"})
    monkeypatch.setattr(engines.Host, "here", lambda: host(tmp_path))
    monkeypatch.setattr(engine.volumes, "list", lambda **_: 1 / 0, raising=False)

    ContainerServer(Engine(engine), HERE).stop()

    assert engine.things == []


@pytest.mark.parametrize("fault", [KeyboardInterrupt(), Refusal("timed out")], ids=["interrupted", "refused"])
def test_a_container_without_an_answer_is_removed(fault: BaseException) -> None:
    """A container that the engine made, but did not report, is removed by its name."""
    engine = FakeEngine(create=fault)

    with pytest.raises((KeyboardInterrupt, TargetError)):
        ContainerServer(Engine(engine), HERE)

    assert [name.startswith("batchproof-") for name, _ in engine.removed] == [True]
    assert engine.things == []


def test_stopping_never_raises() -> None:
    """An engine that has gone away does not break the end of a run."""
    engine = FakeEngine()
    made = ContainerServer(Engine(engine), HERE)
    engine.fails["remove"] = ConnectionError()

    made.stop()
    made.stop()


def test_processes_of_a_container_are_found_on_this_kernel(tmp_path: Path) -> None:
    """They are found only if this kernel numbers them like the engine."""
    proc = host(tmp_path, 5).proc
    (proc / "5" / "cgroup").write_text("0::/docker/abc\n", encoding="utf-8")

    assert process_group({"Pid": 5}, "abc", proc) == 5
    assert process_group({"Pid": 5}, "another", proc) == 0
    assert process_group({"Pid": 6}, "abc", proc) == 0
