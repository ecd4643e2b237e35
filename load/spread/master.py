"""Locust's master, in a process of its own: `-m batchproof.load.spread.master HOST PORT SOCKET`.

It passes messages between the crew, at the other end of the socket, and the workers, and asks each worker for the time again
and again: the crew is not quick enough for that while it computes. It imports gevent: never import it anywhere else.
"""

from __future__ import annotations

import locust  # isort: skip - first of all, because it patches the modules that others import

import contextlib
import logging
import os
import signal
import socket
import sys
import time
from typing import Any

import gevent
from locust.env import Environment

from batchproof.load.spread.messages import DO, IS, Lines

BEGIN = (0.02,) * 20  # at first the time is asked for in quick succession, so that a run can start soon
EVERY_S = 0.2
LAST_WORDS_S = 0.3


class Master:
    """Passes messages on. Workers are known by what Locust calls them."""

    def __init__(self, runner: Any, lines: Lines) -> None:
        self._runner, self._lines = runner, lines
        self._watched: set[str] = set()
        runner.register_message(IS, self._said)

    def serve(self) -> None:
        """Do what the crew says until it has gone."""
        for message in self._lines:
            client = message.pop("to")
            if message["do"] == "watch":
                self._watched.add(client)
                gevent.spawn(self._watch, client)
                continue
            if message["do"] == "quit":
                self._watched.discard(client)
            self._send(client, message)

    def _said(self, msg: Any, **_: Any) -> None:
        at_ns = time.monotonic_ns()
        message = msg.data | {"from": msg.node_id}
        if message["is"] == "pong":
            message = message | {"is": "exchange", "t4": at_ns}
        self._lines.send(message)

    def _watch(self, client: str) -> None:
        """Ask for the time, for as long as the crew wants to know."""
        pauses = iter(BEGIN)
        while client in self._watched:
            self._send(client, {"do": "ping", "t1": time.monotonic_ns()})
            gevent.sleep(next(pauses, EVERY_S))

    def _send(self, client: str, message: dict[str, Any]) -> None:
        with contextlib.suppress(Exception):  # to a worker that has gone: the crew notices its silence
            self._runner.send_message(DO, message, client)


def main() -> None:
    """Bind, say where, and serve."""
    host, port, path = sys.argv[1], int(sys.argv[2]), sys.argv[3]
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    logging.basicConfig(level=logging.CRITICAL)
    with socket.socket(socket.AF_UNIX) as channel:
        channel.connect(path)
        lines = Lines(channel)
        environment = Environment(events=locust.events)
        try:
            runner = environment.create_master_runner(host, port)
        except (Exception, SystemExit) as error:
            why = str(error).removeprefix("Socket bind failure: ").partition(" (addr=")[0]
            lines.send({"is": "unbound", "why": why})
            os._exit(os.EX_OK)
        lines.send({"is": "bound", "port": runner.server.port})
        Master(runner, lines).serve()
        gevent.sleep(LAST_WORDS_S)
    os._exit(os.EX_OK)


if __name__ == "__main__":
    main()
