"""The server's half: an HTTP server, and the witness as its model: `example_server.py PORT BATCH_SIZE DELAY_S`.

Batchproof starts it in a process of its own, where `batchproof_witness` is on the path.
"""

import json
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
from batchproof_witness import Counted, Witnesses
from example_batcher import Batcher

counted = Counted(Witnesses())
batcher = Batcher(counted.execute, int(sys.argv[2]), float(sys.argv[3]))


class Handler(BaseHTTPRequestHandler):
    """POST takes a tensor as nested lists, and answers with echo and info; GET says that the server is ready."""

    def do_GET(self):
        """Be ready."""
        self.answer(200, "ready")

    def do_POST(self):
        """Count the request as soon as the batcher has queued it, and answer when the batcher does."""
        tensor = np.array(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
        future = counted.track(int(tensor[0, 0]), batcher.submit(tensor))
        try:
            self.answer(200, [part.tolist() for part in future.result()])
        except Exception as error:
            self.answer(500, str(error))

    def answer(self, status, value):
        """Send JSON."""
        self.send_response(status)
        self.end_headers()
        self.wfile.write(json.dumps(value).encode())

    def log_message(self, *_):
        """Do not print a line for each request."""


if __name__ == "__main__":
    ThreadingHTTPServer.request_queue_size = 256  # of connections that come at once
    ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
