"""Streams of an OpenAI-compatible server: what is said well, badly, twice, or not at all comes out as it was said."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

import pytest

from batchproof.targets.engines.completions import Address, Chunk, Streams, chunks_of, samples
from batchproof.targets.kit.readiness import until

if TYPE_CHECKING:
    from collections.abc import Iterator

ENDLESS = 9


class Handler(BaseHTTPRequestHandler):
    """A server that says what the script of the request's first token says."""

    scripts: dict[int, list[str]] = {}  # noqa: RUF012 - set by a test
    asked: list[dict[str, Any]] = []  # noqa: RUF012
    gone = threading.Event()

    def do_POST(self) -> None:
        """Stream, or refuse an empty prompt."""
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.asked.append(body)
        if not body["prompt"]:
            self.send_response(400)
            self.end_headers()
            self.wfile.write(b'{"error": {"message": "an empty prompt"}}')
            return
        self.send_response(200)
        self.end_headers()
        first = body["prompt"][0]
        for line in self.scripts.get(first, []):
            self.wfile.write(line.encode() + b"\n\n")
            self.wfile.flush()
        while first == ENDLESS:
            try:
                self.wfile.write(b": still here\n\n")
                self.wfile.flush()
            except OSError:
                self.gone.set()
                return

    def do_GET(self) -> None:
        """Return metrics, or nothing good."""
        self.send_response(200 if self.path == "/metrics" else 500)
        self.end_headers()
        self.wfile.write(b"out of order")

    def log_message(self, *_: Any) -> None:
        """Print nothing."""


@pytest.fixture
def streams() -> Iterator[Streams]:
    """A client of a server that is started for the test."""
    Handler.asked, Handler.gone = [], threading.Event()
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield Streams(Address("127.0.0.1", server.server_port), "witness", 5.0)
    server.shutdown()
    server.server_close()


def event(tokens: list[int], end: str | None = None, index: int = 0) -> str:
    return "data: " + json.dumps({"choices": [{"index": index, "token_ids": tokens, "finish_reason": end}]})


def all_of(streams: Streams) -> list[Chunk]:
    found: list[Chunk] = []

    def over() -> bool:
        found.extend(streams.taken(0.01))
        return not streams.busy

    until(over, 10.0, "the end of all streams")
    return found


USAGE = 'data: {"choices": [], "usage": {}}'


@pytest.mark.parametrize(
    ("script", "chunks"),
    [
        ([event([5]), event([6, 7], "length"), USAGE, "data: [DONE]"], [("", (5,)), ("length", (6, 7))]),
        ([event([5], "stop"), event([], "stop"), "data: [DONE]"], [("stop", (5,)), ("stop", ())]),
        ([event([5])], [("", (5,))]),
        ([event([5], "length"), "data: [DONE]", event([6])], [("length", (5,))]),
        ([event([5]), 'data: {"error": {"message": "out of blocks"}}', "data: [DONE]"], [("", (5,)), ("error", ())]),
        ([event([5]), "data: {half of"], [("", (5,)), ("error", ())]),
        ([event([5]), "<html>"], [("", (5,)), ("error", ())]),
        (['data: {"choices": [7]}'], [("error", ())]),
        (["data: 7"], [("error", ())]),
    ],
    ids=["whole", "two ends", "no end", "more after it", "an error", "half an event", "no event", "no choice", "a number"],
)
def test_what_a_server_streams_is_what_comes_out(streams: Streams, script: list[str], chunks: list):
    """An end that is not sent is not made up; one that is sent twice comes out twice; garbage is an error."""
    Handler.scripts = {1: script}
    streams.send("a", prompt=[1], max_tokens=3)

    assert [(one.end, one.tokens) for one in all_of(streams)] == chunks
    assert Handler.asked[0]["model"] == "witness"
    assert Handler.asked[0]["stream"] is True
    assert Handler.asked[0]["return_token_ids"] is True


def test_samples_are_told_apart(streams: Streams):
    """Each choice has its index."""
    Handler.scripts = {1: [event([5], index=1), event([6], "length"), event([7], "length", 1), "data: [DONE]"]}
    streams.send("a", prompt=[1], n=2)

    assert all_of(streams) == [Chunk("a", (5,), "", 1), Chunk("a", (6,), "length", 0), Chunk("a", (7,), "length", 1)]


def test_a_refusal_has_the_servers_words(streams: Streams):
    """The status and the message."""
    streams.send("a", prompt=[])

    assert all_of(streams) == [Chunk("a", end="refused", text='400: {"error": {"message": "an empty prompt"}}')]


def test_a_server_that_is_not_there_is_an_error():
    """The request ends, and says why."""
    streams = Streams(Address("127.0.0.1", 9), "witness", 1.0)
    streams.send("a", prompt=[1])
    (chunk,) = all_of(streams)

    assert (chunk.name, chunk.end) == ("a", "error")
    assert chunk.text.startswith("no answer: ConnectionRefusedError")
    with pytest.raises(OSError, match="refused"):
        streams.get("/metrics")


def test_who_goes_away_hears_nothing_more_and_the_server_notices(streams: Streams):
    """The connection is closed in the middle of the stream."""
    Handler.scripts = {ENDLESS: [event([5])]}
    streams.send("a", prompt=[ENDLESS])
    until(lambda: not streams.found.empty(), 10.0, "the first token")
    streams.disconnect("a")

    assert Handler.gone.wait(10.0)
    assert all_of(streams) == [Chunk("a", (5,))]


def test_a_document_is_whole_or_an_error(streams: Streams):
    """A status that is not 200 says so."""
    assert streams.get("/metrics") == "out of order"
    with pytest.raises(OSError, match="/health: status 500: out of order"):
        streams.get("/health")


def test_metrics_are_summed_over_their_labels():
    """Comments and what is not a number are left out."""
    text = '# HELP a\na{x="1",y="b c"} 2.0\na{x="2"} 3\nb 1e3\nc NaN-ish\n'

    assert samples(text) == {"a": 5.0, "b": 1000.0}


def test_an_event_without_tokens_is_no_output():
    """The last event may only say how much was used."""
    assert list(chunks_of("a", {"choices": []}, str)) == []
