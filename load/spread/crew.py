"""A crew: Locust's master and workers as one generator. Everything that it starts ends with it.

    with Crew(4) as crew:                                     # four workers on this machine
        run = crew.open_loop(route, schedule, wait_ns=WAIT_NS)

Workers on other machines come by themselves, where `batchproof load-worker --master HOST:PORT` is run.
"""

from __future__ import annotations

import contextlib
import socket
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from batchproof import __version__
from batchproof.host.scratch import scratch
from batchproof.load.runs import Run
from batchproof.load.schedule import Schedule
from batchproof.load.spread import joint_run
from batchproof.load.spread.member import Member
from batchproof.load.spread.messages import PROTOCOL, Lines, Message
from batchproof.targets.kit.processes import Guarded, tail
from batchproof.targets.kit.routes import Route
from batchproof.targets.protocol import Misuse, TargetError

if TYPE_CHECKING:
    from typing_extensions import Self

JOIN_S = 60.0
STEP_S = 0.05  # an interruption is noticed this soon
NEEDED = "several load generators need the module 'locust': pip install 'batchproof[spread]'"


class CrewError(TargetError):
    """The crew is not complete, or its master has gone; the message says what to do."""


class Crew:
    """`size` workers and their master.

    bind: host and port on which the master listens; 0: any port. ours: whether the workers are started here, instead of
    coming from elsewhere. join_s: how long all may take to arrive. said: is told who comes, goes, or is turned away.
    Misuse without Locust or with an address that cannot be had, CrewError if not all workers arrive.
    """

    def __init__(
        self,
        size: int,
        *,
        bind: tuple[str, int] = ("127.0.0.1", 0),
        ours: bool = True,
        join_s: float = JOIN_S,
        said: Callable[[str], None] = lambda _text: None,
    ) -> None:
        if find_spec("locust") is None:
            raise Misuse(NEEDED)
        self.size, self.said = size, said
        self.members: dict[str, Member] = {}  # by name
        self.news = threading.Condition()
        self._bound: Message = {}
        self._turned_away: list[str] = []
        self._processes: dict[str, Guarded] = {}
        self._stack = contextlib.ExitStack()
        try:
            self._start_master(*bind)
            host, port = bind[0], int(self._bound["port"])
            self.address = f"{host}:{port}"
            if ours:
                self._start_workers(host, port, join_s)
            else:
                said(f"waiting for {size} workers: batchproof load-worker --master {self.address}")
            self._wait_for_all(join_s)
        except BaseException:
            self.close()
            raise

    def open_loop(self, route: Route, schedule: Schedule, *, wait_ns: int, **asked: Any) -> Run:
        """Send the schedule from all workers; see `joint_run.open_loop`."""
        return joint_run.open_loop(self, route, schedule, wait_ns=wait_ns, **asked)

    def present(self) -> list[Member]:
        """Return the workers that are there, by name, after a look at each."""
        for name, process in self._processes.items():
            if name in self.members and not self.members[name].lost and (why := process.ended()):
                self.members[name].lose(f"its process {why.splitlines()[0].partition(' ')[2].partition(';')[0]}")
        self._check_master()
        for member in self.members.values():
            member.look()
        return sorted((one for one in self.members.values() if not one.lost), key=lambda one: one.name)

    def lost(self) -> list[Member]:
        """Return the workers that were here and are not any more, by name."""
        self.present()
        return sorted((one for one in self.members.values() if one.lost), key=lambda one: one.name)

    def tell(self, member: Member, message: Mapping[str, Any]) -> None:
        """Send a message to one worker."""
        self._send(member.client, message)

    def wait(self, over: Callable[[], bool], seconds: float) -> bool:
        """Return True as soon as `over()`, False after so many seconds. It is asked after each message, and often."""
        deadline = time.monotonic() + seconds
        with self.news:
            while not over():
                if time.monotonic() > deadline:
                    return False
                self.news.wait(STEP_S)
        return True

    def close(self) -> None:
        """Send all workers home, and end what was started here. Safe to call twice."""
        for member in self.members.values():
            with contextlib.suppress(CrewError, OSError):
                self._send(member.client, {"do": "quit", "why": "the crew has done its work", "wrong": False})
        self.members = {}
        self._stack.close()

    def __enter__(self) -> Self:
        """Use as `with Crew(4) as crew:`."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close."""
        self.close()

    def _start_master(self, host: str, port: int) -> None:
        folder = Path(self._stack.enter_context(tempfile.TemporaryDirectory(prefix=scratch())))
        with socket.socket(socket.AF_UNIX) as door:
            door.bind(str(folder / "master"))
            door.listen(1)
            door.settimeout(JOIN_S)
            arguments = [sys.executable, "-m", "batchproof.load.spread.master", host, str(port), str(folder / "master")]
            self._master = Guarded(arguments, name="Locust's master", grace_s=2)
            self._stack.callback(self._master.finish)
            try:
                channel, _ = door.accept()
            except TimeoutError:
                raise CrewError(f"Locust's master did not start:\n{tail(self._master.output())}") from None
        self._lines = Lines(channel)
        self._listener = threading.Thread(target=self._listen, name="batchproof-crew", daemon=True)
        self._listener.start()
        self._stack.callback(self._hang_up, channel)
        if not self.wait(lambda: bool(self._bound) or bool(self._master.ended()), JOIN_S) or "port" not in self._bound:
            if self._master.ended():
                self._listener.join(JOIN_S)  # its last words may be on their way
            why = self._bound.get("why") or self._master.ended()
            raise Misuse(f"no master can listen at {host}:{port}: {why}")

    def _hang_up(self, channel: socket.socket) -> None:
        """Let the master end by itself, so that its last words arrive; `finish` ends it otherwise."""
        with contextlib.suppress(OSError):
            channel.shutdown(socket.SHUT_RDWR)
        deadline = time.monotonic() + 2.0
        while not self._master.ended() and time.monotonic() < deadline:
            time.sleep(STEP_S)
        self._listener.join()
        self._lines.close()

    def _start_workers(self, host: str, port: int, join_s: float) -> None:
        for number in range(1, self.size + 1):
            name = f"local-{number}"
            arguments = [sys.executable, "-m", "batchproof.load.spread.worker", host, str(port), name, str(join_s)]
            self._processes[name] = process = Guarded(arguments, name=name, grace_s=1)
            self._stack.callback(process.finish)

    def _wait_for_all(self, join_s: float) -> None:
        def complete() -> bool:
            self._check_master()
            if ended := [why for one in self._processes.values() if (why := one.ended())]:
                raise CrewError(ended[0])
            return len(self.present()) == self.size and all(member.known for member in self.members.values())

        if self.wait(complete, join_s):
            return
        here = [member.name for member in self.present()]
        who = f" ({', '.join(here)})" if here else ""
        away = "".join(f"\n{why}" for why in self._turned_away)
        raise CrewError(
            f"{len(here)} of {self.size} workers arrived within {join_s:g} s{who}: "
            f"start the others with batchproof load-worker --master {self.address}{away}"
        )

    def _listen(self) -> None:
        """Hear what the workers say, on a thread of its own."""
        for message in self._lines:
            with self.news:
                self._hear(message)
                self.news.notify_all()

    def _hear(self, message: Message) -> None:
        client = message.get("from")
        if client is None:
            self._bound = message
        elif message["is"] == "hello":
            self._welcome(client, message)
        else:
            for member in self.members.values():
                if member.client == client:
                    member.hear(message)

    def _welcome(self, client: str, hello: Message) -> None:
        name = str(hello.get("name"))[:100]
        there = self.members.get(name)
        if why := self._unwelcome(name, hello, there):
            self._turned_away.append(f"turned away: worker '{name}' of {hello.get('host')}: {why}")
            self.said(self._turned_away[-1])
            self._send(client, {"do": "quit", "why": why, "wrong": True})
            return
        self.members[name] = Member(name, client, hello)
        self.said(f"worker '{name}' is here" + (" again" if there else ""))
        self._send(client, {"do": "watch"})

    def _unwelcome(self, name: str, hello: Message, there: Member | None) -> str:
        """Return why a worker cannot join; empty if it can."""
        theirs = hello.get("version")
        if theirs != __version__ or hello.get("protocol") != PROTOCOL:
            return f"the master has Batchproof {__version__} and the worker {theirs}: install the same version on both"
        if there is not None and not there.lost:
            return f"there is a worker '{name}' already: give each its own --name"
        if there is None and len(self.members) >= self.size:
            return f"the crew has its {self.size} workers"
        return ""

    def _send(self, client: str, message: Mapping[str, Any]) -> None:
        with contextlib.suppress(OSError):  # `_check_master` says that it has gone
            self._lines.send({"to": client, **message})

    def _check_master(self) -> None:
        if why := self._master.ended():
            raise CrewError(why)
