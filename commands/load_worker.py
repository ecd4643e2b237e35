"""`batchproof load-worker`: send a share of a load that a bench on another machine asks for."""

from __future__ import annotations

import json
import platform
import signal
import sys
from collections.abc import Callable
from importlib.util import find_spec

from batchproof.exit_status import ExitStatus, refuse
from batchproof.host.clock import HOST_CLOCK
from batchproof.host.interruption import listen_to_sigterm
from batchproof.load.spread.ask import host_and_port
from batchproof.load.spread.crew import NEEDED
from batchproof.targets.kit.processes import Guarded
from batchproof.targets.protocol import Misuse

PATIENCE_S = 600.0
STATUSES = {
    "fine": ExitStatus.FINE,
    "wrong": ExitStatus.MISUSE,
    "gone": ExitStatus.UNAVAILABLE,
    "stopped": ExitStatus.INTERRUPTED,
}


def load_worker(
    master: str,
    name: str = "",
    patience_s: float = PATIENCE_S,
    say: Callable[[str], None] = lambda text: print(text, flush=True),
) -> ExitStatus:
    """Serve one crew; return the exit status. name: what its master calls it; "": this machine's name."""
    try:
        host, port = host_and_port(master, "--master")
        if find_spec("locust") is None:
            raise Misuse(NEEDED)
    except Misuse as wrong:
        return refuse(wrong)
    name = name or platform.node()
    listen_to_sigterm()
    program = [sys.executable, "-m", "batchproof.load.spread.worker", host, str(port), name, str(patience_s)]
    worker = Guarded(program, name=f"worker '{name}'", grace_s=2, ends_by=signal.SIGTERM)
    say(f"worker '{name}' looks for the master at {host}:{port}; Ctrl-C ends it")
    try:
        HOST_CLOCK.wait(lambda: bool(worker.ended()), HOST_CLOCK.now_ns() + (1 << 62))
        return _told(worker)
    except KeyboardInterrupt:
        return refuse("interrupted", ExitStatus.INTERRUPTED)
    finally:
        worker.finish()


def _told(worker: Guarded) -> ExitStatus:
    """Return how it ended, by its last line; if it has none, by what it printed."""
    last = (worker.output().splitlines() or [""])[-1]
    try:
        told = json.loads(last)
        why, status = str(told["why"]), STATUSES[told["how"]]
    except (ValueError, KeyError, TypeError):
        return refuse(worker.ended(), ExitStatus.UNAVAILABLE)
    if status is ExitStatus.FINE:
        print(why)
        return status
    return refuse(why, status)
