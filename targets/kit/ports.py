"""Ports of this machine that nothing listens on."""

from __future__ import annotations

import socket
from contextlib import ExitStack


def free_ports(count: int) -> list[int]:
    """Return that many different TCP ports of 127.0.0.1 that are free now. Listen on them soon: nothing reserves them."""
    with ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in sockets]


def free_port() -> int:
    """Return a TCP port of 127.0.0.1 that is free now."""
    return free_ports(1)[0]
