"""Target `triton-docker` without an engine: what it asks for, what it says when refused, and what it leaves behind."""

from __future__ import annotations

import builtins
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from batchproof.suites.selftest.engines import PORTS, RUNNING, FakeEngine, Refusal
from batchproof.targets.docker.engine import Engine, connect, reached_at, unreachable
from batchproof.targets.docker.labels import MARK, OWNER
from batchproof.targets.protocol import TargetError
from batchproof.targets.triton import container as docker
from batchproof.targets.triton import owned as server
from batchproof.targets.triton.container import ContainerServer, Options, archive, command_line, end_of

EVERYWHERE = "0.0.0.0"  # noqa: S104 - of a remote host
REMOTE = "tcp://engine.example:2376"
HERE = Options(image="here:1")


@pytest.fixture(autouse=True)
def ready_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Stand in for a server: a container counts as ready when it runs."""
    monkeypatch.setattr(server, "_ready", lambda _address: True)
    monkeypatch.setattr(docker, "SETTLE_S", 0.2)


# What is asked for


@pytest.mark.parametrize(
    ("spec", "options"),
    [
        ("triton-docker", Options()),
        ("triton-docker?image=a/b:1&gpus=all&shm=1g&ready=9", Options("a/b:1", "all", "1g", "9")),
        ("triton-docker?gpus=device=0,1", Options(gpus="device=0,1")),
    ],
)
def test_options_are_read_and_written(spec: str, options: Options) -> None:
    """The options of a target are read, and written again so that they mean the same."""
    assert Options.read(spec) == options
    assert Options.read(options.spec) == options


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("color=red", "unknown option color: choose from image, gpus, shm, ready"),
        ("image=", "give image one value"),
        ("shm=1g&shm=2g", "give shm one value"),
        ("shm=32m", r"shm=32m is too small: Triton's Python backend needs 64m"),
        ("shm=much", "shm must be a size such as 256m or 1g, not 'much'"),
        ("ready=soon", "ready must be a number of seconds, not 'soon'"),
        ("gpus=many", "gpus must be all, a number, or device=IDS, not 'many'"),
    ],
)
def test_wrong_options_are_refused(query: str, message: str) -> None:
    """Each mistake has one message, before anything is started."""
    with pytest.raises(TargetError, match=message):
        Options.read(f"triton-docker?{query}")


def test_one_container_is_created() -> None:
    """It has a label, published ports, shared memory and flags, and no devices unless they are asked for."""
    engine = FakeEngine()

    made = ContainerServer(Engine(engine), HERE)
    (one,) = engine.things

    assert (made.grpc, made.metrics) == ("127.0.0.1:32769", "127.0.0.1:32770")
    assert one.about["ports"] == dict.fromkeys(("8000/tcp", "8001/tcp", "8002/tcp"), ("127.0.0.1", None))
    assert (one.about["shm_size"], one.about["device_requests"]) == (256 << 20, [])
    assert one.about["labels"][MARK] == "1"
    assert one.about["labels"][OWNER].endswith(f"-{os.getpid()}")
    assert one.about["command"][0] == "tritonserver"
    flags = {"--model-control-mode=explicit", "--exit-timeout-secs=5", "--cache-config=local,size=16777216"}
    assert flags < set(one.about["command"])
    assert one.about["name"].startswith(f"batchproof-{os.getpid()}-")


@pytest.mark.parametrize(
    ("gpus", "count", "ids"), [("all", -1, []), ("2", 2, []), ("device=0,GPU-1", 0, ["0", "GPU-1"])]
)
def test_gpus_are_asked_for(gpus: str, count: int, ids: list[str]) -> None:
    """They are asked for in the engine's own words."""
    (request,) = Options(gpus=gpus).devices()

    assert (request["Count"], request["DeviceIDs"], request["Capabilities"]) == (count, ids, [["gpu"]])


@pytest.mark.parametrize(
    ("entry", "first"),
    [
        ([], "tritonserver"),
        (["/opt/nvidia/nvidia_entrypoint.sh"], "tritonserver"),
        (["/opt/tritonserver/bin/tritonserver"], "--model-control-mode=explicit"),
    ],
    ids=["none", "a wrapper", "the server"],
)
def test_the_command_line_names_the_server(entry: list[str], first: str) -> None:
    """The server is named, unless it is the image's entry point."""
    assert command_line(entry)[0] == first


def test_models_are_copied() -> None:
    """A model's files come into the container unchanged, with the folders above them, dated so that Triton sees them."""
    engine = FakeEngine()
    made = ContainerServer(Engine(engine), HERE)

    made.write({"m/config.pbtxt": b"name: 'm'", "m/1/model.py": b"pass"})

    assert engine.things[0].files == {
        "/batchproof-models/m/config.pbtxt": b"name: 'm'", "/batchproof-models/m/1/model.py": b"pass"
    }
    assert archive("a", {}) != archive("b", {})


@pytest.mark.parametrize(
    ("host", "address", "bind"),
    [
        ("unix:///var/run/docker.sock", "127.0.0.1", "127.0.0.1"),
        ("unix:///run/user/1000/docker.sock", "127.0.0.1", "127.0.0.1"),
        ("tcp://localhost:2375", "127.0.0.1", "127.0.0.1"),
        ("tcp://[::1]:2375", "127.0.0.1", "127.0.0.1"),
        ("tcp://127.0.0.1:2375", "127.0.0.1", "127.0.0.1"),
        ("tcp://10.1.2.3:2375", "10.1.2.3", EVERYWHERE),
        ("tcp://[fd00::1]:2375", "[fd00::1]", "::"),
        ("tcp://docker:2375", "docker", EVERYWHERE),
        ("ssh://me@there.example", "there.example", EVERYWHERE),
        ("10.1.2.3:2375", "10.1.2.3", EVERYWHERE),
    ],
)
def test_a_remote_engine_is_reached_at_its_host(host: str, address: str, bind: str) -> None:
    """A local engine publishes on loopback; one on another host is reached at that host's address."""
    assert reached_at(host) == (address, bind)


def test_ports_of_a_remote_engine_are_used() -> None:
    """The ports that it chose are used at its address."""
    engine = FakeEngine()

    made = ContainerServer(Engine(engine, REMOTE), HERE)

    assert made.grpc == "engine.example:32769"
    assert engine.things[0].about["ports"]["8000/tcp"] == (EVERYWHERE, None)


# What is said


@pytest.mark.parametrize(
    ("call", "explanation", "message"),
    [
        ("start", "driver failed programming external connectivity on endpoint x", "cannot publish the server's ports"),
        ("start", "Bind for 127.0.0.1:1 failed: port is already allocated", "cannot publish the server's ports"),
        ("start", 'could not select device driver "" with capabilities: [[gpu]]', "it cannot use GPUs: install NVIDIA's"),
        ("start", 'exec: "tritonserver": executable file not found in $PATH', "no tritonserver in this image"),
        ("create", "no space left on device", "does not start here:1: no space left on device"),
        ("put_archive", "read-only file system", "cannot copy models into the container .*read-only file system"),
    ],
)
def test_a_refusal_of_the_engine_is_explained(call: str, explanation: str, message: str) -> None:
    """What the engine refuses is one message that says what it means, and no container stays."""
    engine = FakeEngine(**{call: Refusal(explanation)})

    with pytest.raises(TargetError, match=message):
        ContainerServer(Engine(engine), HERE)

    assert engine.things == []


def test_ports_that_are_not_published_are_reported() -> None:
    """An engine that publishes nothing is not mistaken for a server that does not answer."""
    engine = FakeEngine()
    engine.ports = {"8000/tcp": PORTS["8000/tcp"], "8001/tcp": None}

    with pytest.raises(TargetError, match=r"has not published port 8001/tcp"):
        ContainerServer(Engine(engine), HERE)

    assert engine.things == []


def test_a_container_that_ends_at_start_is_an_error() -> None:
    """The error has the end of its log, and the container is removed."""
    engine = FakeEngine()
    engine.state = {"Status": "exited", "Running": False, "ExitCode": 1}
    engine.log = b"error: creating server: Internal - failed to load all models\n"

    with pytest.raises(TargetError, match=r"(?s)ended with exit code 1; the end of its log:.*failed to load all models"):
        ContainerServer(Engine(engine), HERE)

    assert engine.things == []


def test_waiting_for_a_container_ends_at_its_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    """The message has the address and the end of the log."""
    monkeypatch.setattr(server, "_ready", lambda _address: False)
    engine = FakeEngine()

    with pytest.raises(TargetError, match=r"(?s)not ready at 127\.0\.0\.1:32768 after 1 s.*I1 started"):
        ContainerServer(Engine(engine), Options(image="here:1", ready="1"))

    assert engine.things == []


@pytest.mark.parametrize(
    ("state", "words"),
    [
        (RUNNING, ""),
        ({"Status": "created"}, ""),
        ({**RUNNING, "Paused": True}, "is paused"),
        ({"Status": "exited", "ExitCode": 137, "OOMKilled": True}, "its memory was used up (OOMKilled, exit code 137)"),
        ({"Status": "exited", "ExitCode": 137}, "was ended by SIGKILL (exit code 137)"),
        ({"Status": "exited", "ExitCode": 0}, "ended with exit code 0"),
        ({"Status": "exited", "ExitCode": 127, "Error": "no such file"}, "ended with exit code 127: no such file"),
    ],
)
def test_the_end_of_a_container_is_explained(state: dict[str, Any], words: str) -> None:
    """The engine's account of a container's state is put into words; a container that runs has none."""
    assert words in end_of(state)
    assert bool(end_of(state)) == bool(words)


def test_a_removed_container_and_a_dead_engine_are_told_apart() -> None:
    """Each has its own message."""
    engine = FakeEngine()
    made = ContainerServer(Engine(engine), HERE)
    engine.fails["reload"] = ConnectionError("Connection aborted")

    silent = made.ended()
    engine.fails.clear()
    engine.things.clear()

    assert "cannot be inspected any more: Connection aborted" in silent
    assert "was removed by something else" in made.ended()


@pytest.mark.parametrize(
    ("error", "message"),
    [
        ("PermissionError(13, 'Permission denied')", "no permission to talk to the Docker engine at X: add this user"),
        ("FileNotFoundError(2, 'No such file or directory')", "no Docker engine answers at X: start it"),
        ("ConnectionRefusedError(111, 'Connection refused')", "no Docker engine answers at X: start it"),
        ("Name or service not known", "no Docker engine answers at X: Name or service not known"),
    ],
)
def test_an_engine_that_cannot_be_reached_is_explained(error: str, message: str) -> None:
    """The message says why the engine does not answer, and what to do about it."""
    assert unreachable("X", Exception(f"('Connection aborted.', {error})")).startswith(message.partition("Name")[0])


def test_a_missing_sdk_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    """The message says which extra to install."""
    whole = builtins.__import__

    def without(name: str, *rest: Any) -> Any:
        if name == "docker":
            raise ModuleNotFoundError("No module named 'docker'", name="docker")
        return whole(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without)

    with pytest.raises(TargetError, match=r"pip install 'batchproof\[docker\]'"):
        connect()


def test_without_an_engine_nothing_is_judged(tmp_path: Path) -> None:
    """A run is refused in one message, which says how to start an engine, and there is no report."""
    pytest.importorskip("docker", reason="the extra `docker` is not installed")
    command = [sys.executable, "-m", "batchproof", "check", "--target=triton-docker", "--report", str(tmp_path / "report")]

    run = subprocess.run(
        command, env={**os.environ, "DOCKER_HOST": f"unix://{tmp_path}/none.sock"}, capture_output=True, text=True,
        timeout=60, check=False,
    )

    assert run.returncode == 4
    assert f"no Docker engine answers at unix://{tmp_path}/none.sock: start it" in run.stderr
    assert "Traceback" not in run.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("verb", ["check", "bench", "tune"])
def test_an_image_is_for_containers_only(verb: str) -> None:
    """--image goes with containers only, and names one image."""
    command = [sys.executable, "-m", "batchproof", verb, "--image", "a:1", "--target"]

    others = subprocess.run([*command, "triton"], capture_output=True, text=True, timeout=60, check=False)
    twice = subprocess.run([*command, "triton-docker?image=b"], capture_output=True, text=True, timeout=60, check=False)

    assert (others.returncode, twice.returncode) == (2, 2)
    assert "--image goes with --target triton-docker" in others.stderr
    assert "name the image once" in twice.stderr


def test_full_shared_memory_names_its_option() -> None:
    """Triton's message about full shared memory is followed by the option that gives it more."""
    log = "I1 fine\nE1 model_lifecycle.cc:642] \"failed to load 'm': Unable to initialize shared memory key 'x'\"\n"

    assert server.complaints(log).splitlines()[0] == "failed to load 'm': Unable to initialize shared memory key 'x'"
    assert "shm=512m" in server.complaints(log).splitlines()[1]
