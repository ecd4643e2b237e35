"""Runs llama.cpp's server, and talks to it over HTTP. This file is copied into other interpreters: see `host.py`.

Each request has its own connection and thread. The server iterates by itself.
"""

from __future__ import annotations

import contextlib
import http.client
import json
import queue
import re
import socket
import threading
import time
from importlib import metadata
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import xllamacpp
from engine_host import CannotHave, Host, serve
from llamacpp_witness import LONGEST, write

WAIT_S = 0.02  # the longest wait for something new in a step
SEEN_S = 1.0  # the longest wait until the server counts a request
CLIENTS = 256  # connections at the same time
ENDS = {"limit": "length", "word": "stop", "eos": "stop"}
GAUGES = {"running": "requests_processing", "waiting": "requests_deferred", "prompt_tokens": "prompt_tokens_total",
          "output_tokens": "tokens_predicted_total", "cached_tokens": "prompt_tokens_cached_total"}  # fmt: skip


class Stream(threading.Thread):
    """A request: what the server streams for it goes to `found` as [name, sample, tokens, end, text]."""

    def __init__(self, address: str, name: str, body: dict[str, Any], found: queue.Queue[list[Any]]) -> None:
        super().__init__(daemon=True)
        self.name_, self.found, self.over = name, found, False
        self.open, self.left, self.lock = set(range(body["n_cmpl"])), False, threading.Lock()
        where = urlsplit(address)
        self.line = http.client.HTTPConnection(str(where.hostname), int(where.port or 0))
        self.line.request("POST", "/completion", json.dumps(body), {"Content-Type": "application/json"})

    def run(self) -> None:
        """Read until the server is done, or the connection breaks."""
        try:
            answer = self.line.getresponse()
            if answer.status != http.client.OK:
                self.put(0, (), "refused", f"{answer.status}: {answer.read().decode('utf-8', 'replace')}")
                return
            for raw in answer:
                text = raw.decode("utf-8", "replace").strip()
                if text.startswith("data: {"):
                    self.take(json.loads(text.removeprefix("data: ")))
                elif text.startswith("error"):
                    self.put(0, (), "error", text)
        except (OSError, ValueError, http.client.HTTPException, AttributeError):
            pass  # the connection ended without a last chunk: the request has no end
        finally:
            self.over = True
            self.line.close()

    def take(self, said: dict[str, Any]) -> None:
        """Put what one event contains."""
        if "error" in said:
            self.put(0, (), "error", json.dumps(said["error"]))
            return
        end = ENDS.get(said.get("stop_type", ""), "error") if said["stop"] else ""
        self.put(said["index"], said["tokens"], end)

    def put(self, sample: int, tokens: Any, end: str, text: str = "") -> None:
        """Report output, unless the client has disconnected."""
        with self.lock:
            if not self.left:
                self.found.put([self.name_, sample, list(tokens), end, text])
                self.open -= {"": set(), "refused": self.open, "error": self.open}.get(end, {sample})

    def leave(self) -> None:
        """Close the connection in the middle of the stream, which ends the samples that have not ended."""
        with self.lock:
            for sample in () if self.left else sorted(self.open):
                self.found.put([self.name_, sample, [], "abort", "its client has closed the connection"])
            self.left = True
        with contextlib.suppress(OSError):
            if self.line.sock is not None:
                self.line.sock.shutdown(socket.SHUT_RDWR)


class LlamaCppHost(Host):
    """Each engine is a new server in this process."""

    name, version = "llamacpp", metadata.version("xllamacpp")

    def __init__(self) -> None:
        super().__init__()
        self.server: Any = None
        self.streams: list[Stream] = []
        self.found: queue.Queue[list[Any]] = queue.Queue()

    def start(self, config: dict[str, Any]) -> None:
        """Open a server; the model's context length is the length of the longest text."""
        longest, cells = config["max_model_len"], config["block_size"] * config["num_blocks"]
        if config["policy"] != "fcfs":
            raise CannotHave("priorities of requests")
        if not config["chunked_prefill"]:
            raise CannotHave("prompts that are always computed in one iteration")
        if longest > LONGEST:
            raise CannotHave(f"a text of more than {LONGEST} tokens")
        if cells < longest * config["max_num_seqs"]:
            raise CannotHave("a KV cache smaller than all its slots together")
        self.stop()
        path = Path(__file__).with_name(f"model-{longest}.gguf")
        asked = xllamacpp.CommonParams()
        asked.model.path = str(path if path.exists() else write(path, longest))
        asked.n_parallel = config["max_num_seqs"]
        asked.n_ctx = longest * config["max_num_seqs"]
        asked.n_batch = asked.n_ubatch = config["max_num_batched_tokens"]
        asked.cache_type_k = asked.cache_type_v = xllamacpp.ggml_type.GGML_TYPE_F32
        asked.flash_attn_type = xllamacpp.llama_flash_attn_type.LLAMA_FLASH_ATTN_TYPE_DISABLED
        asked.cpuparams.n_threads = asked.cpuparams_batch.n_threads = 1
        asked.endpoint_metrics, asked.endpoint_slots = True, True
        asked.warmup, asked.fit_params, asked.ui = False, False, False
        asked.n_threads_http = CLIENTS
        asked.hostnames, asked.port = ["127.0.0.1"], 0
        self.server = xllamacpp.Server(asked)
        self.prefix = config["prefix_cache"]

    def submit(self, request: dict[str, Any]) -> None:
        """Send a request, and wait until the server counts it, so that the next one arrives later."""
        body = {
            "prompt": request["prompt"], "n_predict": request["max_tokens"], "stream": True, "return_tokens": True,
            "samplers": ["top_k"], "top_k": 1, "temperature": 0.0, "cache_prompt": self.prefix,
            "stop": [f"<{token}>" for token in request["stop"]], "n_cmpl": request["samples"],
        }  # fmt: skip
        stream = Stream(self.server.listening_address, request["name"], body, self.found)
        self.streams.append(stream)
        stream.start()
        until = time.monotonic() + SEEN_S
        while not stream.over and time.monotonic() < until:
            gauges, known = self.gauges(), sum(not one.over for one in self.streams)
            if gauges["running"] + gauges["waiting"] >= known:
                break

    def step(self) -> bool:
        """Wait for a short time for something new, and report everything that has come out."""
        try:
            self.outputs.append(self.found.get(timeout=WAIT_S))
            while True:
                self.outputs.append(self.found.get_nowait())
        except queue.Empty:
            pass
        self.streams = [one for one in self.streams if not one.over]
        return bool(self.streams) or not self.found.empty()

    def abort(self, name: str) -> None:
        """Close the request's connections: this server's only way to abort a request."""
        for one in self.streams:
            if one.name_ == name:
                one.leave()

    def gauges(self) -> dict[str, float]:
        """Return the gauges in `/metrics`."""
        where = urlsplit(self.server.listening_address)
        line = http.client.HTTPConnection(str(where.hostname), int(where.port or 0))
        line.request("GET", "/metrics")
        said = line.getresponse().read().decode()
        line.close()
        numbers = dict(re.findall(r"^llamacpp:(\w+) ([\d.e+-]+)$", said, re.MULTILINE))
        return {name: float(numbers[metric]) for name, metric in GAUGES.items()}

    def stop(self) -> None:
        """End the server."""
        for one in self.streams:
            one.leave()
        for one in self.streams:
            one.join(1.0)
        self.streams, self.found = [], queue.Queue()
        self.server = None


if __name__ == "__main__":
    serve(LlamaCppHost())
