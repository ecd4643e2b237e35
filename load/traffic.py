"""The requests of a run, kept so that what a batcher did under load can be judged afterwards."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any

from batchproof.targets.protocol import Refused, Request

MOST = 50_000  # requests that are kept: each holds its answer


@dataclass(eq=False)
class Asked:
    """One request, and the Future of its answer. Times in ns on the deployment's clock; nobody sees when it is queued."""

    request: Request
    sent_ns: int
    future: Future[Any]
    answered_ns: int | None = None
    accepted_ns: int | None = None


class Traffic:
    """What was sent to one deployment since the last `taken`. The threads of a run may send at the same time."""

    def __init__(self, now_ns: Callable[[], int]) -> None:
        self._now_ns = now_ns
        self._asked: list[Asked] = []

    def send(self, request: Request, submit: Callable[[Request], Future[Any]]) -> Future[Any]:
        """Submit a request, and keep it; a refusal that `submit` raises is kept as well."""
        if len(self._asked) >= MOST:
            return submit(request)
        sent_ns = self._now_ns()
        try:
            future = submit(request)
        except Refused as refusal:
            refused: Future[Any] = Future()
            refused.set_exception(refusal)
            self._asked.append(Asked(request, sent_ns, refused, self._now_ns()))
            raise
        asked = Asked(request, sent_ns, future)
        self._asked.append(asked)
        future.add_done_callback(lambda _: setattr(asked, "answered_ns", self._now_ns()))
        return future

    def taken(self) -> list[Asked]:
        """Return what was kept, in the order in which it was sent, and keep it no longer."""
        taken, self._asked = self._asked, []
        return sorted(taken, key=lambda one: one.sent_ns)
