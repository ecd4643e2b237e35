"""The open inference protocol (KServe V2) over gRPC and HTTP, with int64 tensors: what the witness takes and answers.

MLServer, KServe, Triton and others speak it. The model has the input `IN`, int64 [rows, columns], and the outputs `OUT` and
`INFO`, unless the adapter says otherwise.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from typing import Any

import numpy as np

from batchproof.targets.deadlines import timeout_s
from batchproof.targets.futures import relay
from batchproof.targets.kit.http import AT_ONCE, HttpClient
from batchproof.targets.protocol import Kind, Request, Response
from batchproof.targets.witness.probe import Ints

Kinds = Mapping[str, Kind]
OUTPUTS = ("OUT", "INFO")
KINDS: Kinds = {
    "CANCELLED": Kind.CANCELLED,
    "DEADLINE_EXCEEDED": Kind.EXPIRED,
    "INVALID_ARGUMENT": Kind.INVALID,
    "OUT_OF_RANGE": Kind.INVALID,
    "RESOURCE_EXHAUSTED": Kind.FULL,
    "NOT_FOUND": Kind.CLOSED,
    "UNAVAILABLE": Kind.CLOSED,
    "INTERNAL": Kind.FAILED,
    "UNKNOWN": Kind.FAILED,
}
BROKEN = re.compile("failed to connect|connection (reset|refused)|socket closed|attempts failed|broken pipe", re.IGNORECASE)


class V2Call(Future[Any]):
    """The answer to one call over gRPC. `cancel` works until it is settled, and cancels the call."""

    call: Any = None

    def cancel(self) -> bool:
        """Cancel the call."""
        cancelled = super().cancel()
        if cancelled and self.call is not None:
            self.call.cancel()
        return cancelled


class V2Grpc:
    """A client of one server over gRPC. It needs `tritonclient[grpc]`, which Batchproof brings.

    address: host:port. kinds: what the server means by a status, where that differs from `KINDS`.
    """

    def __init__(self, address: str, kinds: Kinds | None = None) -> None:
        import tritonclient.grpc as api

        self._api, self._client, self.address = api, api.InferenceServerClient(address), address
        self._kinds = {**KINDS, **(kinds or {})}

    def ready(self, model: str = "") -> bool:
        """Return whether the server, or this model, is ready; False if it does not answer."""
        limit = {"client_timeout": timeout_s("CONNECT_S")}
        with contextlib.suppress(Exception):
            client = self._client
            return bool(client.is_model_ready(model, **limit) if model else client.is_server_ready(**limit))
        return False

    def infer(
        self, model: str, request: Request, name: str = "IN", outputs: tuple[str, str] = OUTPUTS, **more: Any
    ) -> Future[Response]:
        """Send a request; return a Future of its Response, which `cancel` can take back.

        name: of the input. outputs: the names of echo and info. more: passed on to tritonclient's `async_infer`.
        """
        call = V2Call()

        def settle(result: Any, error: Any) -> None:
            with contextlib.suppress(Exception):  # it was cancelled meanwhile
                if error is not None:
                    call.set_exception(error)
                else:
                    call.set_result(result)

        values = request.tensor()
        tensor = self._api.InferInput(name, list(values.shape), "INT64")
        tensor.set_data_from_numpy(values)
        call.call = self._client.async_infer(model, [tensor], settle, **more)
        return relay(call, lambda result: Response(*map(result.as_numpy, outputs)), self.kind, grpc_status)

    def kind(self, error: BaseException) -> Kind:
        """Classify one of tritonclient's errors by its status, or LOST if the connection broke."""
        if BROKEN.search(str(error)):
            return Kind.LOST
        return self._kinds.get(grpc_status(error), Kind.OTHER)

    def close(self) -> None:
        """Disconnect."""
        self._client.close()


def grpc_status(error: BaseException) -> str:
    """Return the canonical name of the status in one of tritonclient's errors, or an empty string."""
    status: Callable[[], Any] = getattr(error, "status", str)
    return str(status() or "").removeprefix("StatusCode.")


class V2Http:
    """A client of one server over HTTP, with JSON tensors: `HttpClient` that speaks V2.

    base, at_once, kinds: as `HttpClient` has them.
    """

    def __init__(self, base: str, at_once: int = AT_ONCE, kinds: Mapping[int, Kind] | None = None) -> None:
        self.http = HttpClient(base, at_once, kinds)

    def ready(self, model: str = "") -> bool:
        """Return whether the server, or this model, is ready; False if it does not answer."""
        return self.http.ok(f"/v2/models/{model}/ready" if model else "/v2/health/ready")

    def infer(
        self, model: str, request: Request, name: str = "IN", outputs: tuple[str, str] = OUTPUTS, **more: Any
    ) -> Future[Response]:
        """Send a request; return a Future of its Response, which `cancel` can take back.

        name: of the input. outputs: the names of echo and info. more: other fields of the request, such as `parameters`.
        """

        def body(tensor: Ints) -> dict[str, Any]:
            flat = {"name": name, "shape": list(tensor.shape), "datatype": "INT64", "data": tensor.ravel()}
            return {"inputs": [flat], **more}

        def answer(value: Any) -> tuple[Ints, Ints]:
            found = {one["name"]: np.array(one["data"]).reshape(one["shape"]) for one in value["outputs"]}
            return found[outputs[0]], found[outputs[1]]

        return self.http.infer(f"/v2/models/{model}/infer", request, body, answer)

    def close(self) -> None:
        """Start no more threads."""
        self.http.close()
