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
    """No server behind the stand-in: what counts as ready is what runs."""
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
def test_options(spec: str, options: Options) -> None:
    """A target's word is read, and written again so that it says the same."""
    assert Options.read(spec) == options
    assert Options.read(options.spec) == options


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("color=red", "unknown option color: there are image, gpus, shm, ready"),
        ("image=", "give image one value"),
        ("shm=1g&shm=2g", "give shm one value"),
        ("shm=32m", r"shm=32m is too small: Triton's Python backend needs 64m"),
        ("shm=much", "shm must be a size such as 256m or 1g, not 'much'"),
        ("ready=soon", "ready must be a number of seconds, not 'soon'"),
        ("gpus=many", "gpus must be all, a number, or device=IDS, not 'many'"),
    ],
)
def test_options_that_are_wrong(query: str, message: str) -> None:
    """Each mistake has one message, before anything is started."""
    with pytest.raises(TargetError, match=message):
        Options.read(f"triton-docker?{query}")


def test_what_is_created() -> None:
    """One labelled container with published ports, shared memory and flags; no devices unless asked for."""
    engine = FakeEngine()

    made = ContainerServer(Engine(engine), HERE)
    (one,) = engine.things

    assert (made.grpc, made.metrics) == ("127.0.0.1:32769", "127.0.0.1:32770")
    assert one.about["ports"] == dict.fromkeys(("8000/tcp", "8001/tcp", "8002/tcp"), ("127.0.0.1", None))
    assert (one.about["shm_size"], one.about["device_requests"]) == (256 << 20, [])
    assert one.about["labels"][MARK] == "1"
    assert one.about["labels"][OWNER].endswith(f"-{os.getpid()}")
    assert one.about["command"][:2] == ["tritonserver", "--model-control-mode=explicit"]
    assert {"--exit-timeout-secs=5", "--cache-config=local,size=16777216"} < set(one.about["command"])
    assert one.about["name"].startswith(f"batchproof-{os.getpid()}-")


@pytest.mark.parametrize(
    ("gpus", "count", "ids"), [("all", -1, []), ("2", 2, []), ("device=0,GPU-1", 0, ["0", "GPU-1"])]
)
def test_devices(gpus: str, count: int, ids: list[str]) -> None:
    """GPUs are asked for in the engine's own words."""
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
def test_command_line(entry: list[str], first: str) -> None:
    """The server is named, unless the image's entry point is the server."""
    assert command_line(entry)[0] == first


def test_models_are_copied() -> None:
    """A model's files come into the container as they are, with the folders above them, dated so that Triton sees them."""
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
def test_where_a_remote_engine_is_reached(host: str, address: str, bind: str) -> None:
    """A local engine publishes on loopback; one on another host is reached at that host's address."""
    assert reached_at(host) == (address, bind)


def test_ports_of_a_remote_engine() -> None:
    """The ports that a remote engine chose are used at its address."""
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
def test_refusals_of_the_engine(call: str, explanation: str, message: str) -> None:
    """What the engine refuses is one message that says what it means, and no container stays."""
    engine = FakeEngine(**{call: Refusal(explanation)})

    with pytest.raises(TargetError, match=message):
        ContainerServer(Engine(engine), HERE)

    assert engine.things == []


def test_ports_that_are_not_published() -> None:
    """An engine that publishes nothing is told apart from a server that does not answer."""
    engine = FakeEngine()
    engine.ports = {"8000/tcp": PORTS["8000/tcp"], "8001/tcp": None}

    with pytest.raises(TargetError, match=r"has not published port 8001/tcp"):
        ContainerServer(Engine(engine), HERE)

    assert engine.things == []


def test_container_that_ends_at_start() -> None:
    """A container that ended is an error with the end of its log, and is removed."""
    engine = FakeEngine()
    engine.state = {"Status": "exited", "Running": False, "ExitCode": 1}
    engine.log = b"error: creating server: Internal - failed to load all models\n"

    with pytest.raises(TargetError, match=r"(?s)ended with exit code 1; the end of its log:.*failed to load all models"):
        ContainerServer(Engine(engine), HERE)

    assert engine.things == []


def test_server_that_is_never_ready(monkeypatch: pytest.MonkeyPatch) -> None:
    """Waiting ends at its limit, with the address and the end of the log."""
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
def test_how_a_container_ended(state: dict[str, Any], words: str) -> None:
    """The engine's account of a container's state, in words; nothing while it runs."""
    assert words in end_of(state)
    assert bool(end_of(state)) == bool(words)


def test_containers_that_are_gone() -> None:
    """A container that somebody removed, and an engine that does not answer any more, are told apart."""
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
def test_engine_that_cannot_be_reached(error: str, message: str) -> None:
    """Why the engine does not answer, and what to do about it."""
    assert unreachable("X", Exception(f"('Connection aborted.', {error})")).startswith(message.partition("Name")[0])


def test_no_sdk(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the SDK the message names the extra to install."""
    whole = builtins.__import__

    def without(name: str, *rest: Any) -> Any:
        if name == "docker":
            raise ModuleNotFoundError("No module named 'docker'", name="docker")
        return whole(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without)

    with pytest.raises(TargetError, match=r"pip install 'batchproof\[docker\]'"):
        connect()


def test_no_engine(tmp_path: Path) -> None:
    """Without an engine a run is a usage error in one message, which says how to start one, and there is no report."""
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
def test_image_with_another_target(verb: str) -> None:
    """--image is for containers only, and names one image."""
    command = [sys.executable, "-m", "batchproof", verb, "--image", "a:1", "--target"]

    others = subprocess.run([*command, "triton"], capture_output=True, text=True, timeout=60, check=False)
    twice = subprocess.run([*command, "triton-docker?image=b"], capture_output=True, text=True, timeout=60, check=False)

    assert (others.returncode, twice.returncode) == (2, 2)
    assert "--image goes with --target triton-docker" in others.stderr
    assert "name the image once" in twice.stderr


def test_shared_memory_that_is_full() -> None:
    """What Triton says when its shared memory is full gets the option that gives it more."""
    log = "I1 fine\nE1 model_lifecycle.cc:642] \"failed to load 'm': Unable to initialize shared memory key 'x'\"\n"

    assert server.complaints(log).splitlines()[0] == "failed to load 'm': Unable to initialize shared memory key 'x'"
    assert "shm=512m" in server.complaints(log).splitlines()[1]
