"""Targets that are late, or never ready, and a wall clock that is set back: what is reported, and that every wait ends."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from typer.testing import CliRunner

from batchproof.cli import app
from batchproof.reports import read
from batchproof.targets import resolve
from batchproof.targets.deadlines import TIMEOUTS_S, TooLate, timeout_s, within
from batchproof.targets.protocol import Misuse, TargetError
from batchproof.targets.triton import embedded
from batchproof.targets.triton.owned import OwnTriton
from batchproof.targets.triton.target import running_triton
from batchproof.targets.triton.wire import GrpcWire

PATIENT = 90  # seconds before a subprocess counts as hung; nothing waits that long
SOON, LATER = "0.3", 30.0  # a limit, and what would be waited for without it
STUCK = """
import threading
from batchproof.targets.protocol import TargetInfo

class Stuck:
    info = TargetInfo("stuck", "1", "stuck", "", "wire", {})

    def deploy(self, config):
        threading.Event().wait()
"""


def unused(*_: Any) -> None:
    """Do nothing."""


# Limits


@pytest.mark.parametrize("text", ["soon", "0", "-1", "nan", "inf"])
def test_what_is_not_a_limit(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    """A variable that is not a number of seconds above 0 is the user's mistake, and is named before anything starts."""
    monkeypatch.setenv("BATCHPROOF_LOAD_S", text)

    with pytest.raises(Misuse, match=f"BATCHPROOF_LOAD_S must be a number of seconds above 0, not '{text}'"):
        resolve("null")


@pytest.mark.parametrize("command", ["check", "bench", "tune", "diff", "lab oracle"])
def test_what_is_not_a_limit_is_misuse(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, command: str) -> None:
    """Every command that takes a target ends with 2, as for any other mistake of its user, and writes nothing."""
    monkeypatch.setenv("BATCHPROOF_READY_S", "soon")
    monkeypatch.chdir(tmp_path)
    targets = ["--target", "null"] * (1 + (command == "diff"))

    ended = CliRunner().invoke(app, [*command.split(), *targets])

    assert (ended.exit_code, list(tmp_path.iterdir())) == (2, [])


@pytest.mark.parametrize("name", TIMEOUTS_S)
def test_a_limit_has_a_default_and_a_variable(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """Each limit has both, and the variable wins."""
    monkeypatch.delenv(f"BATCHPROOF_{name}", raising=False)
    default = timeout_s(name)
    monkeypatch.setenv(f"BATCHPROOF_{name}", "2.5")

    assert (default, timeout_s(name)) == (TIMEOUTS_S[name], 2.5)


@pytest.mark.timeout(60, method="thread")  # the other method is an alarm, and there is one alarm
def test_code_that_is_late_is_left_with_a_message(monkeypatch: pytest.MonkeyPatch) -> None:
    """The message names the variable, and the alarm is as it was before."""
    monkeypatch.setenv("BATCHPROOF_DEPLOY_S", SOON)
    handler, began = signal.getsignal(signal.SIGALRM), time.monotonic()

    said = "it has not returned after 0.3 s: give it more time with BATCHPROOF_DEPLOY_S"
    with pytest.raises(TooLate, match=said), within("DEPLOY_S", "it"):
        threading.Event().wait(LATER)

    assert time.monotonic() - began < LATER / 2
    assert (signal.getsignal(signal.SIGALRM), signal.getitimer(signal.ITIMER_REAL)[0]) == (handler, 0)


@pytest.mark.timeout(60, method="thread")
def test_code_that_is_in_time_is_not_disturbed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Another's alarm is left alone, so are other threads, and code that is in time is not disturbed afterwards."""
    monkeypatch.setenv("BATCHPROOF_DEPLOY_S", "0.05")
    with within("DEPLOY_S", "it"):
        pass
    time.sleep(0.1)
    signal.setitimer(signal.ITIMER_REAL, LATER)
    try:
        with within("DEPLOY_S", "it"):
            time.sleep(0.1)
        assert signal.getitimer(signal.ITIMER_REAL)[0] > 1
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)

    def elsewhere() -> bool:
        with within("DEPLOY_S", "it"):
            time.sleep(0.1)
        return True

    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(elsewhere).result(LATER)


# Models that never come


@pytest.fixture
def grpc_server(monkeypatch: pytest.MonkeyPatch) -> Iterator[SimpleNamespace]:
    """A gRPC server that is up, and never finishes loading a model."""
    import grpc
    from tritonclient.grpc import service_pb2, service_pb2_grpc

    monkeypatch.setenv("BATCHPROOF_LOAD_S", SOON)
    over, unloaded = threading.Event(), threading.Event()

    class Servicer(service_pb2_grpc.GRPCInferenceServiceServicer):
        def ServerMetadata(self, _request: Any, _context: Any) -> Any:  # noqa: N802
            return service_pb2.ServerMetadataResponse(name="triton", version="2.51.0")

        def RepositoryModelLoad(self, _request: Any, _context: Any) -> Any:  # noqa: N802
            over.wait(LATER)
            return service_pb2.RepositoryModelLoadResponse()

        def RepositoryModelUnload(self, request: Any, _context: Any) -> Any:  # noqa: N802
            unloaded.name = request.model_name  # type: ignore[attr-defined]
            unloaded.set()
            return service_pb2.RepositoryModelUnloadResponse()

    server = grpc.server(ThreadPoolExecutor(4))
    service_pb2_grpc.add_GRPCInferenceServiceServicer_to_server(Servicer(), server)
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    try:
        yield SimpleNamespace(address=f"127.0.0.1:{port}", unloaded=unloaded)
    finally:
        over.set()
        server.stop(0).wait(LATER)


def test_a_model_that_is_never_ready_is_reported(grpc_server: SimpleNamespace) -> None:
    """A load that does not end names the model, the limit and its variable, and removes the model should it come."""
    with pytest.raises(TooLate) as late:
        running_triton(f"grpc://{grpc_server.address}")

    said = f"grpc://{grpc_server.address} has not loaded the model 'batchproof_control' in 0.3 s"
    assert str(late.value) == f"{said}: give it more time with BATCHPROOF_LOAD_S=SECONDS"
    assert grpc_server.unloaded.wait(LATER)
    assert grpc_server.unloaded.name == "batchproof_control"


def test_a_server_without_its_control_model_is_unavailable(grpc_server: SimpleNamespace, tmp_path: Path) -> None:
    """A server that does not load the control model cannot be judged: exit 4, and no report."""
    run = checked(f"grpc://{grpc_server.address}", tmp_path / "report")

    assert run.returncode == 4
    assert "has not loaded the model 'batchproof_control' in 0.3 s" in run.stderr + run.stdout
    assert not (tmp_path / "report").exists()


def test_a_model_that_is_never_ready_over_http_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same holds over HTTP."""
    pytest.importorskip("tritonclient.http", reason="the extra `tritonclient[http]` is not installed", exc_type=ImportError)
    monkeypatch.setenv("BATCHPROOF_LOAD_S", SOON)
    over = threading.Event()

    class Handler(BaseHTTPRequestHandler):
        log_message = unused  # type: ignore[assignment]

        def do_GET(self) -> None:
            answer = b'{"name": "triton", "version": "2.51.0", "extensions": []}'
            self.send_response(200)
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def do_POST(self) -> None:
            over.wait(LATER)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        with pytest.raises(TooLate, match=r"http://\S+ has not loaded the model 'batchproof_control' in 0\.3 s"):
            running_triton(f"http://127.0.0.1:{server.server_port}")
    finally:
        over.set()
        server.shutdown()
        server.server_close()


@pytest.mark.parametrize("scheme", ["grpc", "http"])
def test_a_server_that_never_answers_has_the_time_of_a_first_call(monkeypatch: pytest.MonkeyPatch, scheme: str) -> None:
    """A server that accepts and says nothing gets as long as a first call may take, and not as long as a model."""
    pytest.importorskip(f"tritonclient.{scheme}", exc_type=ImportError)
    monkeypatch.setenv("BATCHPROOF_CONNECT_S", SOON)
    monkeypatch.setenv("BATCHPROOF_LOAD_S", str(10 * LATER))
    began = time.monotonic()

    with socket.create_server(("127.0.0.1", 0)) as deaf:
        address = f"127.0.0.1:{deaf.getsockname()[1]}"
        with pytest.raises(TargetError, match=rf"no Triton answers at {scheme}://{address}: .*is this its \w+ port"):
            running_triton(f"{scheme}://{address}")

    assert time.monotonic() - began < LATER


def test_a_late_model_is_not_a_refused_one() -> None:
    """A config.pbtxt that the server neither accepted nor refused in time is not judged as refused."""

    def load(_name: str) -> None:
        raise TooLate("it has not loaded")

    target = object.__new__(OwnTriton)
    target._server = SimpleNamespace(write=unused, remove=unused, log=str, log_after=str)  # type: ignore[assignment]
    target._wire = SimpleNamespace(load=load, unload=unused)  # type: ignore[assignment]

    with pytest.raises(TooLate):
        target.validate("strange", "")


def test_a_server_that_is_never_ready_is_ended(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A server of ours that starts but never serves is ended when its time is over, and leaves nothing."""
    binary = tmp_path / "tritonserver"
    binary.write_text("#!/bin/sh\necho loading\nexec sleep 1000\n", encoding="utf-8")
    binary.chmod(0o755)
    layout = SimpleNamespace(
        binary=binary, caches=tmp_path, backends=lambda into: into, environment=lambda: dict(os.environ)
    )
    monkeypatch.setenv("BATCHPROOF_READY_S", "0.5")
    monkeypatch.setattr(embedded.Layout, "find", lambda: layout)
    monkeypatch.setattr(embedded.tempfile, "tempdir", str(tmp_path))

    with pytest.raises(TargetError, match=r"not ready at \S+ after 0.5 s \(give .* BATCHPROOF_READY_S="):
        embedded.EmbeddedServer()

    assert [path.name for path in tmp_path.iterdir()] == ["tritonserver"]


def test_an_adapter_that_never_returns_is_an_error(tmp_path: Path) -> None:
    """A `deploy` that hangs is an ERROR. After the second in a row the rest is not judged, and the report says why."""
    (tmp_path / "stuck.py").write_text(STUCK, encoding="utf-8")

    run = checked("stuck:Stuck", tmp_path / "report", PYTHONPATH=str(tmp_path), BATCHPROOF_DEPLOY_S=SOON)
    report = read(tmp_path / "report")

    assert run.returncode == 1
    assert [line["verdict"] for line in report.results] == ["ERROR"]
    assert not report.footer["complete"]
    assert report.footer["reason"].startswith("2 times in a row: `deploy` of stuck has not returned after 0.3 s")


def checked(target: str, report: Path, rule: str = "DB-SIZE-*", **environment: str) -> subprocess.CompletedProcess[str]:
    """Run the command line."""
    command = [sys.executable, "-m", "batchproof", "check", "--target", target, "--rules", rule, "--report", str(report)]
    env = os.environ | environment
    return subprocess.run(command, env=env, capture_output=True, text=True, timeout=PATIENT, check=False)


# The wall clock

BACK = """
import sys, time, threading
true, moves = time.time, []
def jumping():
    moves.append(0)
    return true() - 3600 * (len(moves) // 3)  # an hour back with every third look at it
time.time = jumping
time.time_ns = lambda: int(jumping() * 1e9)
import threading
threading.Thread(target=lambda: [time.sleep(0.01) or time.time() for _ in range(10**9)], daemon=True).start()
from batchproof.cli import main
sys.exit(main())
"""


def test_a_wall_clock_that_is_set_back_changes_no_verdict(tmp_path: Path) -> None:
    """It goes back by an hour again and again while rules about time are judged."""
    rule = "DB-DELAY-001,DB-DELAY-002,DB-DELAY-004,DB-LIVE-001,DB-SIZE-002,DB-TIMEOUT-001"
    command = [sys.executable, "-c", BACK, "check", "--target", "reference", "--rules", rule, "--report", str(tmp_path)]

    run = subprocess.run(command, capture_output=True, text=True, timeout=PATIENT, check=False)
    report = read(tmp_path)

    assert run.returncode in (0, 75), run.stdout + run.stderr
    assert {line["verdict"] for line in report.results} <= {"PASS", "INCONCLUSIVE"}
    assert len(report.results) == 6
    assert report.footer["complete"]


def test_a_stream_to_a_server_that_hangs_is_closed() -> None:
    """The stream that keeps the channel's thread ends at once and silently, although the other end does not answer."""
    pytest.importorskip("tritonclient.grpc", reason="the extra `triton` is not installed")
    with socket.create_server(("127.0.0.1", 0)) as mute:
        wire = GrpcWire(f"127.0.0.1:{mute.getsockname()[1]}", "127.0.0.1:1")
        wire.keep()
        kept = wire._channel._stream._handler
        hanging_up = threading.Thread(target=wire.close, daemon=True)
        hanging_up.start()
        hanging_up.join(30)

    assert not hanging_up.is_alive()
    assert not kept.is_alive()
