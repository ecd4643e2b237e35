"""The end of a deployment and of a target. If they hang or break while they are closed, the report must not be lost."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable

from batchproof.targets.verbs import FullDeployment, FullTarget

TARGET_S = 60.0  # a container or a cluster may take long to end, and must not be left behind
LIMIT_S = 10.0
SHORTER_S = 1.0  # once one has hung, the others are not waited for as long: a target has dozens of deployments
_hung = threading.Event()


def finish(deployment: FullDeployment) -> None:
    """End a deployment."""
    if not _bounded(deployment.finish, SHORTER_S if _hung.is_set() else LIMIT_S, simulated=deployment.simulated):
        _hung.set()


def close(target: FullTarget) -> None:
    """End a target."""
    _bounded(target.close, TARGET_S, simulated=target.simulated)


def _bounded(end: Callable[[], None], limit_s: float, *, simulated: bool) -> bool:
    """Call it; return whether it has returned or raised in time."""
    def call() -> None:
        with contextlib.suppress(Exception):
            end()

    if simulated:
        call()
        return True
    thread = threading.Thread(target=call, name="batchproof-finish", daemon=True)
    thread.start()
    thread.join(limit_s)
    return not thread.is_alive()
