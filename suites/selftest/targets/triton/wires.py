"""Other ways to reach an embedded Triton, for `--target`: streams, connections of their own, changing connections, HTTP.

`batchproof.suites.selftest.targets.triton.wires:streams` and so on. What a sequence batcher promises does not depend on how
its requests arrive.
"""

from __future__ import annotations

import contextlib
import itertools
import queue
import threading
from concurrent.futures import Future
from typing import TYPE_CHECKING, Any

from batchproof.targets.protocol import Response
from batchproof.targets.triton.embedded import EmbeddedServer
from batchproof.targets.triton.owned import OwnTriton
from batchproof.targets.triton.wire import GrpcWire, HttpWire, refusal

if TYPE_CHECKING:
    from collections.abc import Callable

    from batchproof.targets.protocol import Request
    from batchproof.targets.triton.wire import Wire


class StreamWire(GrpcWire):
    """Each sequence has a stream (`ModelStreamInfer`), which cannot cancel a single request.

    Triton answers the requests of a stream in their order, so on one stream a sequence would wait for all others.
    """

    claims = {"cancel": False}  # noqa: RUF012 - a constant

    def __init__(self, url: str, metrics: str) -> None:
        super().__init__(url, metrics)
        self._ids = itertools.count(1)
        self._streams: dict[tuple[str, Any], queue.SimpleQueue[Any]] = {}
        self._waiting: dict[str, Future[Response]] = {}

    def infer(self, name: str, request: Request, version: str = "", *, text_ids: bool = False) -> Future[Response]:
        """Put the request into its stream; the answer is found by the request's id."""
        from tritonclient.grpc._utils import _get_inference_request

        key = name, request.payload.sequence
        if key not in self._streams:
            self._streams[key] = queue.SimpleQueue()
            threading.Thread(target=self._listen, args=(self._streams[key],), name="batchproof-stream", daemon=True).start()
        id_, future = str(next(self._ids)), Future[Any]()
        self._waiting[id_] = future
        tensors, asked = self._request(request, text_ids=text_ids)
        blank = {"model_version": version, "outputs": None, "sequence_id": 0, "sequence_start": False, "sequence_end": False,
                 "priority": 0, "timeout": None, "parameters": None}  # fmt: skip
        self._streams[key].put(_get_inference_request(name, tensors, request_id=id_, **{**blank, **asked}))
        return future

    def close(self) -> None:
        """End the streams."""
        for stream in self._streams.values():
            stream.put(None)
        super().close()

    def _listen(self, stream: queue.SimpleQueue[Any]) -> None:
        from tritonclient.grpc import InferenceServerException, InferResult

        with contextlib.suppress(Exception):  # the end of the server, which its next call tells
            for answer in self._channel._client_stub.ModelStreamInfer(iter(stream.get, None)):
                future = self._waiting.pop(answer.infer_response.id)
                if answer.error_message:
                    future.set_exception(refusal(InferenceServerException(answer.error_message)))
                else:
                    result = InferResult(answer.infer_response)
                    future.set_result(Response(result.as_numpy("OUT"), result.as_numpy("INFO")))


class ConnectionsWire(GrpcWire):
    """Requests go over several connections. pick: the number of a request's connection."""

    def __init__(self, url: str, metrics: str, pick: Callable[[Request], int]) -> None:
        super().__init__(url, metrics)
        self._pick, self._own = pick, {}  # type: ignore[var-annotated]

    def infer(self, name: str, request: Request, version: str = "", *, text_ids: bool = False) -> Future[Response]:
        """Send over the request's connection."""
        number = self._pick(request)
        if number not in self._own:
            options = [("grpc.use_local_subchannel_pool", 1)]  # else all channels to one address share a connection
            self._own[number] = self._api.InferenceServerClient(self._url.removeprefix("grpc://"), channel_args=options)
        first, self._channel = self._channel, self._own[number]
        try:
            return super().infer(name, request, text_ids=text_ids, version=version)
        finally:
            self._channel = first

    def close(self) -> None:
        """Close every connection."""
        for channel in self._own.values():
            channel.close()
        super().close()


def _embedded(connect: Callable[[EmbeddedServer], Wire]) -> OwnTriton:
    return OwnTriton(EmbeddedServer, "triton", connect=connect)


def streams() -> OwnTriton:
    """Every request goes over one stream."""
    return _embedded(lambda server: StreamWire(server.grpc, server.metrics))


def each_its_own() -> OwnTriton:
    """Each sequence has a connection of its own."""
    return _embedded(lambda server: ConnectionsWire(server.grpc, server.metrics, _of_the_sequence))


def by_turns() -> OwnTriton:
    """The requests of a sequence take three connections by turns."""
    turns = itertools.count()
    return _embedded(lambda server: ConnectionsWire(server.grpc, server.metrics, lambda _: next(turns) % 3))


def http() -> OwnTriton:
    """Every request goes over HTTP."""
    return _embedded(lambda server: HttpWire(server.http, server.metrics))


def _of_the_sequence(request: Request) -> int:
    sequence = request.payload.sequence
    return sequence if isinstance(sequence, int) else hash(sequence)
