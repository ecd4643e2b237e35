"""A target that is asked to end, again and again, where the exception is lost.

`--target batchproof.suites.selftest.deaf_target:Deaf`
"""

from __future__ import annotations

import contextlib
import os
import signal
from typing import Any

from batchproof.targets.protocol import Deployment
from batchproof.targets.virtual import VirtualTarget


class Deaf(VirtualTarget):
    """The reference batcher in simulated time. Its first deployment gets SIGINT, like Ctrl-C during a finalizer."""

    asked = False

    def deploy(self, config: Any) -> Deployment:
        """Lose the KeyboardInterrupt, as a library's bare `except` does."""
        if not self.asked:
            self.asked = True
            with contextlib.suppress(KeyboardInterrupt):
                os.kill(os.getpid(), signal.SIGINT)
        return super().deploy(config)
