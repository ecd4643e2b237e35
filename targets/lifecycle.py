"""The end of a deployment."""

from __future__ import annotations

import contextlib
import threading

from batchproof.targets.verbs import FullDeployment


def finish(deployment: FullDeployment) -> None:
    """End a deployment. A target that hangs or breaks while it is closed must not take the report with it."""
    def finish() -> None:
        with contextlib.suppress(Exception):
            deployment.finish()

    if deployment.simulated:
        finish()
        return
    thread = threading.Thread(target=finish, name="batchproof-finish", daemon=True)
    thread.start()
    thread.join(timeout=10)
