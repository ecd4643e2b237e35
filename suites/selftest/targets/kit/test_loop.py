"""The loop: coroutines run on it, a cancelled Future cancels its task, and its end is bounded."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading
from concurrent.futures import CancelledError

import pytest

from batchproof.targets.kit import Loop


async def halves(number: int) -> int:
    await asyncio.sleep(0)
    return number // 2


def test_results_and_errors_come_back() -> None:
    """A Future has what the coroutine returned or raised; a plain function sees the running loop."""
    loop = Loop()

    assert loop.submit(halves(9)).result(30) == 4
    with pytest.raises(TypeError):
        loop.submit(halves("x")).result(30)  # type: ignore[arg-type]
    assert loop.call(asyncio.get_running_loop) is loop.loop
    loop.close()


def test_cancelling_the_future_cancels_the_task() -> None:
    """The coroutine sees CancelledError where it waits."""
    loop, entered, cancelled = Loop(), threading.Event(), threading.Event()

    async def forever() -> None:
        try:
            entered.set()
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            cancelled.set()
            raise

    future = loop.submit(forever())
    assert entered.wait(30)

    assert future.cancel()
    assert cancelled.wait(30)
    loop.close()


def test_closing_cancels_what_is_left() -> None:
    """Its Futures are settled, its thread ends, and it takes nothing more."""
    loop, entered = Loop("closing-loop"), threading.Event()

    async def forever() -> None:
        entered.set()
        await asyncio.Event().wait()

    future = loop.submit(forever())
    assert entered.wait(30)

    loop.close()
    loop.close()

    with pytest.raises(CancelledError):
        future.result(30)
    with pytest.raises(RuntimeError):
        loop.submit(halves(2))
    assert "closing-loop" not in [thread.name for thread in threading.enumerate()]


def test_a_loop_that_is_stuck_keeps_no_program_from_ending() -> None:
    """Python exits while a task blocks the loop, and closing does not wait for it for long."""
    program = (
        "import threading; from batchproof.targets.kit import Loop\n"
        "async def stuck(): threading.Event().wait()\n"
        "loop = Loop(); loop.submit(stuck()); loop.close(0.1)"
    )

    assert subprocess.run([sys.executable, "-c", program], timeout=60, check=False).returncode == 0


def test_a_call_ends_as_the_loop_does() -> None:
    """What is called while the loop is closed says that it is closed, as what comes later does, and nobody waits."""
    for _ in range(20):
        loop, told, started = Loop(), [], threading.Event()

        def call(loop: Loop = loop, told: list[str] = told, started: threading.Event = started) -> None:
            started.set()
            while not told:
                try:
                    loop.call(int)
                except RuntimeError as error:
                    told.append(str(error))

        caller = threading.Thread(target=call, daemon=True)
        caller.start()
        assert started.wait(30)
        loop.close()
        caller.join(20)  # a call of its own would wait for 30 s

        assert told
        assert "closed" in told[0]
