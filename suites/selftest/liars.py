"""Targets that lie, or cannot answer: each differs from an honest one in one thing, and each has one right verdict.

All but a few live in simulated time, so that a target which never answers costs nothing. Each is a target for `--target`:
`batchproof.suites.selftest.liars:Hangs`.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from batchproof.targets.protocol import Kind, Refused, Request, Response, TargetError, TargetInfo, Unsupported
from batchproof.targets.virtual import VirtualTarget
from batchproof.targets.witness.probe import INFO

MS = 1_000_000
HOSTILE = "\x1b[31mno\x1b[0m <script>alert(1)</script> \u202e`rm`\x07 | **4** rows"
CLOCK, ENTER, EXIT = (INFO.index(name) for name in ("clock_id", "enter_ns", "exit_ns"))


class Honest:
    """The simulated reference batcher under another name. A liar changes a claim, a verb or a deployment."""

    claims: ClassVar[dict[str, Any]] = {}
    lie: Callable[[Any], Any] = staticmethod(lambda deployment: deployment)

    def __init__(self) -> None:
        self._inner = VirtualTarget()
        name = type(self).__name__
        claims: ClassVar[dict[str, Any]] = {**self._inner.info.claims, "torch": False, **self.claims}
        self.info = TargetInfo(name, "1.5", f"{__name__}:{name}", sight="virtual", claims=claims)

    def deploy(self, config: Any) -> Any:
        """Serve the witness, with the lie around it."""
        return type(self).lie(self._inner.deploy(config))


class _Changed:
    """A deployment that passes every answer through `change`."""

    def __init__(self, inner: Any) -> None:
        self._inner = inner
        self._sent: dict[Future[Response], Future[Response]] = {}

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    def submit(self, request: Request) -> Future[Response]:
        """Pass the request on. A change that raises is a refusal."""
        outer: Future[Response] = Future()

        def settle(done: Future[Response]) -> None:
            try:
                outer.set_result(self.change(done.result()))
            except Refused as refused:
                outer.set_exception(self.refusal(refused))

        self._sent[outer] = self._inner.submit(request)
        self._sent[outer].add_done_callback(settle)
        return outer

    def cancel(self, future: Future[Response]) -> None:
        """Cancel the request behind it."""
        self._inner.cancel(self._sent[future])

    def change(self, response: Response) -> Any:
        """Return the answer as it is."""
        return response

    def refusal(self, refused: Refused) -> Refused:
        """Return the refusal as it is."""
        return refused


# ------------------------------------------------------------------------------------------------- never gets so far


class DiesAtStart:
    """Its constructor raises what no adapter should raise."""

    def __init__(self) -> None:
        raise RuntimeError("the licence server is down")


class CannotStart:
    """Its constructor says what to do, as it should."""

    def __init__(self) -> None:
        raise TargetError("no server on this machine: start one with `serve --port 1`")


class NoTarget:
    """It has no `deploy`."""

    info = TargetInfo("NoTarget", "1", "nowhere")


class FailsToDeploy(Honest):
    """It raises an exception of its own when a model is to be served."""

    def deploy(self, config: Any) -> Any:
        """Run out of memory."""
        raise MemoryError(f"no room for a batch of {config.max_batch_size}")


class RefusesToDeploy(Honest):
    """It says that it is broken when a model is to be served."""

    def deploy(self, config: Any) -> Any:
        """Give up."""
        raise TargetError(f"the server refuses a batch of {config.max_batch_size}")


# ---------------------------------------------------------------------------------------------------- wrong answers


class _Hanging(_Changed):
    def submit(self, request: Request) -> Future[Response]:
        self._inner.submit(request)
        return Future()


class Hangs(Honest):
    """It executes everything and answers nothing."""

    lie = _Hanging


class _Late(_Changed):
    """It answers before a request has left the client for the model.

    the request is executed, but the Future fails at once.
    """

    def submit(self, request: Request) -> Future[Response]:
        raise ConnectionResetError("connection reset by peer")


class Breaks(Honest):
    """`submit` raises instead of setting the Future."""

    lie = _Late


class _Shape(_Changed):
    def change(self, response: Response) -> Response:
        return Response(response.echo[:, :3], response.info[:, :3])


class WrongShape(Honest):
    """It cuts columns off both tensors."""

    lie = _Shape


class _Floats(_Changed):
    def change(self, response: Response) -> Response:
        return Response(response.echo.astype(np.float64), response.info.astype(np.float64))


class WrongType(Honest):
    """It sends integers as floating-point numbers, which loses bits of the large ones."""

    lie = _Floats


class _Nothing(_Changed):
    def change(self, response: Response) -> Any:
        return None


class AnswersNone(Honest):
    """Its Futures return None."""

    lie = _Nothing


class _Stranger(_Changed):
    def change(self, response: Response) -> Response:
        return replace(response, info=response.info + 7)


class AnotherWitness(Honest):
    """Its model speaks a later version of the witness's language."""

    lie = _Stranger


class _Swapping(_Changed):
    def __init__(self, inner: Any) -> None:
        super().__init__(inner)
        self._last: Response | None = None

    def change(self, response: Response) -> Response:
        self._last, answer = response, self._last or response
        return answer


class SwapsResults(Honest):
    """It gives each caller the answer of the one before."""

    lie = _Swapping


class _Twice(_Changed):
    def log(self) -> list[dict[str, Any]]:
        lines = self._inner.log()
        return [*lines, *({**line, "batch": line["batch"] + 1_000_000} for line in lines)]


class RunsTwice(Honest):
    """Its model sees every batch twice."""

    lie = _Twice


class _Hostile(_Changed):
    def refusal(self, refused: Refused) -> Refused:
        return Refused(Kind.OTHER, HOSTILE)


class Hostile(Honest):
    """Its error messages contain what terminals and browsers would obey."""

    lie = _Hostile


class _Deafened(_Changed):
    def cancel(self, future: Future[Response]) -> None:
        """Do nothing."""


class CancelsNothing(Honest):
    """It accepts every cancellation, and executes the request all the same."""

    lie = _Deafened


# -------------------------------------------------------------------------------------------------------- wrong claims


class ClaimsTimeout(Honest):
    """It claims a queue timeout, and has none when asked for it."""

    def deploy(self, config: Any) -> Any:
        """Serve only without a timeout."""
        if config.queue_timeout_ns:
            raise Unsupported("queue_timeout")
        return super().deploy(config)


class ClaimsNonsense(Honest):
    """It claims what no rule knows."""

    def __init__(self) -> None:
        super().__init__()
        self.info = replace(self.info, claims={**self.info.claims, "rowz": True})


class NoDelay(Honest):
    """It has no queue delay, and says so."""

    claims: ClassVar[dict[str, Any]] = {"delay": False, "queue_timeout": False}

    def deploy(self, config: Any) -> Any:
        """Serve only without a delay."""
        if config.max_queue_delay_ns:
            raise Unsupported("delay")
        return super().deploy(config)


class LoadsAnything(Honest):
    """It loads every configuration, whatever it says."""

    claims: ClassVar[dict[str, Any]] = {"validation": True}

    def validate(self, name: str, text: str) -> str:
        """Load it."""
        del name, text
        return "loaded"


class LoadsNothing(LoadsAnything):
    """It refuses every configuration, even the valid ones."""

    def validate(self, name: str, text: str) -> str:
        """Refuse it."""
        del text
        return f"failed to load '{name}'"


# ------------------------------------------------------------------------------------------------------ narrow sight


class _Abroad(_Changed):
    """Another host: its clock started long ago, and its id is another."""

    AGES_NS = 10**15

    def change(self, response: Response) -> Response:
        info = response.info.copy()
        info[:, CLOCK] += 1
        info[:, [ENTER, EXIT]] += self.AGES_NS
        return replace(response, info=info)

    def log(self) -> list[dict[str, Any]]:
        return [{key: value + self.AGES_NS if key.endswith("_ns") else value for key, value in line.items()}
                for line in self._inner.log()]


class OtherClock(Honest):
    """It runs its model on another host."""

    lie = _Abroad


class _Deaf:
    """A deployment with only those verbs that are asked for, and those that the driver needs."""

    def __init__(self, inner: Any, *verbs: str) -> None:
        for verb in ("submit", "close", "clock", *verbs):
            setattr(self, verb, getattr(inner, verb))


class NoQueue(Honest):
    """It does not say how long its queue is."""

    lie = staticmethod(lambda inner: _Deaf(inner, "log", "release"))


class NoLog(Honest):
    """It shows no log of its model."""

    lie = staticmethod(lambda inner: _Deaf(inner, "queued", "release"))


class NoGate(Honest):
    """It cannot hold a batch in its model."""

    lie = staticmethod(lambda inner: _Deaf(inner, "log", "queued"))


class _Blind(_Changed):
    def change(self, response: Response) -> Response:
        return replace(response, info=None)


class WireOnly(Honest):
    """A user's own model with no witness in it: only requests and answers can be seen."""

    lie = staticmethod(lambda inner: _Deaf(_Blind(inner)))

    def __init__(self) -> None:
        super().__init__()
        lacks = dict.fromkeys(("cancel", "statistics", "faults"), False)
        self.info = replace(self.info, sight="wire", claims={**self.info.claims, **lacks})


# ------------------------------------------------------------------------------------------------------------- unsteady


class _Slow(_Changed):
    """It accepts a request only after 150 ms, as a starved host does; this happens `times` times."""

    left = 1_000_000

    def submit(self, request: Request) -> Future[Response]:
        if type(self).left > 0:
            type(self).left -= 1
            self.clock.sleep_until_ns(self.clock.now_ns() + 150 * MS)
        return self._inner.submit(request)


class Starved(Honest):
    """It is so slow that nobody can tell whether it keeps its promises."""

    lie = type("_AlwaysSlow", (_Slow,), {})


class StarvedAtFirst(Honest):
    """It is slow for its first three requests, and normal afterwards."""

    def __init__(self) -> None:
        super().__init__()
        self._slow = type("_SlowAtFirst", (_Slow,), {"left": 3})

    def deploy(self, config: Any) -> Any:
        """Serve the witness, slowly at first."""
        return self._slow(self._inner.deploy(config))


class DiesUnderWay(Honest):
    """It serves two configurations, and is dead when asked about the second."""

    served = 0

    def deploy(self, config: Any) -> Any:
        """Count the configurations."""
        self.served += 1
        return super().deploy(config)

    def alive(self) -> str:
        """Say why it is dead, or return nothing."""
        return "" if self.served < 2 else f"exit status 139 {HOSTILE}"
