"""What the host did during a run, and the settings that a run puts in force and then restores."""

from __future__ import annotations

import contextlib
import ctypes
import gc
import os
import resource
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from batchproof.host.stalls import stalls

PR_SET_TIMERSLACK = 29
PR_GET_TIMERSLACK = 30
SLACK_NS = 1  # a sleeping thread is woken on time; the default is 50 us late
SWITCH_S = 1e-4  # a thread that computes in Python lets the issuer run after 0.1 ms (the default is 5 ms); a switch itself
# takes up to that long on a virtual machine, so a shorter interval would spend the time on switching
PROC = Path("/proc")
_THREAD_SETTINGS = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")


def sharp_timer() -> int:
    """Let this thread's sleeps end on time, and return the slack that it has now in ns (0: unknown)."""
    with contextlib.suppress(OSError, AttributeError):
        prctl = ctypes.CDLL(None, use_errno=True).prctl
        prctl(PR_SET_TIMERSLACK, ctypes.c_ulong(SLACK_NS), 0, 0, 0)
        return int(prctl(PR_GET_TIMERSLACK, 0, 0, 0, 0))
    return 0


class _Quiet:
    """The settings in force while any run goes on. Two runs at once (two models under load) share them."""

    lock = threading.Lock()
    runs = 0
    before: tuple[bool, float] = (True, 0.0)


@contextlib.contextmanager
def undisturbed() -> Iterator[None]:
    """Collect no garbage during the run, and let threads take turns quickly; both are undone at the end."""
    with _Quiet.lock:
        _Quiet.runs += 1
        if _Quiet.runs == 1:
            _Quiet.before = gc.isenabled(), sys.getswitchinterval()
            gc.disable()
            sys.setswitchinterval(SWITCH_S)
    try:
        yield
    finally:
        with _Quiet.lock:
            _Quiet.runs -= 1
            if not _Quiet.runs:
                _restore(*_Quiet.before)


def _restore(collected: bool, interval_s: float) -> None:
    sys.setswitchinterval(interval_s)
    if collected:
        gc.enable()


class Watch:
    """Watches the host from `start` to `stop`; `facts` are JSON data.

    The processor time of others is the machine's minus this process's, so a target in its own process is one of the others.
    """

    def __init__(self) -> None:
        self._stalls = stalls()
        self._before: dict[str, float] = {}
        self.start_ns = self.lasted_ns = 0
        self.facts: dict[str, Any] = {}
        self.stalls_ns: tuple[int, ...] = ()

    def start(self) -> Watch:
        """Begin."""
        self._before, self.start_ns = _counters(), time.monotonic_ns()
        return self

    def stop(self) -> None:
        """End, and sum up."""
        end_ns, after = time.monotonic_ns(), _counters()
        # a stall that began long before the run is not counted beyond it
        late = [min(one.late_ns, one.at_ns - self.start_ns) for one in self._stalls.since(self.start_ns)]
        self.stalls_ns = tuple(late)
        seconds = max(1, end_ns - self.start_ns) / 1e9
        spent = {name: after[name] - self._before[name] for name in after if name in self._before}
        self.lasted_ns = end_ns - self.start_ns
        self.facts |= settings() | {
            "seconds": round(seconds, 3),
            "stalls": len(late),
            "stalled_ns": sum(late),
            "worst_stall_ns": max(late, default=0),
            "own_cores": round(spent["own_s"] / seconds, 3),
            "preempted": int(spent["preempted"]),
        }
        if "busy_s" in spent:
            self.facts["other_cores"] = round(max(0.0, spent["busy_s"] - spent["own_s"]) / seconds, 3)
            self.facts["stolen_cores"] = round(spent["steal_s"] / seconds, 3)
        if "pressure_us" in spent:
            self.facts["cpu_pressure"] = round(spent["pressure_us"] / 1e6 / seconds, 3)


@contextlib.contextmanager
def conditions(*, simulated: bool) -> Iterator[Watch]:
    """Apply the settings that a run on the host's clock needs, and watch the host. Simulated time needs neither."""
    watch = Watch()
    if simulated:
        yield watch
        return
    with undisturbed():
        watch.start()
        try:
            yield watch
        finally:
            watch.stop()


def settings() -> dict[str, Any]:
    """Return what affects timing and does not change during a run."""
    gil = getattr(sys, "_is_gil_enabled", lambda: True)()
    facts: dict[str, Any] = {
        "cores": cores(),
        "python": sys.version.split()[0],
        "gil": gil,
        "switch_interval_s": sys.getswitchinterval(),
    }
    return facts | {name: os.environ[name] for name in _THREAD_SETTINGS if name in os.environ}


def cores() -> int:
    """Return how many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _counters() -> dict[str, float]:
    """Return counters that only grow: seconds of processor time and of waiting for one."""
    usage = resource.getrusage(resource.RUSAGE_SELF)
    counters = {"own_s": usage.ru_utime + usage.ru_stime, "preempted": float(usage.ru_nivcsw)}
    with contextlib.suppress(OSError, ValueError, IndexError):
        ticks = [int(word) for word in (PROC / "stat").read_text().splitlines()[0].split()[1:9]]
        user, nice, system, _idle, _iowait, irq, softirq, steal = (one / os.sysconf("SC_CLK_TCK") for one in ticks)
        counters |= {"busy_s": user + nice + system + irq + softirq, "steal_s": steal}
    with contextlib.suppress(OSError, ValueError, IndexError):
        some = (PROC / "pressure" / "cpu").read_text().splitlines()[0]
        counters["pressure_us"] = float(some.rpartition("total=")[2])
    return counters
