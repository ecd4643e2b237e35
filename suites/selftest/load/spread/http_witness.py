"""A server that answers each request at once, and remembers which came: what a crew needs to be tried on."""

from __future__ import annotations

import json
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator


class Answering(BaseHTTPRequestHandler):
    """Takes the rows of one request, and gives them back with facts that nobody reads."""

    protocol_version = "HTTP/1.1"
    seen: list[int]

    def do_POST(self) -> None:
        """Answer."""
        rows = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.seen.append(rows[0][0])
        data = json.dumps([rows, rows]).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


class Server(ThreadingHTTPServer):
    """Lets many clients wait until it accepts them, as servers do."""

    daemon_threads = True
    request_queue_size = 1024


@contextmanager
def http_witness() -> Iterator[tuple[str, list[int]]]:
    """Yield its address, and the serials of the requests so far."""
    seen: list[int] = []
    handler = type("Handler", (Answering,), {"seen": seen})
    with Server(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}", seen
        server.shutdown()
