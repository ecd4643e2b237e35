"""The folder that the witnesses of one deployment share with its adapter."""

from __future__ import annotations

import threading
from tempfile import TemporaryDirectory
from typing import Any

from batchproof.host.scratch import scratch
from batchproof.targets.witness import probe
from batchproof.targets.witness.counting import Counted


class Folder:
    """Gives an adapter three verbs of its deployment: `log`, `release` and `queued`, whatever process the witnesses are in.

    `queued` is right if the stack's requests go through a `Counted` of this folder, in the same process or another.
    """

    def __init__(self) -> None:
        self._temporary = TemporaryDirectory(prefix=scratch(), ignore_cleanup_errors=True)
        self.path = self._temporary.name
        self._cursors: dict[str, int] = {}
        self._lock = threading.Lock()
        self.queued = Counted(self.path).queued

    def log(self) -> list[dict[str, Any]]:
        """Return the new lines of all the witnesses' logs, in which each line appears once."""
        with self._lock:
            lines, self._cursors = probe.read_log(self.path, self._cursors)
        return lines

    def release(self, token: int) -> None:
        """Open the gate `token` for batches that wait there now or come later; nothing happens once the folder is gone."""
        try:
            probe.release(self.path, token)
        except FileNotFoundError:
            return

    def remove(self) -> None:
        """Remove the folder with the logs."""
        self._temporary.cleanup()
