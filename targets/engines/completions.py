"""One request to an OpenAI-compatible server: what its stream says, event by event."""

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
from typing import Any
from zlib import crc32

from batchproof.targets.deadlines import timeout_s
from batchproof.targets.engines import Output

REFUSALS = range(400, 500)
ENDS = {"length": "length", "stop": "stop", "abort": "abort"}
DATA = "data:"
DONE = "[DONE]"
SHOWN = 200
WRONG = "the stream is not that of the OpenAI API"


class Garbage(Exception):
    """A stream that says what nobody understands."""


@dataclass(frozen=True)
class Address:
    """Where a server is, and the key that it wants, which no message ever shows."""

    host: str
    port: int
    prefix: str = ""
    secure: bool = False
    key: str = field(default="", repr=False)

    @property
    def base(self) -> str:
        """Return it as a URL."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{'https' if self.secure else 'http'}://{host}:{self.port}{self.prefix}"

    def asked(self, method: str, path: str, body: Any = None, seconds: float | None = None) -> http.client.HTTPConnection:
        """Send a request, and return the connection that gets the answer; OSError if there is no server."""
        line = http.client.HTTPConnection(self.host, self.port, timeout=seconds)
        if self.secure:
            line = http.client.HTTPSConnection(self.host, self.port, timeout=seconds, context=ssl.create_default_context())
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
        """Return what a server said, in short and without the key."""
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


def outputs_of(name: str, event: Any, clean: Callable[[str], str]) -> Iterator[Output]:
    """Yield what an event says about each sample; Garbage if it is not one of a completion."""
    if not isinstance(event, dict):
        raise Garbage(f"{WRONG}: {clean(json.dumps(event))}")
    if (error := event.get("error")) or event.get("object") == "error":
        yield Output(name, end="error", text=clean(json.dumps(error or event)))
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
            yield Output(name, tokens, "error", sample, f"it ended with {clean(str(reason))}")
        elif tokens or reason:
            yield Output(name, tokens, ENDS.get(reason, ""), sample)


class Stream(threading.Thread):
    """A request under way. What the server says goes to `found`. A connection that ends without a word says nothing.

    seconds: how long the server may be silent; None: for ever.
    """

    def __init__(
        self, address: Address, name: str, body: Any, found: queue.Queue[Output], seconds: float | None = None
    ) -> None:
        super().__init__(name=f"batchproof-openai-{name}"[:60], daemon=True)
        self.request, self.over, self.ended, self.status = name, False, False, 0
        self._found, self._address, self._left = found, address, False
        self._line = address.asked("POST", "/v1/completions", body, timeout_s("CONNECT_S"))
        self._socket = self._line.sock
        self._socket.settimeout(seconds)

    def run(self) -> None:
        """Read until the server is done, or the connection ends."""
        try:
            answer = self._line.getresponse()
            self.status = answer.status
            if answer.status == http.client.OK:
                self._read(answer)
            else:
                said = f"{answer.status}: {self._address.clean(answer.read().decode('utf-8', 'replace'))}"
                self._put(Output(self.request, end="refused" if answer.status in REFUSALS else "error", text=said))
        except Garbage as garbage:
            self._put(Output(self.request, end="error", text=str(garbage)))
        except (OSError, ValueError, http.client.HTTPException, AttributeError):
            pass  # it has ended, or was closed here
        finally:
            self.over = True
            self._line.close()

    def leave(self) -> None:
        """Go away: close the connection in the middle. Nothing comes out once `join` has returned."""
        self._left = True
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)

    def _read(self, answer: http.client.HTTPResponse) -> None:
        for raw in answer:
            line = raw.decode("utf-8", "replace").strip()
            if self._left or line == f"{DATA} {DONE}":
                return
            if not line or line.startswith((":", "event:", "id:", "retry:")):
                continue
            if not line.startswith(DATA):
                raise Garbage(f"{WRONG}: {self._address.clean(line)}")
            try:
                event = json.loads(line.removeprefix(DATA))
            except ValueError:
                raise Garbage(f"{WRONG}: {self._address.clean(line)}") from None
            for output in outputs_of(self.request, event, self._address.clean):
                self._put(output)

    def _put(self, output: Output) -> None:
        self.ended |= bool(output.end)
        self._found.put(output)
