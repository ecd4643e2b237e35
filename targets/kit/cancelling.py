"""Taking a request back: one verb for Futures, asyncio tasks and HTTP calls."""

from __future__ import annotations

from concurrent.futures import Future
from typing import Any


def cancel(future: Future[Any]) -> None:
    """Cancel what a Future stands for: `cancel = staticmethod(cancel)` is an adapter's verb.

    A Future from `relay` hands it on to the stack's own Future. The Future of `Loop.submit` cancels its task. The Future of
    `HttpClient.submit` closes its connection, as a client does that goes away. A call that runs on a `Pool` cannot be
    cancelled, and goes on.
    """
    getattr(future, "inner", future).cancel()
