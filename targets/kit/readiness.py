"""Waiting until something is ready."""

from __future__ import annotations

import socket
from collections.abc import Callable

from batchproof.host.clock import HOST_CLOCK
from batchproof.targets.deadlines import TooLate
from batchproof.targets.protocol import TargetError


def never_ends() -> str:
    """Return an empty string: whatever is waited for has not ended."""
    return ""


def until(ready: Callable[[], object], seconds: float, what: str, ended: Callable[[], str] = never_ends) -> None:
    """Return as soon as `ready()` is true. Whatever it raises means "not yet", and the message quotes the last of it.

    TooLate after that many seconds: "WHAT was not ready after 60 s". ended: why it will never be ready; TargetError once
    that is not empty.
    """
    last: list[str] = []

    def now() -> bool:
        if why := ended():
            raise TargetError(why)
        last.clear()
        try:
            return bool(ready())
        except Exception as error:
            last.append(f" ({type(error).__name__}: {error})")
            return False

    if not HOST_CLOCK.wait(now, HOST_CLOCK.now_ns() + int(seconds * 1e9)):
        raise TooLate(f"{what} was not ready after {seconds:g} s{''.join(last)}")


def listens(port: int, host: str = "127.0.0.1") -> bool:
    """Return whether something accepts connections at this TCP port."""
    try:
        with socket.create_connection((host, port), timeout=1.0):
            return True
    except OSError:
        return False
