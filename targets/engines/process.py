"""The process that runs an engine, and the target that opens engines in it."""

from __future__ import annotations

import contextlib
import json
import select
import shutil
import socket
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

from batchproof.reference_batcher.continuous import EngineConfig
from batchproof.targets.deadlines import more_time, timeout_s
from batchproof.targets.engines import EngineGone, Generation, Output
from batchproof.targets.kit.interpreter import Interpreter
from batchproof.targets.kit.processes import Guarded
from batchproof.targets.protocol import TargetError, TargetInfo, Unsupported
from batchproof.targets.stdio import connect

HOST = Path(__file__).with_name("host.py")
SHOWN = 200
LOOK_S = 0.2  # between two checks that the program still runs


class HostProcess:
    """A program that calls `host.serve`. It ends with this process, and so does everything that it started.

    beside: more files that are copied with it. TargetError if it cannot be started; EngineGone if it dies, hangs, or sends
    anything that is not an answer.
    """

    def __init__(
        self,
        name: str,
        interpreter: Interpreter,
        program: Path,
        more: Mapping[str, str] | None = None,
        beside: Sequence[Path] = (),
    ) -> None:
        self.name = name
        self._folder = Path(mkdtemp(prefix="batchproof-"))  # a short name: the path of a socket may have 107 bytes
        for one in (HOST, program, *beside):
            shutil.copy(one, self._folder / ("engine_host.py" if one is HOST else one.name))
        self._answers: Any = None
        self._broken = ""
        self._line: socket.socket | None = None
        listener = socket.socket(socket.AF_UNIX)
        try:
            path = str(self._folder / "line")
            listener.bind(path)
            listener.listen(1)
            command = [interpreter.path, str(self._folder / program.name)]
            argv = [sys.executable, "-S", "-E", connect.__file__, path, *command]
            environment = interpreter.environment(self._folder, more)
            self.process = Guarded(argv, ready=lambda: self._connected(listener), name=name, env=environment)
            said = self._heard("start", timeout_s("DEPLOY_S"))
        except BaseException:
            self.finish()
            raise
        finally:
            listener.close()
        self.version = str(said.get("version", ""))

    def call(self, do: str, limit: str = "CALL_S", **fields: Any) -> dict[str, Any]:
        """Send a message and wait for its answer. An answer with `error` raises EngineGone as well."""
        assert self._line is not None
        try:
            self._line.sendall(json.dumps({"do": do, **fields}).encode() + b"\n")
        except OSError:
            raise EngineGone(self._why()) from None
        try:
            answer = self._heard(do, timeout_s(limit))
        except EngineGone as gone:
            self._broken = str(gone)
            raise
        if lack := answer.get("unsupported"):
            raise Unsupported(lack)
        return answer

    def trouble(self) -> str:
        """Return how it ended, or why it can no longer be used; an empty string if it can."""
        return self.process.ended() or self._broken

    def finish(self) -> None:
        """End the program and everything that it has started."""
        with contextlib.suppress(OSError):
            if self._line is not None:
                self._line.shutdown(socket.SHUT_RDWR)
        if process := vars(self).get("process"):
            process.finish()
        for one in (self._answers, self._line):
            if one is not None:
                one.close()
        shutil.rmtree(self._folder, ignore_errors=True)

    def _connected(self, listener: socket.socket) -> bool:
        if select.select([listener], [], [], 0)[0]:
            self._line = listener.accept()[0]
            self._answers = self._line.makefile("rb")
        return self._line is not None

    def _heard(self, do: str, seconds: float) -> dict[str, Any]:
        assert self._line is not None
        self._line.settimeout(seconds)
        try:
            self._await_answer(seconds)
            line = self._answers.readline()
        except TimeoutError:
            limit = "DEPLOY_S" if do == "start" else "CALL_S"
            raise EngineGone(f"{self.name} has not answered '{do}' after {seconds:g} s: {more_time(limit)}") from None
        except OSError:
            raise EngineGone(self._why()) from None
        if not line:
            raise EngineGone(self._why())
        try:
            answer = json.loads(line)
        except ValueError:
            raise EngineGone(f"{self.name} answered '{do}' with: {line[:SHOWN].decode('utf-8', 'replace')}") from None
        if not isinstance(answer, dict):
            raise EngineGone(f"{self.name} answered '{do}' with: {line[:SHOWN].decode('utf-8', 'replace')}")
        return answer

    def _await_answer(self, seconds: float) -> None:
        """Wait until an answer begins or the program ends: its children may keep its standard output open."""
        poll = select.poll()
        assert self._line is not None
        poll.register(self._line, select.POLLIN)
        until_s = time.monotonic() + seconds
        while not poll.poll(LOOK_S * 1000):
            if time.monotonic() > until_s:
                raise TimeoutError
            if why := self.process.ended():
                raise EngineGone(why)

    def _why(self) -> str:
        with contextlib.suppress(Exception):
            self.process._keeper.wait(1.0)  # noqa: SLF001 - its end is seen a moment after the end of its output
        return self.process.ended() or f"{self.name} has closed its standard output"


class HostedEngine:
    """An engine in a `HostProcess`."""

    def __init__(self, host: HostProcess, config: EngineConfig) -> None:
        self._host = host
        self._outputs: list[Output] = []
        self._lines: list[dict[str, Any]] = []
        answer = host.call("start", "DEPLOY_S", config=config.facts())
        if error := answer.get("error"):
            raise TargetError(f"{host.name} cannot open an engine: {error}\nwith {config}\n{answer.get('trace', '')}")
        self._take(answer)

    def submit(self, request: Generation) -> None:
        """Send a request; an exception in the engine is a refusal."""
        answer = self._host.call("submit", request=asdict(request))
        if error := answer.get("error"):
            self._outputs.append(Output(request.name, end="refused", text=error))
        self._take(answer)

    def step(self) -> tuple[list[Output], bool]:
        """Run one iteration; an exception in the engine is its end."""
        answer = self._host.call("step")
        self._take(answer)
        if error := answer.get("error"):
            raise EngineGone(f"{self._host.name} raised in an iteration: {error}")
        outputs, self._outputs = self._outputs, []
        return outputs, bool(answer["busy"])

    def abort(self, name: str) -> None:
        """Abort a request."""
        answer = self._host.call("abort", name=name)
        self._take(answer)
        if error := answer.get("error"):
            raise EngineGone(f"{self._host.name} raised when a request was aborted: {error}")

    def log(self) -> list[dict[str, Any]]:
        """Return the witness's new lines."""
        lines, self._lines = self._lines, []
        return lines

    def gauges(self) -> dict[str, float]:
        """Return the engine's gauges."""
        answer = self._host.call("gauges")
        self._take(answer)
        return dict(answer.get("gauges", {}))

    def device(self, base_ns: int, token_ns: int) -> None:
        """Let each iteration take a set time; Unsupported if its model cannot."""
        self._host.call("device", base_ns=base_ns, token_ns=token_ns)

    def close(self) -> None:
        """End the engine; its process remains for the next one."""
        with contextlib.suppress(EngineGone):
            self._host.call("stop", "LOAD_S")

    def _take(self, answer: Mapping[str, Any]) -> None:
        for name, sample, tokens, end, text in answer.get("outputs", ()):
            self._outputs.append(Output(name, tuple(tokens), end, sample, text))
        self._lines.extend(answer.get("lines", ()))


class ClientEngine(HostedEngine):
    """An engine behind a server, whose clients can disconnect in the middle of a request."""

    def disconnect(self, name: str) -> None:
        """Disconnect, which is how the program aborts a request."""
        self.abort(name)


class HostedTarget:
    """A target whose engines run in an interpreter of their own. A subclass fills in the fields.

    python: the path of that interpreter; empty for this one. distributions: the packages that it must have, the engine's
    first. beside: further files that are copied with the program. Paths of files are relative to this folder. sight: `wire`
    if nothing shows the iterations.
    """

    name: str
    program: str
    distributions: Sequence[str]
    hint = ""
    claims: Mapping[str, Any]
    environment: Mapping[str, str] = {}
    beside: Sequence[str] = ()
    sight = "witness"
    opens: type[HostedEngine] = HostedEngine

    def __init__(self, python: str = "") -> None:
        self._interpreter = Interpreter(python, self.distributions, self.hint)
        self._host: HostProcess | None = None
        reached = f"{self.name}?python={python}" if python else self.name
        version = self._interpreter.versions[self.distributions[0]]
        self.info = TargetInfo(self.name, version, reached, sight=self.sight, claims=self.claims, discipline="continuous")

    def engine(self, config: EngineConfig) -> HostedEngine:
        """Open an engine, in a new process if the last one died or hangs."""
        if self._host is None or self._host.trouble():
            self.forget()
            program, *beside = (HOST.parent / name for name in (self.program, *self.beside))
            self._host = HostProcess(self.name, self._interpreter, program, self.environment, beside)
        try:
            return self.opens(self._host, config)
        except EngineGone:
            self.forget()
            raise

    def deploy(self, config: Any) -> Any:  # noqa: ARG002 - as the protocol has it
        """Raise Unsupported: an engine has no dynamic batcher."""
        raise Unsupported("dynamic batching")

    def server_log(self) -> str:
        """Return what the process has printed."""
        return self._host.process.output() if self._host else ""

    def forget(self) -> None:
        """End the process; the next engine gets a new one."""
        host, self._host = self._host, None
        if host is not None:
            host.finish()

    def close(self) -> None:
        """End the process."""
        self.forget()
