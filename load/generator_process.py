"""The other end of `out_of_process`, which starts it: `-m batchproof.load.generator_process DESCRIPTOR PARENT_PID`.

It ends with its parent, however the parent ends.
"""

from __future__ import annotations

import contextlib
import io
import itertools
import json
import signal
import socket
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import Future
from typing import Any

import numpy as np

from batchproof.host.clock import HostClock
from batchproof.host.guard import end_with
from batchproof.load.closed_loop import Submit
from batchproof.load.out_of_process import FRAME, Frames, send_blob
from batchproof.load.runs import Run, closed_loop, open_loop
from batchproof.load.samples import OUTCOMES
from batchproof.load.schedule import Schedule
from batchproof.targets.protocol import Kind, Refused, Request
from batchproof.targets.witness.probe import Payload

HELD = 64 * FRAME.size


def main() -> None:
    """Read the order, run it, send back what was measured."""
    descriptor, parent = int(sys.argv[1]), int(sys.argv[2])
    end_with(parent, signal.SIGKILL)
    with socket.socket(fileno=descriptor) as channel:
        frames = Frames(channel)
        order = json.loads(frames.blob(next(frames)[1]))
        due_ns = np.frombuffer(frames.blob(next(frames)[1]), np.int64)
        with _sending(channel, frames, order.pop("against", None)) as submit:
            run = _ordered(submit, due_ns, **order)
        samples = io.BytesIO()
        run.samples.save(samples, compress=False)
        facts = {name: getattr(run, name) for name in ("kind", "asked", "duration_ns", "host")}
        send_blob(channel, json.dumps(facts | {"reasons": run.validity.reasons}).encode())
        send_blob(channel, samples.getvalue())


def _ordered(submit: Submit, due_ns: Any, kind: str, **order: Any) -> Run:
    if kind == "open":
        schedule = Schedule(due_ns, order.pop("spec"), order.pop("length_ns"))
        return open_loop(submit, HostClock(), schedule, **order)
    return closed_loop(submit, HostClock(), order.pop("clients"), **order)


@contextlib.contextmanager
def _sending(channel: socket.socket, frames: Frames, against: dict[str, Any] | None) -> Iterator[Submit]:
    """Yield what sends a request: to the parent, or to a target of this process."""
    if against is None:
        yield _ToParent(channel, frames)
        return
    from batchproof.reference_batcher.config import BatcherConfig
    from batchproof.targets import resolve
    from batchproof.targets.lifecycle import finish

    target = resolve(against["target"])
    try:
        deployment = target.deploy(BatcherConfig.from_facts(against["config"]))
        serials, payload = itertools.count(1), Payload(**against["payload"])
        try:
            yield lambda _number: deployment.submit(Request("load", next(serials), payload))
        finally:
            finish(deployment)
    finally:
        target.close()


class _ToParent:
    """Sends frames to the parent, several in one piece if several are due, and settles Futures as answers arrive."""

    def __init__(self, channel: socket.socket, frames: Frames) -> None:
        self._channel, self._frames = channel, frames
        self._waiting: dict[int, Future[Any]] = {}
        self._lock, self._held = threading.Lock(), bytearray()
        threading.Thread(target=self._listen, name="batchproof-answers", daemon=True).start()

    def __call__(self, number: int) -> Future[Any]:
        """Send a request, or keep it until `flush`."""
        future: Future[Any] = Future()
        self._waiting[number] = future  # before it is sent: the answer may be here first
        with self._lock:
            self._held += FRAME.pack(number, 0)
            full = len(self._held) >= HELD
        if full:
            self.flush()
        return future

    def flush(self) -> None:
        """Send the requests that were kept."""
        with self._lock:
            if self._held:
                self._channel.sendall(self._held)
                self._held.clear()

    def _listen(self) -> None:
        with contextlib.suppress(OSError):  # the parent has gone, and this process goes with it
            for number, outcome in self._frames:
                _settle(self._waiting.pop(number), outcome)


def _settle(future: Future[Any], outcome: int) -> None:
    if outcome == 0:
        future.set_result(None)
    else:
        future.set_exception(Refused(Kind(OUTCOMES[outcome]), OUTCOMES[outcome]))


if __name__ == "__main__":
    main()
