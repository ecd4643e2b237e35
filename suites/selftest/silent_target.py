"""A target that is silent, in real time: it never answers the last batch of anything.

`--target batchproof.suites.selftest.silent_target:NeverTheLast`
"""

from __future__ import annotations

import threading
from concurrent.futures import Future
from dataclasses import replace
from typing import Any

from batchproof.suites.selftest.liars import _Changed
from batchproof.targets.protocol import Request, Response
from batchproof.targets.reference import ReferenceTarget
from batchproof.targets.witness.probe import INFO

BATCH, INSTANCE = INFO.index("batch"), INFO.index("instance")


class _Keeping(_Changed):
    """It gives out the answers of a batch when the next batch of its instance has been executed."""

    def __init__(self, inner: Any) -> None:
        super().__init__(inner)
        self._kept: dict[tuple[int, int], list[tuple[Future[Response], Response]]] = {}
        self._lock = threading.Lock()

    def submit(self, request: Request) -> Future[Response]:
        """Pass the request on; a refusal comes back at once, and an answer is kept."""
        outer: Future[Response] = Future()

        def settle(done: Future[Response]) -> None:
            if error := done.exception():
                outer.set_exception(error)
                return
            response = done.result()
            assert response.info is not None
            mine = int(response.info[0, INSTANCE]), int(response.info[0, BATCH])
            with self._lock:
                self._kept.setdefault(mine, []).append((outer, response))
                older = [key for key in self._kept if key[0] == mine[0] and key[1] < mine[1]]
                due = [pair for key in older for pair in self._kept.pop(key)]
            for future, answer in due:
                future.set_result(answer)

        self._sent[outer] = self._inner.submit(request)
        self._sent[outer].add_done_callback(settle)
        return outer


class NeverTheLast:
    """The threaded reference batcher, which never answers its last batch."""

    def __init__(self) -> None:
        self._inner = ReferenceTarget()
        claims = {**self._inner.info.claims, "torch": False}
        self.info = replace(self._inner.info, name="NeverTheLast", reached=f"{__name__}:NeverTheLast", claims=claims)

    def deploy(self, config: Any) -> Any:
        """Serve the witness, and keep the answers of the last batch."""
        return _Keeping(self._inner.deploy(config))
