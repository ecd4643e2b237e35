"""The end of a deployment."""

from __future__ import annotations

import contextlib
import threading

from batchproof.targets.verbs import FullDeployment


def finish(deployment: FullDeployment) -> None:
    """End a deployment. If the target hangs or breaks while it is closed, the report must not be lost."""
    def finish() -> None:
        with contextlib.suppress(Exception):
            deployment.finish()

    if deployment.simulated:
        finish()
        return
    thread = threading.Thread(target=finish, name="batchproof-finish", daemon=True)
    thread.start()
    thread.join(timeout=10)
