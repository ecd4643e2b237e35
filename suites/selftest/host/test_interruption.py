"""What a signal does: the first asks for an orderly end, the next ends the process, and several at once are one."""

from __future__ import annotations

import signal

import pytest

from batchproof.host.interruption import ONE_S, Interruption


class Clock:
    """Time that a test sets."""

    now_s = 100.0

    def __call__(self) -> float:
        return self.now_s


def test_the_first_request_interrupts_and_the_next_leaves() -> None:
    """`check` remembers the first one until it was told."""
    clock, left = Clock(), []
    interruption = Interruption(lambda: left.append("left"), clock)

    with pytest.raises(KeyboardInterrupt):
        interruption._asked(signal.SIGTERM, None)
    with pytest.raises(KeyboardInterrupt):
        interruption.check()
    assert left == []
    clock.now_s += ONE_S
    interruption._asked(signal.SIGINT, None)
    assert left == ["left"]


def test_several_signals_at_once_are_one_request() -> None:
    """`timeout` sends one to the process, and one to its group."""
    clock, left = Clock(), []
    interruption = Interruption(lambda: left.append("left"), clock)

    with pytest.raises(KeyboardInterrupt):
        interruption._asked(signal.SIGTERM, None)
    clock.now_s += ONE_S / 2
    interruption._asked(signal.SIGTERM, None)

    assert left == []
