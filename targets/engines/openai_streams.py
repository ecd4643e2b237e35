"""Streams of an OpenAI-compatible server's `/v1/completions`, as tokens. This file travels: standard library only.

A request is sent and its answer's status read in the order of the calls, so that requests arrive in that order; what is
streamed is then read by a thread for each request.
"""

from __future__ import annotations

import contextlib
import http.client
import json
import queue
import socket
import threading
from collections.abc import Iterator
from typing import Any, NamedTuple
from urllib.parse import urlsplit

OK = 200
DONE = "[DONE]"
SHOWN = 300


class Chunk(NamedTuple):
    """What came out for a sample of a request: new tokens, and its end ("" if it has not ended)."""

    name: str
    tokens: tuple[int, ...] = ()
    end: str = ""
    sample: int = 0
    text: str = ""


class Streams:
    """Requests under way at a server. seconds: how long it may be silent before a stream is given up."""

    def __init__(self, url: str, model: str, seconds: float = 60.0) -> None:
        place = urlsplit(url)
        self.host, self.port, self.model, self.seconds = place.hostname or "", place.port or 80, model, seconds
        self.chunks: queue.SimpleQueue[Chunk] = queue.SimpleQueue()
        self._open: dict[str, list[socket.socket]] = {}
        self._lock = threading.Lock()

    def send(self, name: str, **fields: Any) -> None:
        """Send a request for a streamed completion. fields: of its body. A refusal comes out as a chunk."""
        connection = http.client.HTTPConnection(self.host, self.port, timeout=self.seconds)
        body = {"model": self.model, "stream": True, "return_token_ids": True, **fields}
        try:
            connection.request("POST", "/v1/completions", json.dumps(body), {"Content-Type": "application/json"})
            line = connection.sock
            answer = connection.getresponse()
            refusal = "" if answer.status == OK else f"{answer.status}: {_message(answer.read())}"
        except (OSError, http.client.HTTPException) as error:
            connection.close()
            self.chunks.put(Chunk(name, end="error", text=f"no answer: {type(error).__name__}: {error}"))
            return
        if refusal:
            connection.close()
            self.chunks.put(Chunk(name, end="refused", text=refusal))
            return
        with self._lock:
            self._open.setdefault(name, []).append(line)
        threading.Thread(target=self._read, args=(name, line, answer), daemon=True).start()

    def disconnect(self, *names: str) -> None:
        """Go away in the middle of these requests, or of all; nothing more comes out of them."""
        with self._lock:
            lines = [line for name in names or list(self._open) for line in self._open.pop(name, [])]
        for line in lines:
            with contextlib.suppress(OSError):
                line.shutdown(socket.SHUT_RDWR)

    @property
    def busy(self) -> bool:
        """Whether a stream is open, or something has not been taken."""
        return bool(self._open) or not self.chunks.empty()

    def taken(self, wait_s: float) -> Iterator[Chunk]:
        """Yield what has come out; wait so long for the first of it."""
        with contextlib.suppress(queue.Empty):
            yield self.chunks.get(timeout=wait_s)
            while True:
                yield self.chunks.get_nowait()

    def get(self, path: str, method: str = "GET") -> str:
        """Return a document of the server, such as its metrics; OSError if it does not answer with one."""
        connection = http.client.HTTPConnection(self.host, self.port, timeout=self.seconds)
        try:
            connection.request(method, path)
            answer = connection.getresponse()
            text = answer.read().decode("utf-8", "replace")
        except http.client.HTTPException as error:
            raise OSError(f"{path}: {type(error).__name__}: {error}") from None
        finally:
            connection.close()
        if answer.status != OK:
            raise OSError(f"{path}: status {answer.status}: {text[:SHOWN]}")
        return text

    def _read(self, name: str, line: socket.socket, answer: http.client.HTTPResponse) -> None:
        try:
            for text in _events(answer):
                for chunk in chunks_of(name, text):
                    self._put(name, line, chunk)
        except (OSError, http.client.HTTPException, ValueError, KeyError, TypeError, AttributeError) as error:
            why = f"the stream broke: {type(error).__name__}: {error}"
            self._put(name, line, Chunk(name, end="error", text=why[:SHOWN]))
        finally:
            with self._lock:
                mine = self._open.get(name, [])
                if line in mine:
                    mine.remove(line)
                if not mine:
                    self._open.pop(name, None)
            with contextlib.suppress(OSError):
                answer.close()

    def _put(self, name: str, line: socket.socket, chunk: Chunk) -> None:
        with self._lock:
            gone = line not in self._open.get(name, [])
        if not gone:
            self.chunks.put(chunk)


def _events(answer: http.client.HTTPResponse) -> Iterator[str]:
    """Yield the data of a stream's events, up to its last."""
    for line in answer:
        text = line.decode("utf-8", "replace").strip()
        if text == f"data: {DONE}":
            return
        if text.startswith("data:"):
            yield text.removeprefix("data:").strip()
        elif text and not text.startswith((":", "event:", "id:", "retry:")):
            raise ValueError(f"neither an event nor a comment: {text[:80]}")


def chunks_of(name: str, text: str) -> Iterator[Chunk]:
    """Yield what one event says; ValueError, KeyError or TypeError if it is not one of a completion's stream."""
    event = json.loads(text)
    if error := event.get("error"):
        yield Chunk(name, end="error", text=str(error.get("message", error) if isinstance(error, dict) else error)[:SHOWN])
        return
    for choice in event["choices"]:
        tokens = tuple(int(token) for token in choice.get("token_ids") or ())
        yield Chunk(name, tokens, choice.get("finish_reason") or "", int(choice["index"]))


def samples(text: str) -> dict[str, float]:
    """Return the metrics of a Prometheus text by name, each summed over its labels."""
    found: dict[str, float] = {}
    for line in text.splitlines():
        if line.startswith("#"):
            continue
        name, _, value = line.rpartition(" ")
        name = name.partition("{")[0].strip()
        with contextlib.suppress(ValueError):
            found[name] = found.get(name, 0.0) + float(value)
    return found


def _message(body: bytes) -> str:
    """Return what a refusal says."""
    with contextlib.suppress(ValueError, TypeError, AttributeError):
        error = json.loads(body).get("error")
        return str(error["message"] if isinstance(error, dict) else error)[:SHOWN]
    return body.decode("utf-8", "replace")[:SHOWN]
