"""A network of its own for some workers: a hub, a namespace for each worker, and a cable of a known length to each.

The names have this process's id in them, and all is removed at the end; deleting a namespace ends what is left in it.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from pathlib import Path
from shutil import which
from typing import TYPE_CHECKING

from batchproof.host.keeper import descendants

if TYPE_CHECKING:
    from typing_extensions import Self

HUB = "10.77.0.1"
LIMIT_S = 20.0


class NoNetwork(Exception):
    """No network can be made here; the message says what is missing."""


def missing() -> str:
    """Return what this machine lacks; empty if a network can be made."""
    if os.geteuid() != 0:
        return "it needs root, to make network namespaces"
    if which("ip") is None or which("unshare") is None:
        return "it needs the programs ip and unshare (Debian's packages iproute2 and util-linux)"
    if not Path("/dev/net/tun").exists():
        return "it needs /dev/net/tun"
    return ""


class Network:
    """Use it as `with Network(4, 5_000_000) as network:`. delay_ns: of a cable, one way. NoNetwork if it cannot be made."""

    def __init__(self, workers: int, delay_ns: int) -> None:
        mark = f"bp{os.getpid()}"
        self.hub = f"{mark}-hub"
        self.spaces = [f"{mark}-w{number}" for number in range(1, workers + 1)]
        self._devices = [(f"{mark}h{number}", f"{mark}w{number}") for number in range(1, workers + 1)]
        self._delay_ns = delay_ns
        self._stack = contextlib.ExitStack()

    def __enter__(self) -> Self:
        """Make it."""
        if why := missing():
            raise NoNetwork(why)
        try:
            self._make()
        except (OSError, subprocess.SubprocessError) as error:
            self._stack.close()
            told = getattr(error, "stderr", "") or error
            raise NoNetwork(f"no network can be made: {str(told).strip()}") from None
        except BaseException:
            self._stack.close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        """Remove it."""
        self._stack.close()

    def _make(self) -> None:
        for space in (self.hub, *self.spaces):
            ip("netns", "add", space)
            self._stack.callback(remove, space)
            ip("-n", space, "link", "set", "lo", "up")
        names = [name for pair in self._devices for name in pair]
        program = [sys.executable, "-m", "batchproof.load.spread.lab.delay_line", str(self._delay_ns), *names]
        line = subprocess.Popen(program, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self._stack.callback(end, line)
        assert line.stdout is not None
        if line.stdout.readline() != "ready\n":
            _, told = line.communicate(timeout=LIMIT_S)
            raise OSError(told.strip().rpartition("\n")[2])
        for number, (space, (near, far)) in enumerate(zip(self.spaces, self._devices, strict=True), 1):
            self._plug(self.hub, near, HUB, f"10.77.1.{number}")
            self._plug(space, far, f"10.77.1.{number}", HUB)

    def _plug(self, space: str, device: str, here: str, there: str) -> None:
        ip("link", "set", device, "netns", space)
        ip("-n", space, "addr", "add", here, "peer", there, "dev", device)
        ip("-n", space, "link", "set", device, "up")


def ip(*words: str) -> str:
    """Run `ip` and return what it printed; CalledProcessError says what it did not like."""
    program = which("ip") or "ip"
    return subprocess.run([program, *words], check=True, capture_output=True, text=True, timeout=LIMIT_S).stdout


def inside(space: str, *command: str, clock_s: int = 0) -> list[str]:
    """Return the command that runs a program in a namespace. clock_s: by how much its monotonic clock is ahead there."""
    wrapped = ["unshare", "--time", "--monotonic", str(clock_s), "--fork", "--kill-child", *command] if clock_s else command
    return ["ip", "netns", "exec", space, *wrapped]


def remove(space: str) -> None:
    """Kill what still runs in a namespace, and delete it. Only our own descendants are killed."""
    with contextlib.suppress(OSError, subprocess.SubprocessError):
        ours = set(descendants(os.getpid()))
        for pid in {int(word) for word in ip("netns", "pids", space).split()} & ours:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, 9)
        ip("netns", "delete", space)


def end(process: subprocess.Popen[str]) -> None:
    """End the line."""
    process.kill()
    process.communicate()
