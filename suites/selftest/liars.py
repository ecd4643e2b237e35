"""Targets that lie, or cannot answer: each differs from an honest one in one thing, and each has one right verdict.

All but a few live in simulated time, so that a target which never answers costs nothing. Each is a target for `--target`:
`batchproof.suites.selftest.liars:Hangs`.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import replace
from functools import partial
from typing import Any, ClassVar

import numpy as np

from batchproof.targets.protocol import Kind, Refused, Request, Response, TargetError, TargetInfo, Unsupported
from batchproof.targets.virtual import VirtualTarget
from batchproof.targets.witness.probe import INFO, decode

MS = 1_000_000
HOSTILE = "\x1b[31mno\x1b[0m <script>alert(1)</script> \u202e`rm`\x07 | **4** rows"
CLOCK, ENTER, EXIT = (INFO.index(name) for name in ("clock_id", "enter_ns", "exit_ns"))


class Honest:
    """The simulated reference batcher under another name. A liar changes a claim, a verb or a deployment."""

    claims: ClassVar[dict[str, Any]] = {}
    mutant = ""
    lie: Callable[[Any], Any] = staticmethod(lambda deployment: deployment)

    def __init__(self) -> None:
        self._inner = VirtualTarget(self.mutant)
        name = type(self).__name__
        claims: ClassVar[dict[str, Any]] = {**self._inner.info.claims, "torch": False, "defaults": False, **self.claims}
        self.info = TargetInfo(name, "1.5", f"{__name__}:{name}", sight="virtual", claims=claims)

    def deploy(self, config: Any) -> Any:
        """Serve the witness, with the lie around it."""
        return type(self).lie(self._inner.deploy(config))

    def deploy_defaults(self) -> Any:
        """Serve the witness with nothing set, with the lie around it."""
        return type(self).lie(self._inner.deploy_defaults())


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
            if outer.done():
                return
            try:
                outer.set_result(self.change(done.result()))
            except Refused as refused:
                told = self.refusal(refused)
                outer.set_exception(told) if isinstance(told, Refused) else outer.set_result(told)

        self._sent[outer] = self._inner.submit(request)
        self._sent[outer].add_done_callback(settle)
        return outer

    def cancel(self, future: Future[Response]) -> None:
        """Cancel the request behind it."""
        self._inner.cancel(self._sent[future])

    def change(self, response: Response) -> Any:
        """Return the answer as it is."""
        return response

    def refusal(self, refused: Refused) -> Any:
        """Return the refusal as it is; anything but a Refused is an answer."""
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
        raise RuntimeError("the client is not ready")


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


def _fragile(deployment: Any, failed: Callable[[Any, Any, Exception], None]) -> Any:
    """Let `failed(service, run, error)` decide what becomes of a batch whose model raised."""
    service = deployment._batcher._service
    service._failed = partial(failed, service)
    return deployment


def _worker_ends(service: Any, run: Any, error: Exception) -> None:
    """The exception ends the thread, so that nobody is told, and the instance never takes another batch."""
    del run, error
    service.core.finished = lambda _instance: None


def _spares_the_rest(service: Any, run: Any, error: Exception) -> None:
    """The request that is to blame is told, and the others get what happens to lie in the output buffer."""
    for entry in run.batch:
        tensor = entry.item.inputs["IN"]
        if decode(tensor).payload.fail:
            entry.item.answer.set_exception(error)
        else:
            entry.item.answer.set_result((tensor * 0, np.zeros((len(tensor), len(INFO)), np.int64)))


class DiesOfAnException(Honest):
    """An exception of the model ends its worker: the batch is not told, and every later request waits for ever."""

    lie = staticmethod(lambda inner: _fragile(inner, _worker_ends))


class DiesAlone(DiesOfAnException):
    """The same, and it never forms a batch."""

    mutant = "never-batches"


class _Returning(_Changed):
    def refusal(self, refused: Refused) -> Any:
        return RuntimeError(refused.message) if refused.kind is Kind.FAILED else refused


class ReturnsTheException(Honest):
    """An exception of the model comes back as the result of its requests."""

    lie = _Returning


class SparesTheRest(Honest):
    """An exception of the model fails only the request that is to blame; the others get garbage."""

    lie = staticmethod(lambda inner: _fragile(inner, _spares_the_rest))


class _Mortal(_Changed):
    """Its process dies of the first exception of its model, and takes every connection with it."""

    dead = False

    def submit(self, request: Request) -> Future[Response]:
        if self.dead:
            raise Refused(Kind.LOST, "connection refused")
        return super().submit(request)

    def cancel(self, future: Future[Response]) -> None:
        if not self.dead:
            super().cancel(future)

    def refusal(self, refused: Refused) -> Refused:
        self.dead |= refused.kind is Kind.FAILED
        return Refused(Kind.LOST, "connection reset by peer") if self.dead else refused

    def change(self, response: Response) -> Response:
        if self.dead:
            raise Refused(Kind.LOST, "connection reset by peer")
        return response


class DiesWithItsProcess(Honest):
    """Each deployment is a process of its own, and an exception of the model ends it."""

    lie = _Mortal


class _Speechless(_Mortal):
    """Not even its log can be read any more, because it is read through the process."""

    def log(self) -> list[dict[str, Any]]:
        if self.dead:
            raise ConnectionRefusedError("connection refused")
        return list(self._inner.log())


class DiesWithItsLog(Honest):
    """Each deployment is a process of its own, which serves its log too, and an exception of the model ends it."""

    lie = _Speechless


class TakesTheServerAlong(Honest):
    """All deployments live in one server, and an exception of the model ends it."""

    def __init__(self) -> None:
        super().__init__()
        self._served: list[Any] = []

    def deploy(self, config: Any) -> Any:
        """Serve the witness in the one server."""
        self._served.append(_Mortal(self._inner.deploy(config)))
        return self._served[-1]

    def alive(self) -> str:
        """Say that it is dead, or return nothing."""
        return "exit status 139" if any(one.dead for one in self._served) else ""


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
