"""The strangers' adapters, made with the kit: `batchproof.suites.selftest.strangers.adapter:NAME` is a target.

A class for each way to reach a batcher: futures in this process, an event loop in this process, a server in a process of its
own, and models in processes of their own.
"""

import asyncio
import json
import sys
from concurrent.futures import Future
from dataclasses import replace
from typing import Any

from batchproof.reference_batcher import BatcherConfig
from batchproof.suites.selftest.strangers import fairshare, flush, policies, server, stealing
from batchproof.suites.selftest.strangers.condition import ConditionBatcher
from batchproof.suites.selftest.strangers.deadlines import DeadlineBatcher
from batchproof.suites.selftest.strangers.errors import QueueFull, Stopped, TooLarge, TooLate
from batchproof.suites.selftest.strangers.loop import LoopBatcher
from batchproof.suites.selftest.strangers.pipeline import PipelineBatcher
from batchproof.suites.selftest.strangers.pool import PoolBatcher
from batchproof.suites.selftest.strangers.retiring import RetiringBatcher
from batchproof.suites.selftest.strangers.rows import RowBatcher
from batchproof.suites.selftest.strangers.table import STRANGERS, Stranger
from batchproof.suites.selftest.strangers.timers import TimerBatcher
from batchproof.targets import Kind, Request, Response, TargetInfo, Unsupported, Witness, relay
from batchproof.targets.kit import Counted, Folder, Guarded, HttpClient, cancel, free_port

KINDS = {TooLarge: Kind.INVALID, QueueFull: Kind.FULL, TooLate: Kind.EXPIRED, Stopped: Kind.CLOSED}
EVERYBODY = {"delay": True, "instances": True, "crowd": True}
OLDEST = {**EVERYBODY, "delay_anchor": "oldest-enqueue"}
FULL = {**OLDEST, "rows": True, "queue_timeout": True, "max_queue_size": True, "cancel": True}
CLAIMS = {
    "condition": {**FULL, "close": True},
    "loop": {**OLDEST, "cancel": True, "close": True},
    "collector": {**EVERYBODY, "delay_anchor": "first-dequeue", "max_queue_size": True},
    "pool": {**EVERYBODY, "delay_anchor": "first-dequeue", "close": True, "queue": "each-instance"},
    "server": {**FULL, "crowd": False},
    "deadlines": {**OLDEST, "rows": True, "priorities": True, "queue_timeout": True, "timeout_override": True,
                  "cancel": True, "close": True},
    "ring": {**OLDEST, "crowd": False, "max_queue_size": True, "cancel": True, "close": True},
    "pipeline": {**EVERYBODY, "rows": True, "delay_anchor": "first-dequeue", "cancel": True, "close": True},
    "piped": {**OLDEST, "crowd": False, "cancel": True, "close": True},
    "timers": {**OLDEST, "queue_timeout": True, "max_queue_size": True, "cancel": True, "close": True},
    "turnstile": {**OLDEST, "max_queue_size": True, "cancel": True, "close": True},
    "rows": {**OLDEST, "rows": "split", "close": True},
    "retiring": {"delay": True, "delay_anchor": "loop-entry", "crowd": True},
}


class InProcess:
    """A batcher of futures in this process: `condition`, `collector` and `pool`."""

    cancel = staticmethod(cancel)

    def __init__(self, batcher: type[Any], config: BatcherConfig) -> None:
        folder = Folder()
        self.counted = Counted(folder.path)
        self.models = [Counted(Witness(folder.path, number)) for number in range(config.instances)]
        models = [counted.execute for counted in self.models]
        self.batcher = batcher(models, config.max_batch_size, config.max_queue_delay_ns / 1e9, *self.more(batcher, config))
        self.log, self.release, self.queued, self.folder = folder.log, folder.release, folder.queued, folder
        self.close = getattr(self.batcher, "close", lambda: None)

    def finish(self) -> None:
        self.close()
        for counted in (self.counted, *self.models):
            counted.close()
        self.folder.remove()

    @staticmethod
    def more(batcher: type[Any], config: BatcherConfig) -> tuple[Any, ...]:
        """Return the settings that not every batcher has."""
        if issubclass(batcher, (ConditionBatcher, TimerBatcher)):
            return config.queue_timeout_ns / 1e9, config.max_queue_size
        if issubclass(batcher, DeadlineBatcher):
            return (config.queue_timeout_ns / 1e9,)
        unlimited = LoopBatcher, PoolBatcher, PipelineBatcher, RowBatcher, RetiringBatcher
        return () if issubclass(batcher, unlimited) else (config.max_queue_size,)

    def call(self, request: Request) -> Future[Any]:
        """Give the request to the batcher."""
        return self.counted.track(request.serial, self.batcher.submit(request.tensor()))

    def submit(self, request: Request) -> Future[Response]:
        return relay(self.call(request), lambda answer: Response(*answer), lambda error: KINDS.get(type(error), Kind.FAILED))


class Cancelling(InProcess):
    """`condition`, `deadlines`, `ring` and `turnstile` want to be told which request is cancelled."""

    def cancel(self, future: Any) -> None:
        self.batcher.cancel(future.inner)


class Urgent(Cancelling):
    """`deadlines` takes a priority and a timeout with each request."""

    def __init__(self, batcher: type[Any], config: BatcherConfig) -> None:
        if config.priority_queue_policy:
            raise Unsupported("priority_queue_policy")
        self.config = config
        super().__init__(batcher, config)

    def call(self, request: Request) -> Future[Any]:
        asked = request.payload
        timeout_s = asked.timeout_ns / 1e9 if self.config.allow_timeout_override else 0
        future = self.batcher.submit(request.tensor(), self.config.level(asked.priority), timeout_s)
        return self.counted.track(request.serial, future)


class OnLoop(InProcess):
    """`loop` and `timers` queue a request on their loop, and it is counted there."""

    def call(self, request: Request) -> Future[Any]:
        return asyncio.run_coroutine_threadsafe(self.handle(request.tensor()), self.batcher.loop)

    async def handle(self, tensor: Any) -> Any:
        with self.counted.waiting(tensor):
            return await self.batcher.infer(tensor)


class Piped(Cancelling):
    """`piped`, whose models are processes."""

    def __init__(self, batcher: type[Any], config: BatcherConfig) -> None:
        folder = Folder()
        self.counted, self.folder = Counted(folder.path), folder
        self.batcher = batcher(folder.path, config.instances, config.max_batch_size, config.max_queue_delay_ns / 1e9)
        self.log, self.release, self.queued, self.close = folder.log, folder.release, folder.queued, self.batcher.close
        self.process_group = self.batcher.group

    def finish(self) -> None:
        self.batcher.end()
        self.counted.close()
        self.folder.remove()


class Served:
    """`server`, in a process of its own."""

    cancel = staticmethod(cancel)

    def __init__(self, service: type[Any], config: BatcherConfig) -> None:
        self.folder, port = Folder(), free_port()
        self.log, self.release = self.folder.log, self.folder.release
        settings = {"service": service.__name__, "instances": config.instances, "max_rows": config.max_batch_size,
                    "delay_s": config.max_queue_delay_ns / 1e9, "timeout_s": config.queue_timeout_ns / 1e9,
                    "max_waiting": config.max_queue_size}
        self.http = HttpClient(f"http://127.0.0.1:{port}")
        command = [sys.executable, "-m", server.__name__, str(port), self.folder.path, json.dumps(settings)]
        self.server = Guarded(command, ready=lambda: self.http.ok("/queued"))
        self.process_group = self.server.process_group

    def submit(self, request: Request) -> Future[Response]:
        return self.http.infer("/infer", request)

    def queued(self) -> int:
        return int(self.http.get("/queued"))

    def close(self) -> None:
        """This server has no way to remove its model, and so `close` is not claimed."""

    def finish(self) -> None:
        self.server.finish()
        self.http.close()
        self.folder.remove()


DEPLOYED = {
    "condition": Cancelling, "loop": OnLoop, "collector": InProcess, "pool": InProcess, "server": Served,
    "deadlines": Urgent, "ring": Cancelling, "pipeline": InProcess, "piped": Piped, "timers": OnLoop,
    "turnstile": Cancelling, "rows": InProcess, "retiring": InProcess,
}


OWN = {"fairshare": fairshare.Target, "stealing": stealing.Target, "policies": policies.Target, "flush": flush.target}


def _own(stranger: Stranger) -> Any:
    """Return the target of a stranger that came with an adapter of its own, under the stranger's name."""
    own = OWN[stranger.style](stranger.batcher)
    own.info = replace(own.info, name=stranger.name, reached=f"{__name__}:{stranger.name}")
    return own


class StrangerTarget:
    """The target of one stranger: its batcher, with the claims of its style."""

    def __init__(self, stranger: Stranger) -> None:
        self.batcher = stranger.batcher
        self.style = stranger.style
        claims = {**CLAIMS[self.style], **stranger.claims}
        self.info = TargetInfo(stranger.name, "1.0", f"{__name__}:{stranger.name}", claims=claims)

    def deploy(self, config: BatcherConfig) -> Any:
        return DEPLOYED[self.style](self.batcher, config)


def __getattr__(name: str) -> Any:
    """Return the target of the stranger of this name."""
    if name not in STRANGERS:
        raise AttributeError(name)
    stranger = STRANGERS[name]
    return _own(stranger) if stranger.style in OWN else StrangerTarget(stranger)
