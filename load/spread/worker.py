"""A Locust worker that sends its share of a schedule: `-m batchproof.load.spread.worker HOST PORT NAME PATIENCE_S`.

It is a Locust file as well (`locust -f .../worker.py --worker --master-host HOST`), for machines on which Locust is started
by other means; its name is then that of its machine, or what BATCHPROOF_WORKER says. The requests are sent by a process of
its own, because gevent wakes to the millisecond; this one passes messages on and answers what its clock says. It imports
gevent: never import it anywhere else. Its last line on standard output says how it ended.
"""

from __future__ import annotations

import locust  # isort: skip - first of all, because it patches the modules that others import

import contextlib
import json
import logging
import os
import platform
import signal
import socket
import subprocess
import sys
import time
from typing import Any, NoReturn

import gevent
from locust import User, events, task
from locust.env import Environment
from locust.runners import WorkerRunner

from batchproof import __version__
from batchproof.load.spread.messages import DO, IS, PROTOCOL, Lines, Message
from batchproof.load.spread.place import here

NAME = "BATCHPROOF_WORKER"
SILENCE_S = 15.0  # the master asks for the time several times a second; after so long without a word it has gone
LAST_WORDS_S = 0.3
FINE, WRONG, GONE, STOPPED = "fine", "wrong", "gone", "stopped"
PROGRAM = "batchproof.load.spread.sender"


class Worker:
    """What this process knows: the runner, and the sender if it runs."""

    def __init__(self, runner: Any, name: str) -> None:
        self._runner, self._name = runner, name
        self._run: Any = None
        self._heard_s = time.monotonic()
        self._sender: Any = None
        self._lines: Lines | None = None
        runner.register_message(DO, self._told)
        gevent.spawn(self._listen_for_silence)
        self._start_sender()
        where = dict(zip(("host", "net"), here(), strict=True))
        self._say({"is": "hello", "name": name, "version": __version__, "protocol": PROTOCOL, **where})

    def leave(self, why: str, how: str) -> NoReturn:
        """Tell the master, and end."""
        self._say({"is": "leaves", "why": why})
        self._end(why, how)

    def _told(self, msg: Any, **_: Any) -> None:
        """Do what the crew asks for, or hand it to the sender."""
        at_ns = time.monotonic_ns()
        self._heard_s = time.monotonic()
        message = msg.data
        match message["do"]:
            case "ping":
                self._say({"is": "pong", "t1": message["t1"], "t2": at_ns, "t3": time.monotonic_ns()})
            case "quit":
                self._end(message["why"], WRONG if message["wrong"] else FINE)
            case "stop":
                if message["run"] == self._run:
                    self._start_sender()
            case _:
                self._run = message["run"]
                self._hand_on(message)

    def _hand_on(self, message: Message) -> None:
        if self._lines is not None:
            with contextlib.suppress(OSError):  # the reader of its output notices that it has ended
                self._lines.send(message)

    def _start_sender(self) -> None:
        """Start the process that sends, in place of the one that there may be."""
        self._end_sender()
        ours, theirs = socket.socketpair()
        with theirs:
            command = [sys.executable, "-m", PROGRAM, str(theirs.fileno()), str(os.getpid())]
            self._sender = subprocess.Popen(command, pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL)
        self._lines = Lines(ours)
        gevent.spawn(self._pass_on, self._lines)

    def _end_sender(self) -> None:
        self._run = self._lines = None
        if self._sender is not None:
            self._sender.kill()
            self._sender.wait()

    def _pass_on(self, lines: Lines) -> None:
        """Pass on what the sender says, until it has gone."""
        for message in lines:
            self._say(message)
        lines.close()
        if lines is self._lines:  # nobody has asked for its end
            self.leave(f"its sender ended with status {self._sender.wait()}", GONE)

    def _say(self, message: Message) -> None:
        self._runner.send_message(IS, message)

    def _listen_for_silence(self) -> None:
        while time.monotonic() - self._heard_s < SILENCE_S:
            gevent.sleep(1)
        self._end(f"the master has been silent for {SILENCE_S:g} s", GONE)

    def _end(self, why: str, how: str) -> NoReturn:
        self._end_sender()
        gevent.sleep(LAST_WORDS_S)
        end(why, how)


class SendsSchedules(User):
    """Locust wants a class of users in each file. This one is never asked for anything: the sender does the sending."""

    @task
    def wait(self) -> None:
        """Do nothing."""
        gevent.sleep(1)


def end(why: str, how: str) -> NoReturn:
    """Say how it ends, and end whatever the greenlets do."""
    sys.stdout.write(json.dumps({"why": why, "how": how}) + "\n")
    sys.stdout.flush()
    os._exit(os.EX_OK)


def main() -> None:
    """Connect, and serve one crew until it is done."""
    host, port, name, patience_s = sys.argv[1], int(sys.argv[2]), sys.argv[3], float(sys.argv[4])
    logging.basicConfig(level=logging.ERROR)
    workers: list[Worker] = []

    def stop() -> None:
        if workers:
            workers[0].leave("it was stopped", STOPPED)
        end("it was stopped", STOPPED)

    for number in (signal.SIGINT, signal.SIGTERM):
        gevent.signal_handler(number, stop)
    environment = Environment(events=locust.events)
    try:
        with gevent.Timeout(patience_s):
            runner = environment.create_worker_runner(host, port)
    except (gevent.Timeout, ConnectionError):
        end(f"no master answers at {host}:{port} after {patience_s:g} s", GONE)
    workers.append(Worker(runner, name))
    runner.greenlet.join()
    end("the master has ended", FINE)


@events.init.add_listener
def _in_locusts_own_process(environment: Any, **_: Any) -> None:
    if isinstance(environment.runner, WorkerRunner):
        Worker(environment.runner, os.environ.get(NAME) or platform.node())


if __name__ == "__main__":
    main()
