"""A client of an OpenAI-compatible server's `/v1/completions`: streams as tokens, chunk by chunk.

This file is copied into other interpreters: it needs only the standard library.
"""

from __future__ import annotations

import contextlib
import http.client
import json
import queue
import socket
import ssl
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol
from zlib import crc32

REFUSALS = range(400, 500)
ENDS = {"length": "length", "stop": "stop", "abort": "abort"}
DATA = "data:"
DONE = "[DONE]"
SHOWN = 200
LONGEST = 2**20  # bytes of a line of a stream, or of the text of an error
WRONG = "the stream is not that of the OpenAI API"


class Garbage(Exception):
    """A stream with content that the API does not have."""


class Chunk(NamedTuple):
    """Output for a sample of a request, with the fields of `Output`."""

    name: str
    tokens: tuple[int, ...] = ()
    end: str = ""
    sample: int = 0
    text: str = ""


class Connect(Protocol):
    """Makes a connection. seconds: how long it may take to answer; None: as long as it takes."""

    def __call__(self, host: str, port: int, *, seconds: float | None) -> http.client.HTTPConnection:
        """Make one."""


@dataclass(frozen=True)
class Address:
    """The address of a server, and the key that it needs, which no message ever shows.

    connection: makes a connection for an answer that has to be complete within so many seconds; None: a plain one.
    """

    host: str
    port: int
    prefix: str = ""
    secure: bool = False
    key: str = field(default="", repr=False)
    connection: Connect | None = field(default=None, repr=False, compare=False)

    @property
    def base(self) -> str:
        """Return it as a URL."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{'https' if self.secure else 'http'}://{host}:{self.port}{self.prefix}"

    def asked(
        self, method: str, path: str, body: Any = None, seconds: float | None = None, *, streams: bool = False
    ) -> http.client.HTTPConnection:
        """Send a request, and return the connection to read the answer from; OSError if there is no server.

        streams: the answer comes bit by bit, so that only its silence is limited.
        """
        if self.connection is not None and not streams:
            line = self.connection(self.host, self.port, seconds=seconds)
        elif self.secure:
            line = http.client.HTTPSConnection(self.host, self.port, timeout=seconds, context=ssl.create_default_context())
        else:
            line = http.client.HTTPConnection(self.host, self.port, timeout=seconds)
        headers = {"Connection": "close"} | ({"Authorization": f"Bearer {self.key}"} if self.key else {})
        data = None if body is None else json.dumps(body).encode()
        if data is not None:
            headers["Content-Type"] = "application/json"
        try:
            line.request(method, self.prefix + path, data, headers)
        except BaseException:
            line.close()
            raise
        return line

    def clean(self, text: str) -> str:
        """Return the beginning of a server's text, without the key."""
        return (text.replace(self.key, "***") if self.key else text).strip()[:SHOWN]


def number_of(token: str) -> int:
    """Return a number that stands for a token of which only the text is known."""
    return crc32(token.encode("utf-8", "surrogatepass"))


def tokens_of(choice: Mapping[str, Any]) -> tuple[int, ...]:
    """Return the tokens in an event: their IDs, or numbers for their texts; Garbage if there is a text without tokens."""
    if isinstance(ids := choice.get("token_ids"), list):
        return tuple(int(one) for one in ids)
    logprobs = choice.get("logprobs") or {}
    if isinstance(texts := logprobs.get("tokens"), list):
        return tuple(number_of(str(one)) for one in texts)
    if isinstance(content := logprobs.get("content"), list):  # llama.cpp's, as in chats
        return tuple(number_of(str(one["token"])) for one in content)
    if choice.get("text"):
        raise Garbage("a text without token_ids and without logprobs: its tokens cannot be counted")
    return ()


def chunks_of(name: str, event: Any, clean: Callable[[str], str]) -> Iterator[Chunk]:
    """Yield what an event contains for each sample; Garbage if it is not an event of a completion."""
    if not isinstance(event, dict):
        raise Garbage(f"{WRONG}: {clean(json.dumps(event))}")
    if (error := event.get("error")) or event.get("object") == "error":
        yield Chunk(name, end="error", text=clean(json.dumps(error or event)))
        return
    choices = event.get("choices")
    if not isinstance(choices, list):
        raise Garbage(f"{WRONG}: {clean(json.dumps(event))}")
    for choice in choices:
        try:
            tokens, reason = tokens_of(choice), choice.get("finish_reason") or ""
            sample = int(choice.get("index", 0))
        except (AttributeError, KeyError, TypeError, ValueError):
            raise Garbage(f"{WRONG}: {clean(json.dumps(choice))}") from None
        if reason and reason not in ENDS:
            yield Chunk(name, tokens, "error", sample, f"it ended with {clean(str(reason))}")
        elif tokens or reason:
            yield Chunk(name, tokens, ENDS.get(reason, ""), sample)


def waiting(found: queue.Queue[Chunk], seconds: float = 0.0) -> Iterator[Chunk]:
    """Yield what is in a queue. seconds: how long to wait for the first chunk."""
    with contextlib.suppress(queue.Empty):
        if seconds:
            yield found.get(timeout=seconds)
        while True:
            yield found.get_nowait()


class Stream(threading.Thread):
    """A request under way, whose chunks go to `found`. A connection that breaks gives no end.

    connect_s: how long the server may take to accept the connection. seconds: how long it may be silent; None: for ever.
    """

    def __init__(
        self,
        address: Address,
        name: str,
        body: Any,
        found: queue.Queue[Chunk],
        connect_s: float,
        seconds: float | None = None,
    ) -> None:
        super().__init__(name=f"batchproof-openai-{name}"[:60], daemon=True)
        self.request, self.over, self.ended, self.status = name, False, False, 0
        self._found, self._address, self._left, self._lock = found, address, False, threading.Lock()
        self._answer: http.client.HTTPResponse | None = None
        self._line = address.asked("POST", "/v1/completions", body, connect_s, streams=True)
        self._socket = self._line.sock
        self._socket.settimeout(seconds)

    def begin(self) -> None:
        """Wait for the answer's status before `start`, so that the next request arrives after this one."""
        try:
            self._answer = self._line.getresponse()
        except BaseException:
            self._line.close()
            raise

    def run(self) -> None:
        """Read until the server is done, or the connection ends."""
        try:
            answer = self._answer or self._line.getresponse()
            self.status = answer.status
            if answer.status == http.client.OK:
                self._read(answer)
            else:
                text = f"{answer.status}: {self._address.clean(answer.read(LONGEST).decode('utf-8', 'replace'))}"
                self._put(Chunk(self.request, end="refused" if answer.status in REFUSALS else "error", text=text))
        except Garbage as garbage:
            self._put(Chunk(self.request, end="error", text=str(garbage)))
        except (OSError, ValueError, http.client.HTTPException, AttributeError):
            pass  # it has ended, or was closed here
        finally:
            self.over = True
            self._line.close()

    def leave(self) -> None:
        """Close the connection in the middle of the stream; nothing comes out any more."""
        with self._lock:
            self._left = True
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)

    def _read(self, answer: http.client.HTTPResponse) -> None:
        while raw := answer.readline(LONGEST):
            line = raw.decode("utf-8", "replace").strip()
            if len(raw) >= LONGEST:
                raise Garbage(f"{WRONG}: a line of more than {LONGEST} bytes: {self._address.clean(line)}")
            if self._left or line == f"{DATA} {DONE}":
                return
            if not line or line.startswith((":", "event:", "id:", "retry:")):
                continue
            if not line.startswith(DATA):
                raise Garbage(f"{WRONG}: {self._address.clean(line)}")
            try:
                event = json.loads(line.removeprefix(DATA))
                for chunk in chunks_of(self.request, event, self._address.clean):
                    self._put(chunk)
            except (ValueError, RecursionError):
                raise Garbage(f"{WRONG}: {self._address.clean(line)}") from None

    def _put(self, chunk: Chunk) -> None:
        with self._lock:
            if not self._left:
                self.ended |= bool(chunk.end)
                self._found.put(chunk)


class Streams:
    """The requests under way at a server. seconds: how long it may be silent before a stream is given up."""

    def __init__(self, address: Address, model: str, seconds: float = 60.0) -> None:
        self.address, self.model, self.seconds = address, model, seconds
        self.found: queue.Queue[Chunk] = queue.Queue()
        self._open: list[Stream] = []

    def send(self, name: str, **fields: Any) -> None:
        """Send a request, and wait for the status of the answer. fields: of its body. A refusal comes out as a chunk."""
        body = {"model": self.model, "stream": True, "return_token_ids": True, **fields}
        try:
            stream = Stream(self.address, name, body, self.found, self.seconds, self.seconds)
            stream.begin()
        except (OSError, http.client.HTTPException) as error:
            self.found.put(Chunk(name, end="error", text=f"no answer: {type(error).__name__}: {error}"))
            return
        self._open.append(stream)
        stream.start()

    def disconnect(self, *names: str) -> None:
        """Close the connections of these requests, or of all; nothing more comes out of them."""
        leaving = [one for one in self._open if not names or one.request in names]
        for one in leaving:
            one.leave()
        self._open = [one for one in self._open if one not in leaving]

    @property
    def busy(self) -> bool:
        """Whether a stream is open, or a chunk has not been taken."""
        self._open = [one for one in self._open if not one.over]
        return bool(self._open) or not self.found.empty()

    def taken(self, wait_s: float) -> Iterator[Chunk]:
        """Yield what has come out. wait_s: how long to wait for the first chunk."""
        return waiting(self.found, wait_s)

    def get(self, path: str, method: str = "GET") -> str:
        """Return a document of the server, such as its metrics; OSError if it does not answer with one."""
        try:
            with contextlib.closing(self.address.asked(method, path, seconds=self.seconds)) as line:
                answer = line.getresponse()
                text = answer.read().decode("utf-8", "replace")
        except http.client.HTTPException as error:
            raise OSError(f"{path}: {type(error).__name__}: {error}") from None
        if answer.status != http.client.OK:
            raise OSError(f"{path}: status {answer.status}: {self.address.clean(text)}")
        return text


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
