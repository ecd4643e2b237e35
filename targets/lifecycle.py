"""The end of a deployment and of a target. If they hang or break while they are closed, the report must not be lost."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable

from batchproof.targets.verbs import FullDeployment, FullTarget

TARGET_S = 60.0  # a container or a cluster may take long to end, and must not be left behind
LIMIT_S = 10.0
SHORTER_S = 1.0  # once one has hung, the others are not waited for as long: a target has dozens of deployments
_waited_s: list[float] = []  # for each deployment that did not end


def finish(deployment: FullDeployment) -> None:
    """End a deployment."""
    limit_s = SHORTER_S if _waited_s else LIMIT_S
    if not _bounded(deployment.finish, limit_s, simulated=deployment.simulated):
        _waited_s.append(limit_s)


def unfinished() -> str:
    """Say how many deployments of this process did not end, and what that took; "" if all did."""
    if not _waited_s:
        return ""
    those = "A deployment was" if len(_waited_s) == 1 else f"{len(_waited_s)} deployments were"
    return f"{those} left behind: `finish` (or `close`) had not returned after {max(_waited_s):g} s ({sum(_waited_s):.0f} s in all)"


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
