"""The HTTP client against a real server on a thread: what is sent, what comes back, and what a cancelled call does."""

from __future__ import annotations

import json
import socket
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from batchproof.targets.kit import HttpClient, HttpError, cancel, free_port, http_kind, http_status
from batchproof.targets.protocol import Kind, Refused, Request

if TYPE_CHECKING:
    from collections.abc import Iterator


class Handler(BaseHTTPRequestHandler):
    """`/echo` answers with what it got and zeros; `/NUMBER` with that status; `/wait` when its client has gone away."""

    protocol_version = "HTTP/1.1"
    seen: list[dict[str, Any]] = []  # noqa: RUF012 - one for each test
    arrived = threading.Event()
    gone = threading.Event()

    def do_GET(self) -> None:
        """Answer without a body."""
        self.answer(200 if self.path == "/base/health" else 404, b"")

    def do_POST(self) -> None:
        """Answer as the path asks."""
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.seen.append({"path": self.path, **dict(self.headers), "body": body})
        name = self.path.rpartition("/")[2]
        if name == "wait":
            self.arrived.set()
            assert self.rfile.read(1) == b""
            self.gone.set()
        elif name.isdigit():
            self.answer(int(name), b"what went wrong")
        elif name == "text":
            self.answer(200, b"not JSON")
        elif name == "cut":
            self.connection.shutdown(socket.SHUT_RDWR)
        else:
            value = json.loads(body)
            self.answer(200, json.dumps([value, [[0] * 10 for _ in value]]).encode())
        self.close_connection = True

    def answer(self, status: int, body: bytes) -> None:
        """Send a status and a body."""
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Print nothing."""


@pytest.fixture
def client(monkeypatch: pytest.MonkeyPatch) -> Iterator[HttpClient]:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    Handler.seen, Handler.arrived, Handler.gone = [], threading.Event(), threading.Event()
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        client = HttpClient(f"http://127.0.0.1:{server.server_port}/base", kinds={418: Kind.CLOSED})
        yield client
        client.close()
        server.shutdown()
        thread.join()


def test_a_request_travels_as_lists(client: HttpClient) -> None:
    """Every number of the tensor comes back as it was, and each request has a connection of its own."""
    request = Request("r0", (1 << 60) + 1)

    response = client.infer("/echo", request).result(30)

    assert response.echo.dtype == np.int64
    assert np.array_equal(response.echo, request.tensor())
    assert response.info is not None
    assert response.info.shape == (1, 10)
    (seen,) = Handler.seen
    assert (seen["path"], seen["Content-Type"], seen["Connection"]) == ("/base/echo", "application/json", "close")


def test_the_body_and_the_answer_can_have_a_form(client: HttpClient) -> None:
    """`body` wraps what is sent, and `answer` finds the pair in what comes back."""
    request = Request("r0", 5)

    def body(tensor: Any) -> list[Any]:
        return [{"inputs": tensor}]

    def answer(value: Any) -> Any:
        return value[0][0]["inputs"], value[1]

    assert np.array_equal(client.infer("/echo", request, body, answer).result(30).echo, request.tensor())


@pytest.mark.parametrize(
    ("path", "kind", "status"),
    [
        ("/400", Kind.INVALID, "INVALID_ARGUMENT"),
        ("/429", Kind.FULL, "RESOURCE_EXHAUSTED"),
        ("/500", Kind.FAILED, "INTERNAL"),
        ("/504", Kind.EXPIRED, "DEADLINE_EXCEEDED"),
        ("/418", Kind.CLOSED, ""),
        ("/402", Kind.OTHER, ""),
        ("/cut", Kind.LOST, ""),
        ("/text", Kind.OTHER, ""),
    ],
)
def test_errors_have_a_kind(client: HttpClient, path: str, kind: Kind, status: str) -> None:
    """By their status, by what this server means by it, or because the connection broke."""
    with pytest.raises(Refused) as refused:
        client.infer(path, Request("r0", 1)).result(30)

    assert (refused.value.kind, refused.value.status) == (kind, status)


def test_a_server_that_is_away_is_lost() -> None:
    """A refused connection is an error of the call."""
    client = HttpClient(f"http://127.0.0.1:{free_port()}")

    with pytest.raises(ConnectionRefusedError) as refused:
        client.submit("/", 1).result(30)

    assert (http_kind(refused.value), http_status(refused.value)) == (Kind.LOST, "")
    assert not client.ok("/")


def test_calls_that_wait(client: HttpClient) -> None:
    """`get` and `post` return what the server says; `ok` looks at the status alone."""
    assert client.get("/health") is None
    assert client.post("/echo", np.array([[1, 2]])) == [[[1, 2]], [[0] * 10]]
    assert (client.ok("/health"), client.ok("/other")) == (True, False)
    with pytest.raises(HttpError, match=r"^500 what went wrong$"):
        client.post("/500", 1)


def test_cancelling_closes_the_connection(client: HttpClient) -> None:
    """The server sees that its client has gone away, and the request is refused as cancelled."""
    future = client.infer("/wait", Request("r0", 1))
    assert Handler.arrived.wait(30)

    cancel(future)

    with pytest.raises(Refused) as refused:
        future.result(30)
    assert refused.value.kind is Kind.CANCELLED
    assert Handler.gone.wait(30)


def test_a_call_that_has_not_begun_is_never_sent(client: HttpClient) -> None:
    """A request that is cancelled while it waits for a thread does not reach the server."""
    narrow = HttpClient(client.base, at_once=1)
    first = narrow.submit("/wait", 1)
    assert Handler.arrived.wait(30)
    second = narrow.submit("/echo", [[2]])

    assert (second.cancel(), first.cancel()) == (True, True)

    assert narrow.submit("/echo", [[3]]).result(30)[0] == [[3]]
    assert [one["body"] for one in Handler.seen] == [b"1", b"[[3]]"]
    narrow.close()
