"""A server with the witness in it is a deployment: all its verbs, and nothing is left of it."""

from __future__ import annotations

import signal
import textwrap
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from batchproof.fixtures.judging.patience import PATIENCE
from batchproof.host.clock import HOST_CLOCK
from batchproof.targets.kit import HttpClient, Interpreter, Server, free_port
from batchproof.targets.kit.server import CLOSE_S
from batchproof.targets.protocol import Deployment, Request, TargetError

if TYPE_CHECKING:
    from collections.abc import Callable

HALF = textwrap.dedent("""
    import json, os, signal, sys, tempfile
    from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
    import numpy as np
    from batchproof_witness import Counted, Witnesses

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            tensor = np.array(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            with counted.waiting(tensor):
                (answer,) = counted.execute([tensor])
            self.send_response(200)
            self.end_headers()
            self.wfile.write(json.dumps([part.tolist() for part in answer]).encode())
        def do_GET(self):
            self.send_response(200)
            self.end_headers()

    counted = Counted(Witnesses())
    print("in", os.getcwd(), tempfile.gettempdir(), sys.argv[2], flush=True)
    ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
""")


def soon(condition: Callable[[], object]) -> bool:
    return HOST_CLOCK.wait(lambda: bool(condition()), HOST_CLOCK.now_ns() + 20 * 10**9)


def test_a_server_is_a_deployment(tmp_path: Path) -> None:
    """It answers, logs, counts, opens gates, closes like its user does, and takes its folder with it."""
    (tmp_path / "half.py").write_text(HALF)
    port = free_port()
    client = HttpClient(f"http://127.0.0.1:{port}")
    server = Server(Interpreter(), tmp_path / "half.py", port, 2.5, name="the half", submit=partial(client.infer, "/"),
                    ready=partial(client.ok, "/"))
    said = server.processes.output().splitlines()[0].split()

    future = server.submit(Request("r0", 3, hold=8))
    entered = soon(server.log)
    server.release(8)
    answer = future.result(30)
    queued, lines = server.queued(), server.log()
    server.close()
    ended = server.processes.ended()
    server.finish()

    assert isinstance(server, Deployment)
    assert np.array_equal(answer.echo, Request("r0", 3, hold=8).tensor())
    assert (entered, queued, [set(line) for line in lines]) == (True, 0, [{"instance", "batch", "exit_ns", "failed"}])
    assert ended
    assert said[1] == said[2]
    assert said[3] == "2.5"
    assert not Path(said[1]).exists()
    assert server.process_group == 0


def test_a_server_that_does_not_start_leaves_nothing(tmp_path: Path) -> None:
    """The message has the name and the last words, and the folder is gone."""
    (tmp_path / "half.py").write_text("import os, sys; sys.exit(os.getcwd())")

    half = partial(Server, Interpreter(), tmp_path / "half.py", name="the half", ready=bool, ends_by=signal.SIGTERM)
    with pytest.raises(TargetError, match=r"(?s)the half ended with status 1.*batchproof-") as caught:
        half(submit=lambda _: None)

    assert not Path(str(caught.value).splitlines()[-1]).exists()


def test_a_server_that_has_not_ended_is_not_closed() -> None:
    """`close` returns when the server has ended, so it waits for longer than a drive waits for `close`."""
    longest_ns = max(patience.wait_ns for patience in PATIENCE.values())

    assert 2 * longest_ns < CLOSE_S * 1e9
