"""A network cable that takes time: packets between pairs of TUN devices, each held for as long as the cable is.

`-m batchproof.load.spread.lab.delay_line DELAY_NS NAME NAME [NAME NAME ...]` makes each pair of devices, says so on standard
output, and carries packets both ways until its standard input ends; the devices go with it. It needs root. The kernel's own
way (`tc qdisc ... netem delay`) needs a module that many kernels of virtual machines lack; this needs TUN alone.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import select
import struct
import sys
import time
from collections import deque

from batchproof.host.watch import sharp_timer

TUNSETIFF, IFF_TUN, IFF_NO_PI = 0x400454CA, 0x0001, 0x1000
LONGEST = 1 << 16  # bytes of a packet
Held = deque[tuple[int, bytes]]


def device(name: str) -> int:
    """Make a TUN device, and return the file that its packets pass through; OSError without the right to."""
    file = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    fcntl.ioctl(file, TUNSETIFF, struct.pack("16sH22x", name.encode(), IFF_TUN | IFF_NO_PI))
    return file


def carry(pairs: dict[int, int], delay_ns: int, until: int) -> None:
    """Carry packets to and fro until the file `until` ends. pairs: for each file the one at the other end."""
    held: dict[int, Held] = {file: deque() for file in pairs}
    while True:
        due = [queue[0][0] for queue in held.values() if queue]
        left_s = max(0, min(due) - time.monotonic_ns()) / 1e9 if due else None
        ready, _, _ = select.select([*pairs, until], [], [], left_s)
        if until in ready:
            return
        for file in ready:
            take(file, held[file], delay_ns)
        now_ns = time.monotonic_ns()
        for file, queue in held.items():
            while queue and queue[0][0] <= now_ns:
                with contextlib.suppress(OSError):  # an interface that is down drops it, as a cable that is not plugged in
                    os.write(pairs[file], queue.popleft()[1])


def take(file: int, queue: Held, delay_ns: int) -> None:
    """Take all packets that have arrived, and note when each is through."""
    with contextlib.suppress(OSError):  # all have been read, or the interface is down
        while True:
            packet = os.read(file, LONGEST)
            queue.append((time.monotonic_ns() + delay_ns, packet))


def main() -> None:
    """Make the devices, and carry."""
    sharp_timer()
    delay_ns, names = int(sys.argv[1]), sys.argv[2:]
    files = [device(name) for name in names]
    pairs = {file: files[place ^ 1] for place, file in enumerate(files)}
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    carry(pairs, delay_ns, sys.stdin.fileno())


if __name__ == "__main__":
    main()
