"""The process of one side of `batchproof ab`, which starts it: `-m batchproof.commands.ab_side DESCRIPTOR PARENT_PID`."""

from __future__ import annotations

import signal
import socket
import sys

from batchproof.bench.ab.serving import serve_orders
from batchproof.commands.under_load import look_for
from batchproof.host.guard import end_with
from batchproof.host.process_end import run_to_the_end


def main() -> None:
    """Serve until the other end of the socket has gone. It ends with its parent, however the parent ends."""
    descriptor, parent = int(sys.argv[1]), int(sys.argv[2])
    end_with(parent, signal.SIGKILL)
    with socket.socket(fileno=descriptor) as channel:
        serve_orders(channel, look_for)


if __name__ == "__main__":
    run_to_the_end(main)
