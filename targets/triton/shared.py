"""Requests and answers in POSIX shared memory, for a server on this host: tritonclient's `system_shared_memory`.

Each request has a region of its own for its tensors and for its answer's. It is removed when the answer has been read,
whatever happened, and its name says whose it is, so that what a killed run leaves is found by the next one.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import secrets
from concurrent.futures import Future
from typing import Any

import numpy as np

from batchproof.targets.protocol import Request, Response
from batchproof.targets.witness.probe import COLUMNS, INFO

_numbers = itertools.count(1)


class SharedMemory:
    """Regions for a server. channel: tritonclient's gRPC client. api: its module."""

    def __init__(self, api: Any, channel: Any) -> None:
        import tritonclient.utils.shared_memory as regions

        self._api, self._channel, self._regions = api, channel, regions
        self._prefix = f"batchproof_{os.getpid()}_{secrets.token_hex(4)}_"
        self._registered: list[str] = []

    def infer(self, name: str, request: Request, settle: Any, refused: Any, **asked: Any) -> Any:
        """Send a request whose tensors are in shared memory; return tritonclient's call.

        settle: the Future that gets the answer. refused: turns an error of tritonclient into one of ours.
        """
        rows, tensor = request.payload.rows, request.tensor()
        sizes = {"IN": tensor.nbytes, "OUT": tensor.nbytes, "INFO": 8 * rows * len(INFO)}
        starts = dict(zip(sizes, itertools.accumulate(sizes.values(), initial=0), strict=False))
        region = f"{self._prefix}{next(_numbers)}"
        handle = self._regions.create_shared_memory_region(region, f"/{region}", sum(sizes.values()))
        try:
            self._regions.set_shared_memory_region(handle, [tensor])
            self._channel.register_system_shared_memory(region, f"/{region}", sum(sizes.values()))
            self._registered.append(region)
            given = self._api.InferInput("IN", list(tensor.shape), "INT64")
            given.set_shared_memory(region, sizes["IN"])
            outputs = []
            for output in ("OUT", "INFO"):
                outputs.append(self._api.InferRequestedOutput(output))
                outputs[-1].set_shared_memory(region, sizes[output], offset=starts[output])

            def done(result: Any, error: Any) -> None:
                del result
                self._read(settle, refused, error, handle, starts, rows)

            return self._channel.async_infer(name, [given], done, outputs=outputs, **asked)
        except BaseException:
            self._remove(handle)
            raise

    def close(self) -> None:
        """Let the server forget every region."""
        while self._registered:
            with contextlib.suppress(Exception):
                self._channel.unregister_system_shared_memory(self._registered.pop())

    def _read(
        self, future: Future[Response], refused: Any, error: Any, handle: Any, starts: dict[str, int], rows: int
    ) -> None:
        try:
            if error is not None:
                future.set_exception(refused(error))
                return
            read = self._regions.get_contents_as_numpy
            echo = read(handle, np.int64, [rows, len(COLUMNS)], offset=starts["OUT"]).copy()
            info = read(handle, np.int64, [rows, len(INFO)], offset=starts["INFO"]).copy()
            future.set_result(Response(echo, info))
        except Exception as unreadable:
            future.set_exception(refused(unreadable))
        finally:
            self._remove(handle)

    def _remove(self, handle: Any) -> None:
        """Remove a region here. The server keeps its own view until `close`."""
        with contextlib.suppress(Exception):
            self._regions.destroy_shared_memory_region(handle)
