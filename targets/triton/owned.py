"""A Triton of our own, in a process or in a container: what starting, filling, watching and ending it have in common."""

from __future__ import annotations

import contextlib
import http.client
import os
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Protocol

from batchproof.targets.deadlines import TooLate
from batchproof.targets.kit.processes import tail
from batchproof.targets.protocol import TargetError, Unsupported
from batchproof.targets.triton.compiled import compiler
from batchproof.targets.triton.reported import with_reports
from batchproof.targets.triton.repository import TritonRepository
from batchproof.targets.triton.target import STRATEGY_FILE, UNHEALTHY, TritonDeployment, TritonTarget, pbtxt, witness_sources
from batchproof.targets.triton.wire import GrpcWire, Wire
from batchproof.targets.witness_model import TRITON_CLAIMS

EXIT_S = 5
STARTS = 3  # a busy host may starve the first model's process, which can end the server: docs/findings.md#f-2026-35
ENDING_S = 2.0  # a server that does not answer may be about to end, and how it ended says more
SHM_NEEDED = 64 << 20  # bytes; each instance of a Python model needs a megabyte
CACHE_BYTES = 16 << 20
MOST_OF_EARLIER = 1 << 20  # characters
LOADS_AT_ONCE = min(8, 2 * (os.cpu_count() or 1))  # a Python model loads for 0.3 s, half of it waiting
WITH_A_LIMITER = "with a rate limiter, "
WITH_A_STRATEGY = "with the strategy library that you gave it, "
SHM_FULL = (
    "the server's shared memory is full: free some of /dev/shm or, with triton-docker, give it more with the option shm=512m"
)


class Server(Protocol):
    """One tritonserver that this run has started and that ends with it."""

    @property
    def same_host(self) -> bool:
        """Whether it sees this host's shared memory."""

    @property
    def temporary(self) -> Path | None:
        """Its temporary folder on this host, if gates and logs in it are used as they are."""

    @property
    def grpc(self) -> str:
        """The address of its gRPC endpoint, host:port."""

    @property
    def metrics(self) -> str:
        """The address of its metrics, host:port."""

    @property
    def process_group(self) -> int:
        """Its processes, as this kernel numbers them; 0 if they are not known here."""

    def write(self, files: Mapping[str, bytes]) -> None:
        """Put files into the model repository: path inside it -> content."""

    def remove(self, name: str) -> None:
        """Remove a model's folder."""

    def log(self) -> str:
        """Return all that the server has logged so far."""

    def log_after(self, before: str) -> str:
        """Return what it has logged after `before`, an earlier `log()`; this may wait a moment."""

    def ended(self) -> str:
        """Return how the server ended, with the end of its log, or an empty string while it runs."""

    def pause(self) -> None:
        """Suspend all its processes."""

    def resume(self) -> None:
        """Resume them."""

    def kill_instance(self, model: str) -> bool:
        """Kill the process of one of a model's instances; False if none was found."""

    def stop(self) -> None:
        """End it and remove everything that it leaves behind. Safe to call twice; never raises."""


def over_grpc(server: Server) -> Wire:
    """Return a connection to a server's gRPC endpoint."""
    return GrpcWire(server.grpc, server.metrics)


class OwnTriton(TritonTarget):
    """A Triton of our own: its end is noticed, its log is read, and it ends with us.

    strategy: a library for custom batching, which each model gets; empty: none. connect: how requests reach the server.
    starts: how often it is started, if it dies before it is of use.
    """

    deploys_at_once = LOADS_AT_ONCE

    def __init__(
        self,
        start: Callable[[], Server],
        reached: str,
        strategy: bytes = b"",
        limited: Callable[[Mapping[str, int]], Server] | None = None,
        connect: Callable[[Any], Wire] = over_grpc,
        starts: int = STARTS,
    ) -> None:
        self._start, self._strategy, self._limited, self._connect = start, strategy, limited, connect
        self._lock = threading.Lock()
        self._others: dict[tuple[tuple[str, int], ...], OwnTriton] = {}
        self._earlier = ""
        self._server = server = start()
        self.process_group = server.process_group
        wire = connect(server)
        if strategy:
            vars(self).update(restart=None)  # it ends the next server, too, and not because the host is busy
        try:
            compiles = bool(compiler())
            own: dict[str, Any] = {"validation": True, "faults": True, "ensembles": True}
            own["sequence_state"] = "several" if compiles else False
            own["custom_batching"] = compiles and not strategy  # whose limits are not those of a rule
            own |= {"rate_limiter": limited is not None, "shared_memory": server.same_host}
            super().__init__(wire, reached=reached, claims={**TRITON_CLAIMS, **own})
        except BaseException as error:
            died = self._died_at_start(error, wire)
            wire.close()
            server.stop()
            if not died or strategy:
                raise
            if starts <= 1:
                raise TargetError(f"{reached} died at each start, before it could be used: {died}") from None
            OwnTriton.__init__(self, start, reached, strategy, limited, connect, starts - 1)

    def _died_at_start(self, error: BaseException, wire: Wire) -> str:
        """Return how the server ended, or its first model's process, which a busy host may cause; or an empty string."""
        if not isinstance(error, TargetError):
            return ""
        if UNHEALTHY in str(error):
            return str(error)
        return "" if wire.live() else self._ended()

    def _ended(self) -> str:
        """Return how the server ended, if it does within a moment."""
        deadline = time.monotonic() + ENDING_S
        while not (ended := self._server.ended()) and time.monotonic() < deadline:
            time.sleep(0.05)
        return ended

    @property
    def grpc(self) -> str:
        """The address of its gRPC endpoint, host:port, for clients other than ours."""
        return self._server.grpc

    def restart(self) -> None:
        """Start a new server in place of one that a fault has ended."""
        info, log = self.info, self.server_log()  # the claims may be the user's
        self.close()
        OwnTriton.__init__(self, self._start, info.reached, self._strategy, self._limited, self._connect)
        self.info, self._earlier = info, log[-MOST_OF_EARLIER:]

    def load_files(self, proto: Any, content: Mapping[str, bytes]) -> None:
        """Put the model into the server's own repository and load it; a TargetError quotes the log."""
        before = self._server.log()
        self._server.write({f"{proto.name}/{path}": text for path, text in content.items()})
        self._server.write({f"{proto.name}/config.pbtxt": pbtxt(proto).encode()})
        try:
            self._wire.load(proto.name)
        except TooLate:
            raise
        except TargetError as error:
            raise TargetError(f"{error}\n{complaints(self._server.log_after(before))}".strip()) from None

    def _model(self, config: Any, name: str) -> tuple[Any, Mapping[str, bytes]]:
        proto, content = super()._model(config, name)
        return proto, {**content, **({STRATEGY_FILE: self._strategy} if self._strategy else {})}

    def remove_files(self, name: str) -> None:
        """Remove a model's folder."""
        self._server.remove(name)

    def validate(self, name: str, text: str) -> str:
        """Return "loaded" if the server loads a model of this name with this config.pbtxt, else why it refused."""
        self._server.write(model_files(name, text, witness_sources("triton_control.py")))
        before = self._server.log()
        try:
            self._wire.load(name)
        except TooLate:
            raise  # it has neither loaded nor refused the model
        except TargetError as error:
            return f"{error} {complaints(self._server.log_after(before))}".strip()
        finally:
            self._wire.unload(name)
            self._server.remove(name)
        return "loaded"

    def deploy(self, config: Any, *, again: int = 2) -> TritonDeployment:
        """Deploy as on any Triton, with the faults that only the server's owner can cause."""
        deployment = super().deploy(config, again=again)

        def kill_instance() -> None:
            if not self._server.kill_instance(deployment.name):
                raise TargetError(f"no process of the model '{deployment.name}' is running")

        vars(deployment).update(pause=self._server.pause, resume=self._server.resume, kill_instance=kill_instance)
        if config is not None and config.strategy:
            vars(deployment).update(log=with_reports(deployment.log, self._server.log, deployment.name))
        return deployment

    def repository(self, limits: Mapping[str, int] | None = None) -> TritonRepository:
        """Open a repository, on another server if it has to have a rate limiter; that one ends with this one."""
        if limits is not None:
            return self._with_limiter(limits).repository()
        found = super().repository()

        def kill_instance(name: str) -> None:
            if not self._server.kill_instance(found.name_of(name)):
                raise TargetError(f"no process of the model '{name}' is running")

        vars(found).update(kill_instance=kill_instance)
        return found

    def _temporary(self) -> Path | None:
        return self._server.temporary

    def _with_limiter(self, limits: Mapping[str, int]) -> OwnTriton:
        if self._limited is None:
            raise Unsupported("rate_limiter")
        start, key = self._limited, tuple(sorted(limits.items()))
        with self._lock:
            if (there := self._others.get(key)) and there.alive():
                self._others.pop(key).close()  # it has died
            if key not in self._others:
                self._others[key] = OwnTriton(lambda: start(limits), self.info.reached)
            return self._others[key]

    def alive(self) -> str:
        """Return how it, or one with a rate limiter, ended, or that it does not answer; an empty string if it is alive."""
        if why := self._server.ended() or super().alive():
            return f"{WITH_A_STRATEGY if self._strategy else ''}{self._ended() or why}"
        others = (other.alive() for other in tuple(self._others.values()))
        return next((f"{WITH_A_LIMITER}{how}" for how in others if how), "")

    def server_log(self) -> str:
        """Return the end of what servers logged that died, all that this one has, and then those with a rate limiter."""
        earlier = [self._earlier] if self._earlier else []
        return "\n".join([*earlier, self._server.log(), *(other.server_log() for other in self._others.values())])

    def close(self) -> None:
        """Disconnect and stop the server, and those with a rate limiter."""
        for other in self._others.values():
            other.close()
        self._others.clear()
        self._wire.close()
        self._server.stop()


def flags(*, completes: bool = False, **more: str) -> list[str]:
    """Return the options that every server of ours has, then `more`: `grpc_port="1"` -> `--grpc-port=1`.

    completes: the server asks each model for what its configuration lacks, as Triton does by default. Ours lacks nothing,
    and for a Python model the question costs a second and a process of its own.
    """
    return [
        "--model-control-mode=explicit",
        f"--model-load-thread-count={LOADS_AT_ONCE}",
        f"--exit-timeout-secs={EXIT_S}",
        f"--cache-config=local,size={CACHE_BYTES}",
        *([] if completes else ["--disable-auto-complete-config"]),
        *(f"--{name.replace('_', '-')}={value}" for name, value in more.items()),
    ]


def model_files(name: str, config: str, sources: Mapping[str, bytes]) -> dict[str, bytes]:
    """Return a model as files inside the repository, whatever its config.pbtxt says."""
    return {f"{name}/config.pbtxt": config.encode(), **{f"{name}/1/{file}": text for file, text in sources.items()}}


def complaints(log: str) -> str:
    """Return the errors in the log, because the load API itself does not give the reason."""
    bad = (line for line in log.splitlines() if line[:1] == "E" or "Poll failed" in line)
    text = "\n".join(line.split("] ", 1)[-1].strip('"')[:500] for line in bad)
    return f"{text}\n{SHM_FULL}" if "shared memory key" in text else text


def wait_ready(
    address: str, timeout_s: float, server: Server, hint: str = "", pause: Callable[[float], None] = time.sleep
) -> None:
    """Wait until the server at this HTTP address (host:port) is ready; TargetError if it ends or the time is up.

    hint: how the user can give it more time.
    """
    deadline = time.monotonic() + timeout_s
    while time.monotonic() < deadline:
        if why := server.ended():
            raise TargetError(why)
        if _ready(address):
            return
        pause(0.05)
    end = tail(server.log())
    raise TargetError(f"tritonserver was not ready at {address} after {timeout_s:g} s{hint}; the end of its log:\n{end}")


def _ready(address: str) -> bool:
    """Ask over HTTP, because a gRPC channel that was refused waits longer and longer before it tries again."""
    with (
        contextlib.suppress(OSError, http.client.HTTPException),
        contextlib.closing(http.client.HTTPConnection(address, timeout=1.0)) as connection,
    ):
        connection.request("GET", "/v2/health/ready")
        return connection.getresponse().status == http.client.OK
    return False
