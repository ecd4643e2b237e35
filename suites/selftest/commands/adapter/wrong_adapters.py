"""Adapters with one thing wrong: each differs from a right one in one line, which ends with `# <- here`.

Most of them live in simulated time. Each is a target: `batchproof.suites.selftest.commands.adapter.wrong_adapters:Silent`.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import threading
from concurrent.futures import Future
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from batchproof.reference_batcher import Batcher
from batchproof.targets import Kind, Refused, Request, Response, TargetError, TargetInfo, Unsupported, Witness
from batchproof.targets.reference import ReferenceDeployment, ReferenceTarget, _model
from batchproof.targets.virtual import VirtualTarget
from batchproof.targets.witness_model import TRITON_CLAIMS, witnessed

MS = 1_000_000
CLAIMS = dict(TRITON_CLAIMS)
OLD, OTHER = {**CLAIMS, "zero_delay": 0}, {**CLAIMS, "delay_anchor": "first-dequeue"}


class Deployed:
    """A right adapter's deployment, around the reference batcher."""

    def __init__(self, inner: Any) -> None:
        self.inner = inner
        self.clock = getattr(inner, "clock", None)
        if self.clock is None:
            del self.clock

    def submit(self, request: Request) -> Future[Response]:
        return self.inner.submit(request)

    def cancel(self, future: Any) -> None:
        self.inner.cancel(future)

    def release(self, token: int) -> None:
        self.inner.release(token)

    def queued(self) -> int:
        return self.inner.queued()

    def log(self) -> list[dict[str, Any]]:
        return self.inner.log()

    def close(self) -> None:
        self.inner.close()

    def finish(self) -> None:
        getattr(self.inner, "finish", self.inner.close)()


class Right:
    """A right adapter."""

    deployed: ClassVar[type] = Deployed
    batcher: ClassVar[type] = VirtualTarget

    def __init__(self) -> None:
        self.stack = self.batcher()
        self.info = TargetInfo(type(self).__name__, "1.0", "here", sight=self.stack.info.sight, claims=CLAIMS)

    def deploy(self, config: Any) -> Any:
        return self.deployed(self.stack.deploy(config))


class HostileName(Right):
    """Its name has what a terminal, a reader of TOML and a library of markup obey."""

    def __init__(self) -> None:
        super().__init__()
        self.info = replace(self.info, name="\x1b[31mevil\u202e [/bold]\nrows = 1\n")


def adapter(deployed: type, batcher: type = VirtualTarget) -> type:
    """Return the adapter whose deployments are these."""
    return type(deployed.__name__.strip("_"), (Right,), {"deployed": deployed, "batcher": batcher})


def changed(future: Future[Response], change: Any) -> Future[Response]:
    """Return a Future that passes on what `change` makes of the answer."""
    outer: Any = Future()
    outer.inner = future.inner

    def settle(done: Future[Response]) -> None:
        try:
            outer.set_result(change(done.result()))
        except (Refused, LookupError) as error:
            outer.set_exception(error)

    future.add_done_callback(settle)
    return outer


# ------------------------------------------------------------------------------------------------------------ submit


class _Raises(Deployed):
    def submit(self, request: Request) -> Any:  # <- here
        raise ConnectionError("no connection")


class _ReturnsTheAnswer(Deployed):
    def submit(self, request: Request) -> Any:  # <- here
        self.inner.submit(request)
        return "an answer"


class _Blocks(Deployed):
    def submit(self, request: Request) -> Any:  # <- here
        future = self.inner.submit(request)
        future.exception()
        return future


class _Connects(Deployed):
    """Right, but its first call takes long, as on a busy host or with a connection to open."""

    connected = False

    def submit(self, request: Request) -> Any:
        future = self.inner.submit(request)
        if not self.connected:
            self.connected = True
            future.exception()
        return future


class _Silent(Deployed):
    def submit(self, request: Request) -> Any:  # <- here
        self.inner.submit(request)
        return Future()


class _Fails(Deployed):
    def submit(self, request: Request) -> Any:  # <- here
        def fail(_: Response) -> Response:
            raise Refused(Kind.LOST, "connection reset")

        return changed(self.inner.submit(request), fail)


class _FailsWithItsOwn(Deployed):
    def submit(self, request: Request) -> Any:  # <- here
        def fail(_: Response) -> Response:
            raise KeyError("outputs")

        return changed(self.inner.submit(request), fail)


# ----------------------------------------------------------------------------------------------------------- answers


class _Floats(Deployed):
    def submit(self, request: Request) -> Any:
        def floats(answer: Response) -> Response:
            return Response(answer.echo.astype(float), answer.info)  # <- here

        return changed(self.inner.submit(request), floats)


class _SmallIntegers(Deployed):
    def submit(self, request: Request) -> Any:
        def small(answer: Response) -> Response:
            return Response(answer.echo, answer.info.astype(np.int32))  # <- here

        return changed(self.inner.submit(request), small)


class _Flat(Deployed):
    def submit(self, request: Request) -> Any:
        def flat(answer: Response) -> Response:
            return Response(answer.echo[0], answer.info)  # <- here

        return changed(self.inner.submit(request), flat)


class _Pairs(Deployed):
    def submit(self, request: Request) -> Any:  # <- here
        return changed(self.inner.submit(request), lambda answer: (answer.echo, answer.info))


class _OldWitness(Deployed):
    def submit(self, request: Request) -> Any:
        def old(answer: Response) -> Response:
            answer.info[:, 0] = 1
            return Response(answer.echo, answer.info)  # <- here

        return changed(self.inner.submit(request), old)


class _Mixed(Deployed):
    last: Any = None

    def submit(self, request: Request) -> Any:
        def previous(answer: Response) -> Response:
            self.last, mine = answer, self.last or answer
            return Response(mine.echo, mine.info)  # <- here

        return changed(self.inner.submit(request), previous)


class _LosesTheWork(Deployed):
    def submit(self, request: Request) -> Any:  # <- here
        plain = replace(request, payload=replace(request.payload, work_ns=0))
        return changed(self.inner.submit(plain), lambda answer: replace(answer, echo=request.tensor()))


class _LosesTheGate(Deployed):
    def submit(self, request: Request) -> Any:  # <- here
        return changed(self.inner.submit(replace(request, hold=0)), lambda answer: replace(answer, echo=request.tensor()))


# ----------------------------------------------------------------------------------------------- gate, log and queue


class _ReleasesNothing(Deployed):
    def release(self, token: int) -> None:  # <- here
        pass


class _LogAgain(Deployed):
    def __init__(self, inner: Any) -> None:
        super().__init__(inner)
        self.lines: list[Any] = []

    def log(self) -> list[dict[str, Any]]:  # <- here
        self.lines += self.inner.log()
        return self.lines


class _LogLate(Deployed):
    def __init__(self, inner: Any) -> None:
        super().__init__(inner)
        self.held: list[Any] = []

    def log(self) -> list[dict[str, Any]]:  # <- here
        self.held += self.inner.log()
        lines, over = self.held, {(line["instance"], line["batch"]) for line in self.held if "exit_ns" in line}
        self.held = [line for line in lines if (line["instance"], line["batch"]) not in over]
        return [line for line in lines if (line["instance"], line["batch"]) in over]


class _LogEmpty(Deployed):
    def log(self) -> list[dict[str, Any]]:  # <- here
        return []


class _LogTwice(Deployed):
    def log(self) -> list[dict[str, Any]]:  # <- here
        lines = self.inner.log()
        return [*lines, *({**line, "batch": line["batch"] + 1_000_000} for line in lines)]


class _LogText(Deployed):
    def log(self) -> Any:  # <- here
        return [str(line) for line in self.inner.log()]


class _LogRaises(Deployed):
    def log(self) -> Any:
        return self.inner.log()[0]  # <- here


class _QueueEmpty(Deployed):
    def queued(self) -> int:  # <- here
        return 0


class _QueueWithModel(Deployed):
    sent = 0

    def submit(self, request: Request) -> Any:
        self.sent += 1
        future = self.inner.submit(request)
        future.add_done_callback(lambda _: setattr(self, "sent", self.sent - 1))
        return future

    def queued(self) -> int:  # <- here
        return self.sent


class _QueueNeverLess(Deployed):
    most = 0

    def queued(self) -> int:  # <- here
        self.most = max(self.most, self.inner.queued())
        return self.most


class _QueueOfEight(Deployed):
    def queued(self) -> int:  # <- here
        return min(8, self.inner.queued())


class _FullQueueBlocks(Deployed):
    places = 16

    def submit(self, request: Request) -> Any:  # <- here
        while self.inner.queued() >= self.places and request.hold == 0:
            threading.Event().wait(0.01)
        return self.inner.submit(request)


class _QueueHangs(Deployed):
    held = False

    def submit(self, request: Request) -> Any:
        self.held = request.hold > 0
        return self.inner.submit(request)

    def queued(self) -> int:  # <- here
        if self.held:
            threading.Event().wait(60)
        return self.inner.queued()


class _AcceptsWhenIdle(Deployed):
    def __init__(self, inner: Any) -> None:
        super().__init__(inner)
        self.idle = threading.Semaphore()

    def submit(self, request: Request) -> Any:  # <- here
        self.idle.acquire()
        future = self.inner.submit(request)
        future.add_done_callback(lambda _: self.idle.release())
        return future


# ------------------------------------------------------------------------------------------------------------ verbs


class _CancelsNothing(Deployed):
    def cancel(self, future: Any) -> None:  # <- here
        pass


def _settle(outer: Any, done: Any) -> None:
    error = done.exception()
    if error:
        outer.set_exception(error)
    else:
        outer.set_result(done.result())


class _CancelsSilently(Deployed):
    def __init__(self, inner: Any) -> None:
        super().__init__(inner)
        self.gone: set[Any] = set()
        self.sent: dict[Any, Any] = {}

    def submit(self, request: Request) -> Any:
        inner, outer = self.inner.submit(request), Future()
        self.sent[outer] = inner
        inner.add_done_callback(lambda done: outer in self.gone or _settle(outer, done))
        return outer

    def cancel(self, future: Any) -> None:
        self.gone.add(future)
        self.inner.cancel(self.sent[future])


class _CancelRaises(Deployed):
    def cancel(self, future: Any) -> None:
        raise NotImplementedError  # <- here


def refused_as(kind: Kind | None, only: Kind) -> type:
    """Return a deployment that says `kind` where it should say `only`; None: it raises an exception of its own."""

    class Deployment(Deployed):
        def submit(self, request: Request) -> Any:
            outer: Any = Future()

            def settle(done: Future[Response]) -> None:
                error = done.exception()
                if error is None:
                    outer.set_result(done.result())
                elif error.kind is only:
                    outer.set_exception(Refused(kind, "no") if kind else OSError("status 500"))
                else:
                    outer.set_exception(error)

            inner = self.inner.submit(request)
            outer.inner = inner.inner
            inner.add_done_callback(settle)
            return outer

    return Deployment


class _FailsAsOther(refused_as(Kind.OTHER, Kind.FAILED)):
    def submit(self, request: Request) -> Any:  # <- here
        return super().submit(request)


class _FailsAsItself(refused_as(None, Kind.FAILED)):
    def submit(self, request: Request) -> Any:  # <- here
        return super().submit(request)


class _ExpiresAsOther(refused_as(Kind.OTHER, Kind.EXPIRED)):
    def submit(self, request: Request) -> Any:  # <- here
        return super().submit(request)


class _FailureIsAnAnswer(Deployed):
    def submit(self, request: Request) -> Any:  # <- here
        plain = replace(request, payload=replace(request.payload, fail=False))
        return changed(self.inner.submit(plain), lambda answer: replace(answer, echo=request.tensor()))


class _CloseRaises(Deployed):
    def close(self) -> None:  # <- here
        self.inner.close()
        raise ProcessLookupError("no such process")


class _OneNumber(ReferenceDeployment):
    def __init__(self, config: Any) -> None:
        super().__init__(config)
        self._batcher.close()
        for witness in self._witnesses:
            witness.close()
        self._witnesses = [Witness(self._folder, 0) for _ in range(config.instances)]  # <- here
        self._batcher = Batcher([_model(witness) for witness in self._witnesses], config)


class _OneFolder(ReferenceDeployment):
    def __init__(self, config: Any, folder: str) -> None:
        super().__init__(config)
        self._batcher.close()
        for witness in self._witnesses:
            witness.close()
        self._folder = folder
        self._witnesses = [Witness(folder, instance) for instance in range(config.instances)]  # <- here
        self._batcher = Batcher([_model(witness) for witness in self._witnesses], config)

    def finish(self) -> None:
        self.close()
        for witness in self._witnesses:
            witness.close()


class _LeavesAProcess(Deployed):
    def __init__(self, inner: Any) -> None:
        super().__init__(inner)
        call = "import os, time; os.fork() or os.setsid() or time.sleep(60)"
        subprocess.run([sys.executable, "-c", call], check=True)

    def finish(self) -> None:  # <- here
        super().finish()


class _LeavesAThread(Deployed):
    go_on = threading.Event()

    def __init__(self, inner: Any) -> None:
        super().__init__(inner)
        threading.Thread(target=self.go_on.wait, args=(60,), name="heartbeat").start()

    def finish(self) -> None:  # <- here
        super().finish()


# ------------------------------------------------------------------------------------------------------------ deploy


class OneNumber(Right):
    """Both instances call themselves 0."""

    batcher = ReferenceTarget

    def deploy(self, config: Any) -> Any:
        return _OneNumber(witnessed(config))


class IgnoresSize(Right):
    """It does not pass max_batch_size on."""

    def deploy(self, config: Any) -> Any:  # <- here
        return super().deploy(replace(config, max_batch_size=64))


class IgnoresOne(Right):
    """It makes a size of 1 another one."""

    def deploy(self, config: Any) -> Any:  # <- here
        return super().deploy(replace(config, max_batch_size=max(2, config.max_batch_size)))


class IgnoresInstances(Right):
    """It does not pass the instances on."""

    def deploy(self, config: Any) -> Any:  # <- here
        return super().deploy(replace(config, instances=1))


class BreaksUnasked(Right):
    """It fails with several instances, which it does not claim."""

    def __init__(self) -> None:
        super().__init__()
        self.info = replace(self.info, claims={**CLAIMS, "instances": False})

    def deploy(self, config: Any) -> Any:
        if config.instances > 1:
            raise TargetError("the server ended with status 1; the end of what it printed: Traceback")
        return super().deploy(config)


class _EndsLater(Deployed):
    """It goes on for a second after `close` has returned, as a server does that is told to end."""

    def close(self) -> None:
        self.clock.at(self.clock.now_ns() + 1_000 * MS, self.inner.close)


EndsLater = adapter(_EndsLater)


class IgnoresDelay(Right):
    """It does not pass the delay on."""

    def deploy(self, config: Any) -> Any:  # <- here
        return super().deploy(replace(config, max_queue_delay_ns=0))


class IgnoresTimeout(Right):
    """It does not pass the queue timeout on."""

    def deploy(self, config: Any) -> Any:  # <- here
        return super().deploy(replace(config, queue_timeout_ns=0))


class WrongUnit(Right):
    """It takes microseconds for nanoseconds."""

    def deploy(self, config: Any) -> Any:  # <- here
        return super().deploy(replace(config, max_queue_delay_ns=1000 * config.max_queue_delay_ns))


class RefusesOne(Right):
    """It raises what it should not raise."""

    def deploy(self, config: Any) -> Any:
        if config.max_batch_size == 1:
            raise ValueError("max_batch_size must be more than 1")  # <- here
        return super().deploy(config)


class RefusesAll(Right):
    """It can be configured in no way."""

    def deploy(self, config: Any) -> Any:  # <- here
        raise Unsupported("instances")


class OnlySequences(Right):
    """It has no dynamic batcher, and one strategy."""

    claimed = "oldest"

    def __init__(self) -> None:
        super().__init__()
        self.info = replace(self.info, claims={"sequences": self.claimed})

    def deploy(self, config: Any) -> Any:
        if config.sequence is None:
            raise Unsupported("requests without a sequence")
        if config.sequence.strategy != "oldest":
            raise Unsupported("that strategy")
        return super().deploy(config)


class SequencesOfBothKinds(OnlySequences):
    """It claims two strategies, and has one."""

    claimed = "both"

    def deploy(self, config: Any) -> Any:  # <- here
        return super().deploy(config)


class _LosesStart(Deployed):
    def submit(self, request: Request) -> Any:  # <- here
        whole = request.payload.start and request.payload.end
        payload = request.payload if whole else replace(request.payload, start=False)
        return self.inner.submit(replace(request, payload=payload))


class SequencesWithoutStart(OnlySequences):
    """It forgets START unless it has END, too."""

    def deploy(self, config: Any) -> Any:
        return _LosesStart(super().deploy(config))


class SequencesWithoutPlaces(OnlySequences):
    """Its log does not show what the model was told."""

    def deploy(self, config: Any) -> Any:
        deployed = super().deploy(config)
        log = deployed.log
        deployed.log = lambda: [{name: line[name] for name in line if name != "places"} for line in log()]
        return deployed


class OneFolder(Right):
    """All deployments share a log."""

    batcher = ReferenceTarget

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.close = self.folder.cleanup

    def deploy(self, config: Any) -> Any:
        return _OneFolder(witnessed(config), self.folder.name)


class OneAtATime(Right):
    """A new deployment ends the one before."""

    batcher = ReferenceTarget
    before: Any = None

    def deploy(self, config: Any) -> Any:  # <- here
        if self.before is not None:
            self.before.close()
        self.before = super().deploy(config)
        return self.before


class SeveralThings(Right):
    """Neither the delay nor the instances are passed on."""

    def deploy(self, config: Any) -> Any:
        return super().deploy(replace(config, instances=1, max_queue_delay_ns=0))


class SubmitsAlone:
    """A deployment that shows nothing but its answers."""

    def __init__(self, inner: Any) -> None:
        self.submit, self.close, self.finish, self.clock = inner.submit, inner.close, inner.finish, inner.clock


class IgnoresDelayUnseen(IgnoresDelay):
    """The same, and nothing can be held or counted, so some things cannot be tried."""

    def deploy(self, config: Any) -> Any:
        return SubmitsAlone(super().deploy(config))


class NoInfo(Right):
    """Its `info` is a dict."""

    def __init__(self) -> None:
        super().__init__()
        self.info = {"name": "mine"}  # <- here


class OldClaims(Right):
    """It claims what is not a claim."""

    def __init__(self) -> None:
        super().__init__()
        self.info = TargetInfo("OldClaims", "1.0", "here", sight="virtual", claims=OLD)  # <- here


# ----------------------------------------------------------------------------------------- odd, and nothing to mend


class ZeroIsTheDefault(Right):
    """A delay of 0 means 20 ms."""

    def deploy(self, config: Any) -> Any:
        return super().deploy(replace(config, max_queue_delay_ns=config.max_queue_delay_ns or 20 * MS))


class NeedsADelay(Right):
    """It refuses a delay of 0 and a batch of 1."""

    def deploy(self, config: Any) -> Any:
        if not config.max_queue_delay_ns:
            raise Unsupported("delay")
        if config.max_batch_size == 1:
            raise Unsupported("max_batch_size=1")
        return super().deploy(config)


class NoDelay(Right):
    """It has no queue delay."""

    def deploy(self, config: Any) -> Any:
        if config.max_queue_delay_ns:
            raise Unsupported("delay")
        return super().deploy(config)


class OtherAnchor(Right):
    """It claims another anchor than it has."""

    def __init__(self) -> None:
        super().__init__()
        self.info = TargetInfo("OtherAnchor", "1.0", "here", sight="virtual", claims=OTHER)


class SilentWithoutDelay(Right):
    """A stack that answers nothing with a delay of 0, and takes it all the same."""

    def deploy(self, config: Any) -> Any:
        right = super().deploy(config)
        return right if config.max_queue_delay_ns >= 5 * MS else _Silent(right.inner)


class ClaimsItsLeast(SilentWithoutDelay):
    """The same, and its claims say so."""

    def __init__(self) -> None:
        super().__init__()
        claims = {**CLAIMS, "smallest_delay_ms": 5}
        self.info = TargetInfo("ClaimsItsLeast", "1.0", "here", sight="virtual", claims=claims)


class LongLeast(Right):
    """Its least delay is longer than the one that is tried as a rule."""

    def __init__(self) -> None:
        super().__init__()
        claims = {**CLAIMS, "smallest_delay_ms": 200}
        self.info = TargetInfo("LongLeast", "1.0", "here", sight="virtual", claims=claims)

    def deploy(self, config: Any) -> Any:
        if config.max_queue_delay_ns < 200 * MS:
            raise Unsupported("max_queue_delay_ns")
        return super().deploy(config)


class _LoadsLate(Deployed):
    """The model is still being loaded when `deploy` returns: it takes the first request 400 ms later."""

    first = True

    def submit(self, request: Request) -> Future[Response]:
        if not self.first:
            return self.inner.submit(request)
        self.first, late = False, Future()

        def loaded() -> None:
            self.inner.submit(request).add_done_callback(lambda done: late.set_result(done.result()))

        timer = threading.Timer(0.4, loaded)
        timer.daemon = True
        timer.start()
        return late


class ReturnsTooEarly(Right):
    """Its deployments are not ready."""

    deployed, batcher = _LoadsLate, ReferenceTarget

    def deploy(self, config: Any) -> Any:  # <- here
        return super().deploy(config)


class _ThreadDies(Deployed):
    """An error of the model ends the thread that called it."""

    def submit(self, request: Request) -> Future[Response]:
        if request.payload.fail:
            threading.Thread(target=self.die).start()
        return self.inner.submit(request)

    def die(self) -> None:
        raise OSError("no device")


class ManyAtOnce(Right):
    """Nothing waits for an instance, as in a stack that begins a batch whatever the model does."""

    def deploy(self, config: Any) -> Any:
        return super().deploy(replace(config, instances=64))


class NoVerbs(Right):
    """Nothing can be seen of it but answers."""

    def deploy(self, config: Any) -> Any:
        inner = super().deploy(config)
        bare = type("Bare", (), {"submit": staticmethod(inner.submit), "close": staticmethod(inner.close)})
        bare.clock = inner.clock
        return bare()


class Itself:
    """Target and deployment in one object."""

    def __init__(self) -> None:
        self.stack, self.now = VirtualTarget(), None
        self.info = TargetInfo("Itself", "1.0", "here", sight="virtual", claims=CLAIMS)

    def deploy(self, config: Any) -> Any:
        self.now = self.stack.deploy(config)
        return self

    def __getattr__(self, name: str) -> Any:
        if name in ("submit", "close", "release", "log", "queued", "cancel", "clock"):
            return getattr(self.__dict__["now"] or self.stack.deploy, name)
        raise AttributeError(name)


_SIMULATED = (
    _Raises, _ReturnsTheAnswer, _Silent, _Fails, _FailsWithItsOwn, _Floats, _SmallIntegers, _Flat, _Pairs, _OldWitness,
    _Mixed, _LosesTheWork, _LosesTheGate, _ReleasesNothing, _LogAgain, _LogLate, _LogEmpty, _LogTwice, _LogText, _LogRaises,
    _QueueEmpty, _QueueWithModel, _QueueNeverLess, _QueueOfEight, _CancelsNothing, _CancelsSilently, _CancelRaises,
    _FailsAsOther, _FailsAsItself, _ExpiresAsOther, _FailureIsAnAnswer, _CloseRaises, _LeavesAProcess, _LeavesAThread,
)
for _deployed in _SIMULATED:
    globals()[_deployed.__name__.strip("_")] = adapter(_deployed)
for _deployed in (_Blocks, _Connects, _QueueHangs, _AcceptsWhenIdle, _FullQueueBlocks):  # time has to pass by itself
    globals()[_deployed.__name__.strip("_")] = adapter(_deployed, ReferenceTarget)
ThreadDies = adapter(_ThreadDies)
