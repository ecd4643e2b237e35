"""Targets that are right, but cannot have every value, and say so: each lacks one thing, and no rule fails for it.

They live in simulated time. `batchproof.suites.selftest.narrow:SixOrMore` is a target for `--target`. What they do not claim
they refuse with an error, so a rule that asked for it would end with ERROR.
"""

from __future__ import annotations

import itertools
from concurrent.futures import Future
from dataclasses import replace
from typing import Any, ClassVar

from batchproof.suites.selftest.liars import Honest, _Changed
from batchproof.targets.fitting import UNLIMITED
from batchproof.targets.protocol import Kind, Refused, Request, Response, TargetError, TargetInfo, Unsupported
from batchproof.targets.virtual import VirtualTarget

MS = 1_000_000
MANY = 1000  # instances


class Narrow(Honest):
    """The simulated reference batcher, or one of its mutants that is right by other claims."""

    mutant: ClassVar[str] = ""

    def __init__(self) -> None:
        super().__init__()
        self._inner = VirtualTarget(self.mutant)
        name = type(self).__name__
        self.info = TargetInfo(name, "1.5", f"{__name__}:{name}", sight="virtual", claims=self.info.claims)


class SixOrMore(Narrow):
    """Its max_batch_size is at least six."""

    claims: ClassVar[dict[str, Any]] = {"smallest_batch": 6}

    def deploy(self, config: Any) -> Any:
        """Serve only with six rows or more."""
        if config.max_batch_size < 6:
            raise TargetError(f"max_batch_size is {config.max_batch_size}")
        return super().deploy(config)


class NoRowsSixOrMore(SixOrMore):
    """Its max_batch_size is at least six requests, and a request has one row."""

    claims: ClassVar[dict[str, Any]] = {"smallest_batch": 6, "rows": False}


class NoKnob(Narrow):
    """It cannot be told a delay."""

    claims: ClassVar[dict[str, Any]] = {"delay": False, "delay_anchor": False, "config": False}

    def deploy(self, config: Any) -> Any:
        """Serve only without a delay."""
        if config.max_queue_delay_ns:
            raise Unsupported("delay")
        return super().deploy(config)


class IgnoresDelay(NoKnob):
    """It cannot be told a delay, and its adapter ignores one instead of refusing it."""

    def deploy(self, config: Any) -> Any:
        """Serve without a delay."""
        return super().deploy(replace(config, max_queue_delay_ns=0))


class TenSecondsAtMost(Narrow):
    """It refuses a longer delay, which no claim can say."""

    def deploy(self, config: Any) -> Any:
        """Serve with a short delay."""
        if config.max_queue_delay_ns > 10_000 * MS:
            raise Unsupported("max_queue_delay_ns")
        return super().deploy(config)


class ClaimsDelay(NoKnob):
    """It claims a delay, and has none when asked for it: this one does not tell the truth."""

    claims: ClassVar[dict[str, Any]] = {"delay": True}


class SlowTimer(Narrow):
    """Its smallest delay is 500 ms, and so it has none of 0."""

    claims: ClassVar[dict[str, Any]] = {"smallest_delay_ms": 500}

    def deploy(self, config: Any) -> Any:
        """Serve only with a long delay."""
        if config.max_queue_delay_ns < 500 * MS:
            raise TargetError(f"max_queue_delay_ns is {config.max_queue_delay_ns}")
        return super().deploy(config)


class ZeroMeansDefault(Narrow):
    """A configured delay of 0 is its default, 100 ms."""

    mutant = "zero-is-default"
    claims: ClassVar[dict[str, Any]] = {"zero_delay": "default", "smallest_delay_ms": 1, "default_delay_ms": 100}


class BatchesWithDelay(Narrow):
    """Without a delay it executes each request alone."""

    claims: ClassVar[dict[str, Any]] = {"batches_without_delay": False}

    def deploy(self, config: Any) -> Any:
        """Serve one by one where there is no delay."""
        return super().deploy(config) if config.max_queue_delay_ns else VirtualTarget("never-batches").deploy(config)


# ------------------------------------------------------------------------------------------------- made in another way


class OnlyDirect(Narrow):
    """It has one strategy for sequences, `direct`."""

    claims: ClassVar[dict[str, Any]] = {"sequences": "direct"}

    def deploy(self, config: Any) -> Any:
        """Serve no other strategy."""
        if config.sequence is not None and config.sequence.strategy != self.claims["sequences"]:
            raise TargetError(f"the strategy is {config.sequence.strategy}")
        return super().deploy(config)


class OnlyOldest(OnlyDirect):
    """It has one strategy for sequences, `oldest`."""

    claims: ClassVar[dict[str, Any]] = {"sequences": "oldest", "sequence_state": False}


class AnyCorrelationId(Narrow):
    """A number and a string name a sequence alike."""

    mutant = "corrid-any-type"
    claims: ClassVar[dict[str, Any]] = {"sequence_ids": "any"}


class LoopEntry(Narrow):
    """Its delay counts from whenever its loop comes round, whenever a request came."""

    claims: ClassVar[dict[str, Any]] = {"delay_anchor": "loop-entry"}
    mutant = "window-runs-freely"


class FirstDequeue(Narrow):
    """Its delay counts from when a free instance takes the first request."""

    mutant = "delay-from-idle"
    claims: ClassVar[dict[str, Any]] = {"delay_anchor": "first-dequeue"}


class RowsAreUnits(Narrow):
    """It counts requests, whatever they hold."""

    mutant = "size-in-requests"
    claims: ClassVar[dict[str, Any]] = {"rows": "requests"}


class RowsAreSplit(Narrow):
    """It cuts a request to fill a batch."""

    mutant = "request-split"
    claims: ClassVar[dict[str, Any]] = {"rows": "split"}


class _OwnQueues(_Changed):
    """A deployment of one model for each instance, which take turns."""

    def __init__(self, models: list[Any]) -> None:
        super().__init__(models[0])
        self._models = models
        self._turn = itertools.cycle(sorted(2 * list(range(len(models)))))  # two to each, then two to the next one
        self._future: dict[Future[Response], int] = {}

    def submit(self, request: Request) -> Future[Response]:
        """Queue it with the next instance."""
        turn = next(self._turn)
        future = self._models[turn].submit(request)
        self._future[future] = turn
        return future

    def cancel(self, future: Future[Response]) -> None:
        self._models[self._future[future]].cancel(future)

    def queued(self) -> int:
        return sum(model.queued() for model in self._models)

    def release(self, token: int) -> None:
        for model in self._models:
            model.release(token)

    def log(self) -> list[dict[str, Any]]:
        return [{**line, "instance": number} for number, model in enumerate(self._models) for line in model.log()]

    statistics = None

    def close(self) -> None:
        for model in self._models:
            model.close()


class OwnQueues(Narrow):
    """Each of its instances has a queue of its own, and requests go to them by twos."""

    claims: ClassVar[dict[str, Any]] = {"queue": "each-instance", "statistics": False, "ordering": False, "faults": False}

    def deploy(self, config: Any) -> Any:
        """Serve as many models as there are instances, in the same simulated time."""
        one = replace(config, instances=1)
        first = self._inner.deploy(one)
        return _OwnQueues([first, *(self._inner.deploy_beside(first, one) for _ in range(config.instances - 1))])


class _CountsInside(_Changed):
    """Refuses a request if as many as the limit are inside, waiting or executed."""

    def __init__(self, inner: Any, limit: int) -> None:
        super().__init__(inner)
        self._limit, self._inside = limit, 0

    def submit(self, request: Request) -> Future[Response]:
        """Refuse it, or count it until it is answered."""
        if self._limit and self._inside >= self._limit:
            full: Future[Response] = Future()
            full.set_exception(Refused(Kind.FULL, "too many requests", "UNAVAILABLE"))
            return full
        self._inside += 1
        future = super().submit(request)
        future.add_done_callback(self._leave)
        return future

    def _leave(self, _done: Future[Response]) -> None:
        self._inside -= 1


class CountsInside(Narrow):
    """Its limit counts what is executed too."""

    claims: ClassVar[dict[str, Any]] = {"queue_limit_counts": "inside", "statistics": False}

    def deploy(self, config: Any) -> Any:
        """Serve without a limit, behind one that counts all requests."""
        return _CountsInside(super().deploy(replace(config, max_queue_size=0)), config.max_queue_size)


class _TimesRequests(_Changed):
    """Tells the sender that a request is over when its time is, wherever the request is."""

    def __init__(self, inner: Any, timeout_ns: int) -> None:
        super().__init__(inner)
        self._timeout_ns = timeout_ns

    def submit(self, request: Request) -> Future[Response]:
        """Pass it on, and give up when its time is over."""
        future = super().submit(request)
        if self._timeout_ns:
            self.clock.at(self.clock.now_ns() + self._timeout_ns, lambda: self._give_up(future))
        return future

    def _give_up(self, future: Future[Response]) -> None:
        if not future.done():
            future.set_exception(Refused(Kind.EXPIRED, "timed out", "UNAVAILABLE"))
            self.cancel(future)


class TimesRequests(Narrow):
    """Its timeout covers the whole request, as that of many HTTP servers does."""

    claims: ClassVar[dict[str, Any]] = {
        "timeout_covers": "request", "timeout_delay": False, "timeout_override": False, "statistics": False,
    }  # fmt: skip

    def deploy(self, config: Any) -> Any:
        """Serve without a timeout, behind a timer for each request."""
        return _TimesRequests(super().deploy(replace(config, queue_timeout_ns=0)), config.queue_timeout_ns)


class ClosesEarly(Narrow):
    """A batch is closed when its delay is over, although its model is busy: who comes later does not join it."""

    claims: ClassVar[dict[str, Any]] = {"late_binding": False}

    def deploy(self, config: Any) -> Any:
        """Serve with another answer to how much of the head of the queue leaves."""
        deployment = super().deploy(config)
        core = deployment._batcher._service.core
        departure = core._departure

        def leaving(head: Any, now_ns: int) -> Any:
            count, due_ns = departure(head, now_ns)
            closed_ns = head.batch[0].queued_ns + config.max_queue_delay_ns
            return min(count, sum(entry.queued_ns <= closed_ns for entry in head.batch)), due_ns

        core._departure = leaving
        return deployment


class FullWaits(Narrow):
    """A timer alone sends batches, also those that are full."""

    mutant: ClassVar[str] = "full-waits"
    claims: ClassVar[dict[str, Any]] = {"full_batch": "waits", "preferred_sizes": False}


class NoLimit(Narrow):
    """Its batches take all that is due."""

    claims: ClassVar[dict[str, Any]] = {"batch_limit": False, "preferred_sizes": False, "custom_batching": False}

    def deploy(self, config: Any) -> Any:
        """Serve with a limit that nothing reaches; that of sequences is the number of their slots."""
        return super().deploy(config if config.sequence else replace(config, max_batch_size=UNLIMITED))


class DelaysGoOn(Narrow):
    """What waits when it is closed keeps its delay."""

    mutant: ClassVar[str] = "close-waits"
    claims: ClassVar[dict[str, Any]] = {"closing_delay": "kept"}


class BatchesHaveDelays(Narrow):
    """A delay belongs to the batch that a request has opened, and goes on when that one is cancelled."""

    mutant: ClassVar[str] = "cancel-leaves-timer"
    claims: ClassVar[dict[str, Any]] = {"delay_of": "batch"}


class NewestFirst(Narrow):
    """What came last leaves first."""

    mutant: ClassVar[str] = "stack"
    claims: ClassVar[dict[str, Any]] = {"order": "any"}


class Alone(NoKnob):
    """It executes each request alone, whatever it is told."""

    mutant = "never-batches"
    claims: ClassVar[dict[str, Any]] = {
        **NoKnob.claims, "batches_without_delay": False, "late_binding": False, "rows": "requests", "preferred_sizes": False,
    }  # fmt: skip


class NoBatchOfOne(Narrow):
    """Its max_batch_size is at least two."""

    claims: ClassVar[dict[str, Any]] = {"smallest_batch": 2}

    def deploy(self, config: Any) -> Any:
        """Serve only with two rows or more."""
        if config.max_batch_size < 2:
            raise TargetError(f"max_batch_size is {config.max_batch_size}")
        return super().deploy(config)


class Unlimited(Narrow):
    """It executes every batch at once, so that nothing waits for a busy model."""

    claims: ClassVar[dict[str, Any]] = {
        "instances": "unlimited", "late_binding": False, "batches_without_delay": False, "sequences": False,
        "sequence_state": False,
    }  # fmt: skip

    def deploy(self, config: Any) -> Any:
        """Run more instances than any rule keeps busy; without a delay, execute requests one by one."""
        if not config.max_queue_delay_ns:
            return VirtualTarget("never-batches").deploy(replace(config, instances=MANY))
        return super().deploy(replace(config, instances=MANY))


class ChoosesSize(Narrow):
    """Its batches hold half of what they may, which it has found to be best."""

    mutant: ClassVar[str] = "size-half"
    claims: ClassVar[dict[str, Any]] = {"batch_sizes": "chosen", "preferred_sizes": False}


class ChoosesOne(ChoosesSize):
    """It has found that its model is best served with one request at a time."""

    mutant: ClassVar[str] = "never-batches"


class MeetsTimeouts(Narrow):
    """A batch leaves a little before the first timeout of a request that waits is over."""

    claims: ClassVar[dict[str, Any]] = {"meets_timeouts": True}

    def deploy(self, config: Any) -> Any:
        """Serve with a delay that ends in time."""
        deployment = super().deploy(config)
        if config.sequence is not None:
            return deployment
        core = deployment._batcher._service.core
        departure = core._departure

        def leaving(head: Any, now_ns: int) -> Any:
            count, due_ns = departure(head, now_ns)
            end_ns = core.queue._next_expiry_ns()
            return count, due_ns if end_ns is None else min(due_ns, end_ns - 5 * MS)

        core._departure = leaving
        return deployment
