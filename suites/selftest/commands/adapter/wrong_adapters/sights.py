"""Adapters that show the gate, the log or the queue wrongly."""

from __future__ import annotations

import threading
from typing import Any

from batchproof.suites.selftest.commands.adapter.wrong_adapters.right import Deployed
from batchproof.targets import Request


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
