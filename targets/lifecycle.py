"""The end of a deployment and of a target. If they hang or break while they are closed, the report must not be lost."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Sequence

from batchproof.targets.verbs import FullDeployment, FullTarget

TARGET_S = 60.0  # a container or a cluster may take long to end, and must not be left behind
LIMIT_S = 10.0
SHORTER_S = 1.0  # once one has hung, the others are not waited for as long: a target has dozens of deployments
SLOW_S = 3.0  # a deployment that ends is not worth a word
_waited_s: list[float] = []  # for each deployment that did not end
_took_s: list[float] = []  # each that ended late: an adapter may give up by itself


def finish(deployment: FullDeployment) -> None:
    """End a deployment."""
    limit_s, began = SHORTER_S if _waited_s else LIMIT_S, time.monotonic()
    if not _bounded(deployment.finish, limit_s, simulated=deployment.simulated):
        _waited_s.append(limit_s)
    elif (took_s := time.monotonic() - began) >= SLOW_S:
        _took_s.append(took_s)


def unfinished() -> str:
    """Say how many deployments of this process did not end, or ended late, and what that took; "" if all did at once."""
    said = []
    if _waited_s:
        after = f"`finish` (or `close`) had not returned after {max(_waited_s):g} s"
        said.append(f"{_deployments(_waited_s)} did not end: {after}")
    if _took_s:
        said.append(f"{_deployments(_took_s)} took long to end: up to {max(_took_s):.1f} s each")
    return "; ".join(said)


def _deployments(those: Sequence[float]) -> str:
    return "1 deployment" if len(those) == 1 else f"{len(those)} deployments"


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
