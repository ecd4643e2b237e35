"""Talks to one deployment: sends requests, calls verbs with a limit, and reads the log."""

from __future__ import annotations

import contextlib
import itertools
import secrets
import traceback
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any, TypeVar

from batchproof.commands.adapter.answers import Ended, troubles
from batchproof.commands.adapter.caller import Caller, Hung
from batchproof.targets import Kind, Payload, Refused, Request, Response
from batchproof.targets.verbs import FullDeployment
from batchproof.targets.witness.probe import INFO

SOON_NS = 2_000_000_000  # for what takes no time in a batcher: to open a gate, to write a line, to count a request
ANSWER_NS = 5_000_000_000
Result = TypeVar("Result")

_serials = itertools.count(secrets.randbits(61))  # as large as those of a run: no digit of them may be lost
_tokens = itertools.count(secrets.randbits(61))

SHOWN = 200  # characters of an error: its beginning, and its end, which is often the cause


class Broken(Exception):
    """A verb of the adapter raised what it must not raise."""

    def __init__(self, verb: str, error: BaseException) -> None:
        super().__init__(f"`{verb}` raised {described(error)}")
        self.verb = verb
        self.frames = [(frame.filename, frame.lineno or 0) for frame in traceback.extract_tb(error.__traceback__)]


def described(error: BaseException) -> str:
    """Return an error as one line: its type, and what it says."""
    words = " ".join(str(error).split())
    name = f"Refused({error.kind.name})" if isinstance(error, Refused) else type(error).__name__
    said = f"{name}: {words}" if words else name
    return said if len(said) <= SHOWN else f"{said[: SHOWN // 2]} ... {said[-SHOWN // 2 :]}"


@dataclass
class Track:
    """One request under way. Times are on the deployment's clock; raised: by `submit`."""

    request: Request
    sent_ns: int
    took_ns: int | None = None
    raised: BaseException | None = None
    future: Any = None
    answered_ns: int | None = None

    @property
    def is_future(self) -> bool:
        """Whether `submit` returned what it has to return."""
        return isinstance(self.future, Future)

    def done(self) -> bool:
        """Return whether it has ended."""
        return self.answered_ns is not None

    def ended(self) -> Ended:
        """Return how it ended, as far as it has."""
        if self.raised is not None:
            return Ended(answered=True, error=described(self.raised))
        if not self.done():
            return Ended(answered=False)
        if self.future.cancelled():
            return Ended(answered=True, error="a cancelled Future", kind=Kind.CANCELLED.value)
        error = self.future.exception(timeout=0)
        if error is not None:
            kind = error.kind.value if isinstance(error, Refused) else ""
            return Ended(answered=True, error=described(error), kind=kind)
        answer = self.future.result(timeout=0)
        info = answer.info if isinstance(answer, Response) else None
        return Ended(answered=True, troubles=troubles(self.request.tensor(), answer), witnessed=info is not None)

    def stated(self, name: str) -> int | None:
        """Return what the witness states in the answer; None if it does not."""
        if not self.done() or self.ended().error or self.ended().troubles or not self.ended().witnessed:
            return None
        return int(self.future.result(timeout=0).info[0, INFO.index(name)])

    def model_ns(self) -> int | None:
        """Return how long its batch was in the model."""
        enter_ns, exit_ns = self.stated("enter_ns"), self.stated("exit_ns")
        return exit_ns - enter_ns if enter_ns is not None and exit_ns is not None else None

    def outside_ns(self) -> int | None:
        """Return what it spent outside the model: comparable on any two clocks."""
        model_ns = self.model_ns()
        return None if model_ns is None or self.answered_ns is None else self.answered_ns - self.sent_ns - model_ns


def _readable(line: object) -> bool:
    """Return whether this is a line as the witness writes it."""
    if not isinstance(line, Mapping) or not {"instance", "batch"} <= set(line):
        return False
    return {"enter_ns", "serials", "rows"} <= set(line) or "exit_ns" in line or "empty_ns" in line


class Probe:
    """One deployment under test. ids: correlation IDs, if each request is to be a sequence of its own."""

    def __init__(self, deployment: FullDeployment) -> None:
        self.deployment = deployment
        self.clock = deployment.clock
        self.lines: list[Mapping[str, Any]] = []
        self.odd: list[object] = []
        self.ids: Iterator[int] | None = None
        self._caller = None if deployment.simulated else Caller()

    def call(self, verb: str, function: Callable[[], Result], limit_ns: int = SOON_NS) -> Result:
        """Call a verb; Hung or Broken if it does not do what a verb does."""
        try:
            return self._caller.call(verb, function, limit_ns / 1e9) if self._caller else function()
        except Hung:
            raise
        except Exception as error:
            raise Broken(verb, error) from error

    def lacks(self, *verbs: str) -> tuple[str, ...]:
        """Return those of these verbs that are not there."""
        return tuple(verb for verb in verbs if getattr(self.deployment, verb) is None)

    def send(self, name: str, *, gate: int = 0, **payload: Any) -> Track:
        """Send a request. If `submit` has not returned in time, its track has no Future yet."""
        if self.ids is not None:
            payload = {"sequence": next(self.ids), "start": True, "end": True, **payload}
        request = Request(name, next(_serials), Payload(nonce=secrets.randbits(62), **payload), gate)
        track = Track(request, self.clock.now_ns())

        def submit() -> None:
            track.sent_ns = self.clock.now_ns()
            try:
                future = self.deployment.submit(request)
            except Refused as refused:
                future = Future()
                future.set_exception(refused)
            except Exception as error:
                track.raised, track.answered_ns = error, self.clock.now_ns()
                return
            track.took_ns, track.future = self.clock.now_ns() - track.sent_ns, future
            if track.is_future:
                future.add_done_callback(lambda _: setattr(track, "answered_ns", self.clock.now_ns()))

        with contextlib.suppress(Hung):
            self.call("submit", submit)
        return track

    def gate(self) -> int:
        """Return a new gate's token."""
        return next(_tokens)

    def release(self, token: int) -> None:
        """Open a gate."""
        if self.deployment.release is not None:
            release = self.deployment.release
            self.call("release", lambda: release(token))

    def queued(self) -> int:
        """Return how many wait."""
        assert self.deployment.queued is not None
        return self.call("queued", self.deployment.queued)

    def read_log(self) -> None:
        """Add the log's new lines to `lines`, and those that cannot be read to `odd`."""
        if (log := self.deployment.log) is not None:
            for line in self.call("log", lambda: list(log())):
                (self.lines if _readable(line) else self.odd).append(line)

    def entered(self, track: Track) -> bool:
        """Return whether the log shows it in the model."""
        self.read_log()
        return any(track.request.serial in line.get("serials", ()) for line in self.lines)

    def wait(self, condition: Callable[[], bool], limit_ns: int = SOON_NS) -> bool:
        """Return True as soon as the condition holds, False if it does not in time."""
        return self.clock.wait(condition, self.clock.now_ns() + limit_ns)

    def pass_ns(self, ns: int) -> None:
        """Let time pass."""
        self.clock.sleep_until_ns(self.clock.now_ns() + ns)

    def settled(self, *tracks: Track, limit_ns: int = ANSWER_NS) -> bool:
        """Wait until all of these have ended; return whether they have."""
        return self.wait(lambda: all(track.done() for track in tracks), limit_ns)

    def close(self) -> None:
        """End the thread that calls the verbs."""
        if self._caller:
            self._caller.close()
