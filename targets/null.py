"""Target `null`: answers at once and never batches. It shows the harness's own cost, and that rules can fail."""

from __future__ import annotations

import itertools
import time
from concurrent.futures import Future
from typing import Any

from batchproof import __version__
from batchproof.targets.protocol import Request, Response, TargetInfo
from batchproof.targets.witness.probe import Payload, Testimony, clock_id


class NullTarget:
    """Target and deployment in one object: it deploys itself."""

    def __init__(self) -> None:
        claims = {"rows": True, "delay": True, "queue_timeout": True, "instances": True}
        self.info = TargetInfo("null", __version__, "null", sight="witness", claims=claims)
        self._batches = itertools.count(1)
        self._lines: list[dict[str, Any]] = []
        self._clock = clock_id()

    def deploy(self, config: object) -> NullTarget:
        """Return itself, whatever the configuration is."""
        del config
        return self

    def submit(self, request: Request) -> Future[Response]:
        """Answer the request alone, before returning."""
        now_ns, rows = time.monotonic_ns(), request.payload.rows
        plain = Request(request.name, request.serial, Payload(rows)).tensor()  # everything else is ignored
        testimony = Testimony([plain], 0, next(self._batches), now_ns, self._clock)
        self._lines += [testimony.entered, testimony.left(now_ns)]
        future: Future[Response] = Future()
        future.set_result(Response(request.tensor(), *testimony.infos(now_ns, [plain])))
        return future

    def release(self, token: int) -> None:
        """Nothing is ever held."""

    def queued(self) -> int:
        """Nothing ever waits."""
        return 0

    def log(self) -> list[dict[str, Any]]:
        """Return the new lines of the log."""
        lines, self._lines = self._lines, []
        return lines

    def close(self) -> None:
        """Nothing to close."""
