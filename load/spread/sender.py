"""Sends a worker's share, in a process without Locust and gevent: `-m batchproof.load.spread.sender DESCRIPTOR PARENT_PID`.

It is the generator that loads a target from one machine, and it ends with its parent.
"""

from __future__ import annotations

import contextlib
import signal
import socket
import sys
from concurrent.futures import Future
from typing import Any

import numpy as np

from batchproof.host.clock import HOST_CLOCK
from batchproof.host.guard import end_with
from batchproof.load.runs import open_loop
from batchproof.load.schedule import Schedule
from batchproof.load.spread.messages import Lines, Message, sample_pieces, unpacked
from batchproof.targets.kit.routes import Client, Route
from batchproof.targets.protocol import Request
from batchproof.targets.witness.probe import Payload

NO_PERCENTILE = 1.0  # whether there are enough requests for the percentile that is asked for is judged over all workers


class Sender:
    """One worker's sender: keeps what it was told of the next run, and the connection of the last."""

    def __init__(self, lines: Lines) -> None:
        self._lines = lines
        self._pieces: list[Any] = []
        self._order: Message = {}
        self._schedule: Schedule | None = None
        self._route: Route | None = None
        self._client: Client | None = None

    def listen(self) -> None:
        """Do what is asked for, until the worker has gone."""
        for message in self._lines:
            try:
                self._do(message)
            except Exception as error:
                self._lines.send({"is": "failed", "run": message.get("run"), "why": f"{type(error).__name__}: {error}"})

    def _do(self, message: Message) -> None:
        match message["do"]:
            case "due":
                self._pieces.append(unpacked(message["column"], "<i8"))
            case "prepare":
                pieces, self._pieces = self._pieces, []
                self._order = message
                self._schedule = Schedule(np.concatenate(pieces), message["spec"], message["length_ns"])
                self._connect(Route(**message["route"]))
                self._lines.send({"is": "ready", "run": message["run"]})
            case "start" if message["run"] == self._order.get("run"):
                self._run(message["start_ns"])

    def _connect(self, route: Route) -> None:
        """Connect, unless that is so already: another model of the same server needs no new connection."""
        if (
            self._client is not None
            and self._route is not None
            and (self._route.wire, self._route.address)
            == (
                route.wire,
                route.address,
            )
        ):
            self._route = route
            return
        if self._client is not None:
            self._client.close()
        self._client, self._route = route.connect(), route

    def _run(self, start_ns: int) -> None:
        order, client, route = self._order, self._client, self._route
        assert client is not None
        assert route is not None
        assert self._schedule is not None
        first, begin, step = order["first"], order["numbers"][0], order["numbers"][1]
        payload = dict(order["payload"])
        name = route.name

        def submit(place: int) -> Future[Any]:
            number = begin + step * place
            return client.infer(name, Request(f"r{number}", first + number, Payload(**payload, nonce=number)))

        limits = {"wait_ns": order["wait_ns"], "slo_ns": order["slo_ns"]}
        run = open_loop(submit, HOST_CLOCK, self._schedule, percent=NO_PERCENTILE, start_ns=start_ns, **limits)
        for piece in sample_pieces(run.samples):
            self._lines.send({"is": "columns", "run": order["run"], **piece})
        told = {"reasons": list(run.validity.reasons), "facts": run.host}
        self._lines.send({"is": "done", "run": order["run"], "requests": run.samples.count, **told})


def main() -> None:
    """Serve the worker that has started this process."""
    descriptor, parent = int(sys.argv[1]), int(sys.argv[2])
    end_with(parent, signal.SIGKILL)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the worker decides
    with socket.socket(fileno=descriptor) as channel, contextlib.suppress(OSError):
        channel.setblocking(True)  # gevent has made it otherwise
        Sender(Lines(channel)).listen()


if __name__ == "__main__":
    main()
