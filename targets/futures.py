"""Turns a Future of one kind into a Future of another, which every adapter over Futures needs."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from typing import Any

from batchproof.reference_batcher.answer import LightFuture
from batchproof.targets.protocol import Kind, Refused, Response


class Relayed(LightFuture):
    """A Future that settles when `inner` does."""

    def __init__(self, inner: Future[Any]) -> None:
        super().__init__()
        self.inner = inner


def no_status(_: BaseException) -> str:
    """Return an empty status, for a stack whose errors have none."""
    return ""


def relay(
    inner: Future[Any],
    answer: Callable[[Any], Response],
    kind: Callable[[BaseException], Kind],
    status: Callable[[BaseException], str] = no_status,
) -> Future[Response]:
    """Return a Future that gives `answer(result)`, or raises Refused with the error's kind, message and status."""
    outer = Relayed(inner)

    def settle(done: Future[Any]) -> None:
        if done.cancelled():
            outer.set_exception(Refused(Kind.CANCELLED, "cancelled", "CANCELLED"))
            return
        error = done.exception()
        if error is not None:
            outer.set_exception(Refused(kind(error), f"{type(error).__name__}: {error}", status(error)))
            return
        try:
            outer.set_result(answer(done.result()))
        except Exception as unreadable:
            outer.set_exception(Refused(Kind.OTHER, f"the answer cannot be read: {unreadable!r}"))

    inner.add_done_callback(settle)
    return outer


def batcher_kind(error: BaseException) -> Kind:
    """Classify an error of the reference batcher."""
    from batchproof.reference_batcher import Cancelled, Closed, Expired, Invalid, QueueFull

    kinds = (
        (Invalid, Kind.INVALID), (QueueFull, Kind.FULL), (Expired, Kind.EXPIRED), (Cancelled, Kind.CANCELLED),
        (Closed, Kind.CLOSED),
    )  # fmt: skip
    for type_, kind in kinds:
        if isinstance(error, type_):
            return kind
    return Kind.FAILED


def batcher_status(error: BaseException) -> str:
    """Return the status of an error of the reference batcher, or of its model."""
    from batchproof.reference_batcher import BatcherError

    return error.status if isinstance(error, BatcherError) else "INTERNAL"
