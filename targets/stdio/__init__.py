"""Target `stdio:COMMAND ...`: a stack in any language, behind a program that speaks JSON lines.

docs/stdio.md has the messages. Each deployment is a process of its own, which ends with this one.
"""

from __future__ import annotations

import contextlib
import shlex
import threading
from collections.abc import Callable
from concurrent.futures import Future
from concurrent.futures import TimeoutError as LateError
from typing import Any, TypeVar

from batchproof.reference_batcher import BatcherConfig
from batchproof.targets.protocol import Kind, Refused, Request, Response, TargetError, TargetInfo, UnknownTarget, Unsupported
from batchproof.targets.stdio.connection import Connection
from batchproof.targets.stdio.messages import (
    PROTOCOL,
    UNREADABLE,
    configuration,
    inference,
    log_line,
    not_carried,
    portable,
    response,
    unreadable,
)

PREFIX = "stdio:"
DEFAULTS = "deploy_defaults"  # the one optional verb that a target has, and not a deployment
TOO_EARLY = "the log is still read after 'stop': leave it to Batchproof to end the program"
STOP_S = 5.0  # to close its stack
Said = TypeVar("Said")


class StdioTarget:
    """The program that `stdio:COMMAND ...` names. COMMAND is split as a shell splits it, and no shell runs it."""

    deploys_at_once = 4

    def __init__(self, spec: str) -> None:
        try:
            self._command = shlex.split(spec.removeprefix(PREFIX))
        except ValueError as error:
            raise UnknownTarget(f"--target {spec}: {error}") from None
        if not self._command:
            raise UnknownTarget("--target stdio:COMMAND needs a command, such as 'stdio:node adapter.mjs'")
        self._lock = threading.Lock()
        self._used: list[Connection] = []
        self._spare: Connection | None = None
        self._spare, said = self._started()
        self._verbs, self._monotonic = [one for one in said["verbs"] if one != DEFAULTS], said["monotonic"]
        if DEFAULTS in said["verbs"]:
            self.deploy_defaults = lambda: self._deployed(DEFAULTS)
        self.info = TargetInfo(said["name"], said["version"], spec, claims=said["claims"])

    def deploy(self, config: BatcherConfig) -> StdioDeployment:
        """Configure a process that has been started; Unsupported with what it lacks, or what no message can ask for."""
        if lack := not_carried(config):
            raise Unsupported(lack)
        return self._deployed("configure", config=configuration(config))

    def _deployed(self, do: str, **fields: Any) -> StdioDeployment:
        with self._lock:
            connection, self._spare = self._spare, None
        if connection is None:
            connection, _ = self._started()
        with self._lock:
            self._used.append(connection)
        try:
            answer = connection.call(do, "LOAD_S", **fields)
        except BaseException:
            self.forget(connection)
            connection.finish()
            raise
        if lack := answer.get("unsupported"):
            self.forget(connection)
            connection.finish()
            raise Unsupported(lack)
        return StdioDeployment(self, connection, self._verbs, monotonic=self._monotonic)

    def alive(self) -> str:
        """Return why one of the processes cannot go on, or an empty string."""
        with self._lock:
            return next((why for one in self._used if (why := one.trouble())), "")

    def forget(self, connection: Connection) -> None:
        """Let a process end without being missed."""
        with self._lock:
            if connection in self._used:
                self._used.remove(connection)

    def close(self) -> None:
        """End every process that is left."""
        with self._lock:
            left = [*self._used, *([self._spare] if self._spare else [])]
            self._used, self._spare = [], None
        for connection in left:
            connection.finish()

    def _started(self) -> tuple[Connection, dict[str, Any]]:
        connection = Connection(shlex.join(self._command), self._command)
        try:
            return connection, connection.call("start", "READY_S", protocol=PROTOCOL)
        except BaseException:
            connection.finish()
            raise


class StdioDeployment:
    """One configured process. It has the verbs `release`, `log`, `queued` and `cancel` that the program says it has."""

    def __init__(self, target: StdioTarget, connection: Connection, verbs: list[str], *, monotonic: bool) -> None:
        self._target, self._connection, self._monotonic = target, connection, monotonic
        self._numbers: dict[Future[Response], int] = {}
        self._stopped: Future[dict[str, Any]] | None = None
        for verb in verbs:
            setattr(self, verb, getattr(self, f"_{verb}"))

    @property
    def process_group(self) -> int:
        """The ancestor of its processes."""
        return self._connection.process.process_group

    def submit(self, request: Request) -> Future[Response]:
        """Send it, also after `close`: what becomes of it then is the stack's to say."""
        number, answer = self._connection.numbered("infer", **inference(request))
        future: Future[Response] = Future()
        self._numbers[future] = number
        answer.add_done_callback(lambda done: self._settle(future, done))
        return future

    def close(self) -> None:
        """Tell it to close its stack, and return when it has. `finish` ends it."""
        self._stop().exception()

    def finish(self) -> None:
        """Give it some seconds to stop, and end it."""
        with contextlib.suppress(LateError):
            self._stop().exception(timeout=STOP_S)
        self._connection.finish()

    def _stop(self) -> Future[dict[str, Any]]:
        if self._stopped is None:
            self._target.forget(self._connection)
            self._stopped = self._connection.ask("stop")
        return self._stopped

    def _settle(self, future: Future[Response], done: Future[dict[str, Any]]) -> None:
        self._numbers.pop(future, None)
        try:
            future.set_result(response(done.result(), monotonic=self._monotonic))
        except Refused as refused:
            future.set_exception(refused)
        except TargetError as error:
            future.set_exception(Refused(Kind.LOST, str(error)))
        except UNREADABLE as error:
            future.set_exception(Refused(Kind.OTHER, unreadable(done.result(), "infer", error)))

    def _release(self, token: int) -> None:
        self._connection.call("release", token=portable(token))

    def _log(self) -> list[dict[str, Any]]:
        try:
            return self._asked("log", lambda answer: [log_line(line) for line in answer["lines"]])
        except TargetError as error:
            if self._stopped is None or not self._connection.trouble():
                raise
            raise TargetError(f"{error}\n{TOO_EARLY}") from None

    def _queued(self) -> int:
        return self._asked("queued", lambda answer: int(answer["queued"]))

    def _asked(self, do: str, read: Callable[[dict[str, Any]], Said]) -> Said:
        """Return what an answer says: not each of them is held against the schema; TargetError if it cannot be read."""
        answer = self._connection.call(do)
        try:
            return read(answer)
        except UNREADABLE as error:
            raise TargetError(f"{self._connection.name}: {unreadable(answer, do, error)}") from None

    def _cancel(self, future: Future[Response]) -> None:
        if (number := self._numbers.get(future)) is not None:
            self._connection.call("cancel", request=number)


def stdio(spec: str) -> StdioTarget:
    """Return the target that `stdio:COMMAND ...` names."""
    return StdioTarget(spec)
