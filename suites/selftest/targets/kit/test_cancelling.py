"""Cancellation of what an adapter's Future stands for. test_http.py has the HTTP calls."""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import Future

import pytest

from batchproof.targets import Kind, Refused, Response, relay
from batchproof.targets.kit import Loop, cancel


def failed(_: BaseException) -> Kind:
    return Kind.FAILED


def same(answer: Response) -> Response:
    return answer


def test_a_relayed_future_cancels_the_stacks_own() -> None:
    """The request is refused as cancelled."""
    inner: Future[Response] = Future()
    outer = relay(inner, same, failed)

    cancel(outer)

    assert inner.cancelled()
    with pytest.raises(Refused) as refused:
        outer.result(0)
    assert refused.value.kind is Kind.CANCELLED


def test_a_plain_future_is_cancelled_itself() -> None:
    """An adapter may hand out the stack's own Futures."""
    future: Future[Response] = Future()

    cancel(future)

    assert future.cancelled()


def test_a_relayed_task_is_cancelled_on_its_loop() -> None:
    """The stack's coroutine is told where it waits."""
    loop, entered, told = Loop(), threading.Event(), threading.Event()

    async def wait() -> Response:
        try:
            entered.set()
            await asyncio.Event().wait()
        finally:
            told.set()
        raise AssertionError

    future = relay(loop.submit(wait()), same, failed)
    assert entered.wait(30)

    cancel(future)

    assert told.wait(30)
    with pytest.raises(Refused) as refused:
        future.result(30)
    assert refused.value.kind is Kind.CANCELLED
    loop.close()
