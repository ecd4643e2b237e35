"""JSON over HTTP/1.1, as any client of a server sends it."""

from __future__ import annotations

import contextlib
import http.client
import json
import socket
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from typing import Any
from urllib.parse import urlsplit

import numpy as np

from batchproof.targets.deadlines import timeout_s
from batchproof.targets.futures import relay
from batchproof.targets.kit.bounded import BoundedConnection
from batchproof.targets.kit.pool import Pool
from batchproof.targets.protocol import Kind, Request, Response

AT_ONCE = 256
MESSAGE = 2000  # characters of an error's body that are kept
KINDS: Mapping[int, Kind] = {
    400: Kind.INVALID,
    413: Kind.INVALID,
    422: Kind.INVALID,
    408: Kind.EXPIRED,
    504: Kind.EXPIRED,
    429: Kind.FULL,
    503: Kind.FULL,
    499: Kind.CANCELLED,
    500: Kind.FAILED,
}
STATUSES: Mapping[int, str] = {  # as gRPC and HTTP are mapped to each other in google/rpc/code.proto
    400: "INVALID_ARGUMENT",
    404: "NOT_FOUND",
    413: "INVALID_ARGUMENT",
    422: "INVALID_ARGUMENT",
    429: "RESOURCE_EXHAUSTED",
    499: "CANCELLED",
    500: "INTERNAL",
    501: "UNIMPLEMENTED",
    503: "UNAVAILABLE",
    504: "DEADLINE_EXCEEDED",
}


class HttpError(Exception):
    """An answer whose status is not 200 to 299. code: the status. body: the beginning of its text."""

    def __init__(self, code: int, body: str) -> None:
        super().__init__(f"{code} {body}".strip())
        self.code = code
        self.body = body


def http_kind(error: BaseException, kinds: Mapping[int, Kind] = KINDS) -> Kind:
    """Classify an error by its HTTP status: by `kinds`, or OTHER; LOST if there was no answer at all."""
    if isinstance(error, OSError | http.client.HTTPException) and not hasattr(error, "code"):
        return Kind.LOST
    return kinds.get(getattr(error, "code", -1), Kind.OTHER)


def http_status(error: BaseException) -> str:
    """Return the canonical gRPC name of an error's HTTP status, or an empty string."""
    return STATUSES.get(getattr(error, "code", 0), "")


class HttpCall(Future[Any]):
    """The answer to one request over HTTP. `cancel` works until it is settled, and closes its connection."""

    def __init__(self, connection: http.client.HTTPConnection) -> None:
        super().__init__()
        self.connection = connection

    def cancel(self) -> bool:
        """Go away: close the connection, without waiting for an answer."""
        cancelled = super().cancel()
        if cancelled and self.connection.sock is not None:
            with contextlib.suppress(OSError):
                self.connection.sock.shutdown(socket.SHUT_RDWR)
        return cancelled


class HttpClient:
    """A client of one server: a connection for each request, past any proxy that the environment names, nothing sent twice.

    base: such as `http://127.0.0.1:8000`. at_once: how many requests can be under way; more of them wait here, unsent.
    kinds: what the server means by a status, where that differs from `KINDS`: `{503: Kind.CLOSED}`.
    """

    def __init__(self, base: str, at_once: int = AT_ONCE, kinds: Mapping[int, Kind] | None = None) -> None:
        parts = urlsplit(base)
        self.base = base.rstrip("/")
        self._address, self._prefix = parts.netloc, parts.path.rstrip("/")
        self._pool = Pool(at_once, f"batchproof-http-{parts.port}")
        self._kinds = {**KINDS, **(kinds or {})}

    def get(self, path: str, seconds: float | None = None) -> Any:
        """GET; return the answer's JSON, or None if it has no body. HttpError, or OSError if there is no answer in time."""
        return self._exchange(self._connection(seconds or timeout_s("CALL_S")), "GET", path, None)

    def post(self, path: str, value: Any, seconds: float | None = None) -> Any:
        """POST a value as JSON; arrays become lists. Returns and raises as `get` does."""
        return self._exchange(self._connection(seconds or timeout_s("CALL_S")), "POST", path, value)

    def ok(self, path: str) -> bool:
        """Return whether a GET is answered with a status of 200 to 299, whatever its body is."""
        try:
            self._exchange(self._connection(timeout_s("CONNECT_S")), "GET", path, None, parse=False)
        except (HttpError, OSError, http.client.HTTPException):
            return False
        return True

    def submit(self, path: str, value: Any) -> HttpCall:
        """POST a value as JSON on a thread of this client; return a Future of the answer's JSON, however long that takes."""
        connection = self._connection(None)
        call = HttpCall(connection)

        def exchange() -> None:
            if call.done():
                return
            try:
                result = self._exchange(connection, "POST", path, value)
            except Exception as error:
                with contextlib.suppress(Exception):  # it was cancelled meanwhile
                    call.set_exception(error)
            else:
                with contextlib.suppress(Exception):
                    call.set_result(result)

        self._pool.run(exchange)
        return call

    def infer(
        self, path: str, request: Request, body: Callable[[Any], Any] = lambda tensor: tensor,
        answer: Callable[[Any], Any] = lambda value: value,
    ) -> Future[Response]:  # fmt: skip
        """Send a request to the witness; return a Future of its Response, which `cancel` can take back.

        body: what is posted, made from the tensor (an array; it becomes nested lists). answer: the pair (echo, info) in the
        JSON that comes back. Errors are Refused with their kind and status.
        """
        def read(value: Any) -> Response:
            echo, info = answer(value)
            return Response(np.array(echo), np.array(info))

        call = self.submit(path, body(request.tensor()))
        return relay(call, read, lambda error: http_kind(error, self._kinds), http_status)

    def close(self) -> None:
        """Start no more threads. Requests that are under way are left alone."""
        self._pool.close()

    def _connection(self, seconds: float | None) -> http.client.HTTPConnection:
        return BoundedConnection(self._address, seconds=seconds)

    def _exchange(
        self, connection: http.client.HTTPConnection, method: str, path: str, value: Any, *, parse: bool = True
    ) -> Any:
        """Send a request and return what its answer says."""
        body = None if method == "GET" else json.dumps(value, default=_listed).encode()
        headers = {"Connection": "close"} if body is None else {"Connection": "close", "Content-Type": "application/json"}
        with contextlib.closing(connection):
            connection.request(method, self._prefix + path, body, headers)
            reply = connection.getresponse()
            data = reply.read()
        if not 200 <= reply.status < 300:
            raise HttpError(reply.status, data.decode("utf-8", "replace")[:MESSAGE])
        return json.loads(data) if data and parse else None


def _listed(value: Any) -> Any:
    """Return an array as nested lists, and a number of numpy as Python's."""
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    raise TypeError(f"{type(value).__name__} cannot be sent as JSON")
