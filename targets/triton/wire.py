"""How bytes reach a Triton: tritonclient over gRPC or HTTP. One protocol, two wires."""

from __future__ import annotations

import contextlib
import json
import re
import threading
from abc import ABC, abstractmethod
from collections.abc import Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cache
from types import MappingProxyType
from typing import Any

import numpy as np

from batchproof.targets.deadlines import TooLate, more_time, timeout_s
from batchproof.targets.kit.bounded import Allowance
from batchproof.targets.kit.routes import Route
from batchproof.targets.protocol import Kind, Refused, Request, Response, TargetError, Unsupported
from batchproof.targets.triton.metrics import Metrics
from batchproof.targets.triton.shared import SharedMemory
from batchproof.targets.witness_model import correlation_id

ASKED_S = 1.0  # until a call whose answer is not awaited has reached the server
CLIENTS = 512  # requests under way at once over HTTP: each needs a thread
KINDS = (
    (r"cancelled|CANCELLED", Kind.CANCELLED),
    (r"timeout expired|timeout of the corresponding sequence", Kind.EXPIRED),
    (r"Exceeds maximum queue size", Kind.FULL),
    (r"not ready|no available versions|is not available|stopped accepting|unknown model|unloading", Kind.CLOSED),
    (r"Failed to process the request", Kind.FAILED),
    (r"batch-size must be <=|unexpected shape|INVALID_ARGUMENT|inputs? but got|missing required input", Kind.INVALID),
    (r"must specify|unexpected number of string elements", Kind.INVALID),  # over HTTP and streams, there is no status
    (r"failed to connect|Connection (reset|refused)|Socket closed|connection attempts failed|EOF|Broken pipe", Kind.LOST),
)
LATE = r"deadline exceeded|timed out|was not complete after"
STATUSES = {"400": "INVALID_ARGUMENT", "404": "NOT_FOUND", "500": "INTERNAL", "501": "UNIMPLEMENTED", "503": "UNAVAILABLE"}


def refusal(error: BaseException) -> Refused:
    """Classify one of tritonclient's errors by Triton's message (those of 2.51.0; see docs/adapters.md)."""
    status = str(getattr(error, "status", lambda: "")() or "")
    text = f"{status} {getattr(error, 'message', lambda: error)()}".strip()
    other = Kind.INVALID if status == "400" else Kind.OTHER
    kind = next((kind for pattern, kind in KINDS if re.search(pattern, text)), other)
    return Refused(kind, text, STATUSES.get(status, status.removeprefix("StatusCode.")))


def proto_json(proto: Any) -> str:
    """Return a model configuration in the form that the load API takes."""
    from google.protobuf import json_format

    return str(json_format.MessageToJson(proto, preserving_proto_field_name=True))


class Wire(ABC):
    """A connection to a Triton: what gRPC and HTTP have in common, given a tritonclient module and client."""

    claims: Mapping[str, bool] = {}
    _api: Any
    _url: str
    _metrics: Metrics

    def version(self) -> str:
        """Return the server's version; TargetError if no Triton answers at the address."""
        try:
            metadata = self._client("CONNECT_S").get_server_metadata(**self._timeout("CONNECT_S"))
            return str(metadata["version"] if isinstance(metadata, dict) else metadata.version)
        except Exception as error:
            kind = "gRPC" if self._url.startswith("grpc") else "HTTP"
            how = f"is a Triton running there, and is this its {kind} port?"
            raise TargetError(f"no Triton answers at {self._url}: {_first_line(error)}: {how}") from None

    def route(self, name: str) -> Route:
        """Return how another process reaches a model of this server."""
        scheme, _, address = self._url.partition("://")
        return Route(f"triton-{scheme}", address, name)

    @abstractmethod
    def keep(self) -> None:
        """Prepare for many requests."""

    def live(self) -> bool:
        """Return whether the server answers."""
        with contextlib.suppress(Exception):
            return bool(self._client("CONNECT_S").is_server_live(**self._timeout("CONNECT_S")))
        return False

    def ready(self, name: str, version: str = "") -> bool:
        """Return whether the server serves this model, or this version of it."""
        with contextlib.suppress(Exception):
            return bool(self._client("CONNECT_S").is_model_ready(name, version, **self._timeout("CONNECT_S")))
        return False

    def load(self, name: str, proto: Any = None, files: Mapping[str, bytes] = MappingProxyType({})) -> None:
        """Load from the server's repository, or with this configuration and these files, by their paths in its folder.

        TargetError says what to change on the server, TooLate that it is still loading after the time allowed.
        """
        overrides = {f"file:{path}": content for path, content in files.items()}
        config = {"config": proto_json(proto), "files": overrides} if proto is not None else {}
        try:
            self._client("LOAD_S").load_model(name, **config, **self._timeout("LOAD_S"))
        except Exception as error:
            text = _first_line(error)
            if re.search(LATE, text, re.IGNORECASE):
                self._give_up(name)
                limit = timeout_s("LOAD_S")
                raise TooLate(
                    f"{self._url} has not loaded the model '{name}' in {limit:g} s: {more_time('LOAD_S')}"
                ) from None
            how = ": start the server with --model-control-mode=explicit" if "explicit" in text else ""
            raise TargetError(f"{self._url} refuses to load the witness ({text}){how}") from None

    def unload(self, name: str) -> None:
        """Unload the model, if it is loaded."""
        with contextlib.suppress(TargetError):
            self.remove(name)

    def remove(self, name: str) -> None:
        """Unload the model; TargetError says why the server does not."""
        try:
            self._client("CALL_S").unload_model(name, **self._timeout("CALL_S"))
        except Exception as error:
            raise TargetError(f"{self._url} does not unload '{name}': {_first_line(error)}") from None

    @abstractmethod
    def index(self) -> list[dict[str, Any]]:
        """Return what the repository lists: `name`, `version`, `state` and `reason` of each version, as JSON has them."""

    def _give_up(self, name: str) -> None:
        """Ask the server to unload it. The server does so once it has loaded it, which takes too long to wait for."""
        asking = threading.Thread(target=self.unload, args=(name,), name="batchproof-unload", daemon=True)
        asking.start()
        asking.join(ASKED_S)

    def ask(self, name: str, ask: dict[str, Any]) -> dict[str, Any]:
        """Send one JSON document to the control model and return its answer."""
        tensor = self._api.InferInput("ASK", [1], "BYTES")
        tensor.set_data_from_numpy(np.array([json.dumps(ask).encode()], dtype=np.object_))
        try:
            result = self._client("CALL_S").infer(name, [tensor], **self._timeout("CALL_S"))
        except Exception as error:
            raise TargetError(f"the witness at {self._url} does not answer: {_first_line(error)}") from None
        try:
            answer: dict[str, Any] = json.loads(result.as_numpy("ANSWER")[0])
        except (TypeError, ValueError, IndexError):
            raise TargetError(
                f"the witness at {self._url} answers, but not with JSON: the server's Python probably has "
                "numpy 2, with which the Python backend of this version returns empty tensors"
            ) from None
        return answer

    def pending(self, name: str) -> int:
        """Return how many requests the server has accepted and not begun to execute."""
        return self._metrics.pending(name)

    @abstractmethod
    def _client(self, limit: str) -> Any: ...

    @abstractmethod
    def _timeout(self, limit: str) -> dict[str, Any]: ...

    @abstractmethod
    def config(self, name: str) -> dict[str, Any]:
        """Return the model's configuration as the server has it."""

    @abstractmethod
    def infer(self, name: str, request: Request, version: str = "", *, text_ids: bool = False) -> Future[Response]:
        """Send to this version, or to the server's choice; returns at once. text_ids: correlation IDs are strings."""

    @abstractmethod
    def close(self) -> None:
        """Disconnect."""

    def shared_memory(self) -> SharedMemory:
        """Return a way to send requests in shared memory; Unsupported if this wire has none."""
        raise Unsupported("shared_memory")

    def infer_shared(self, name: str, request: Request, memory: SharedMemory, version: str = "") -> Future[Response]:
        """Send with the tensors in shared memory; returns at once."""
        future = Called()
        asked = self._request(request, text_ids=False)[1]
        future.call = memory.infer(name, request, future, refusal, model_version=version, **asked)
        return future

    def cancel(self, future: Any) -> None:  # noqa: ARG002 - not every wire can
        """Tell the server that the answer is not wanted any more; Unsupported if the protocol cannot."""
        raise Unsupported("cancel")

    @abstractmethod
    def statistics(self, name: str, version: str = "") -> dict[str, Any]:
        """Return the model's statistics, as JSON has them."""

    def counted(self, name: str, version: str = "") -> dict[str, Any]:
        """Return what the server counted for this model, or for this version (see `Deployment.statistics`).

        `failures` are those of all versions together.
        """
        model = self.statistics(name, version)["model_stats"][0]
        inference = model.get("inference_stats", {})
        counts = {key: int(inference.get(key, {}).get("count", 0)) for key in ("success", "fail", "cache_hit")}
        batches = {int(one["batch_size"]): int(one["compute_infer"].get("count", 0)) for one in model.get("batch_stats", [])}
        return {
            "success": counts["success"],
            "fail": counts["fail"],
            "cache_hits": counts["cache_hit"],
            "inference_count": int(model.get("inference_count", 0)),
            "execution_count": int(model.get("execution_count", 0)),
            "batches": batches,
            **self._metrics.failures(name),
        }

    def _request(self, request: Request, *, text_ids: bool) -> tuple[list[Any], dict[str, Any]]:
        """Return the inputs, and the other arguments for tritonclient."""
        tensors = []
        for name, values in (("IN", request.tensor()), ("EXTRA", request.extra_tensor())):
            if values is not None:
                tensors.append(self._api.InferInput(name, list(values.shape), "INT64"))
                tensors[-1].set_data_from_numpy(values)
        payload = request.payload
        asked: dict[str, Any] = {"priority": payload.priority, "timeout": payload.timeout_ns // 1000}
        if payload.sequence:
            id_ = correlation_id(payload.sequence, "TYPE_STRING" if text_ids else "TYPE_UINT64")
            asked |= {"sequence_id": self._sent(id_), "sequence_start": payload.start, "sequence_end": payload.end}
        return tensors, {key: value for key, value in asked.items() if value}


    def _sent(self, id_: int | str) -> int | str:
        """Return a correlation ID as the client takes it."""
        return id_


class Called(Future[Response]):
    """A Future, together with the call that it belongs to."""

    call: Any = None


class GrpcWire(Wire):
    """tritonclient.grpc."""

    def __init__(self, url: str, metrics: str) -> None:
        import tritonclient.grpc as api

        self._api, self._url, self._metrics = api, f"grpc://{url}", Metrics(metrics)
        self._channel = api.InferenceServerClient(url)

    def keep(self) -> None:
        """Open a stream that carries nothing.

        In Python, a gRPC channel polls on a thread that ends with the last call under way, and starts a new one for the
        next call. A call that stays open keeps the thread.
        """
        self._channel.start_stream(_unheard)

    def _client(self, limit: str) -> Any:
        """Return the only client: over gRPC each call has its own timeout."""
        del limit
        return self._channel

    def config(self, name: str) -> dict[str, Any]:
        """Return the model's configuration as the server has it."""
        answer: dict[str, Any] = self._client("CALL_S").get_model_config(name, as_json=True, **self._timeout("CALL_S"))[
            "config"
        ]
        return answer

    def index(self) -> list[dict[str, Any]]:
        """Return what the repository lists."""
        answer = self._channel.get_model_repository_index(as_json=True, **self._timeout("CALL_S"))
        return list(answer.get("models", []))

    def infer(self, name: str, request: Request, version: str = "", *, text_ids: bool = False) -> Future[Response]:
        """Send; tritonclient calls back on a thread of its own."""
        future = Called()

        def settle(result: Any, error: Any) -> None:
            if error is not None:
                future.set_exception(refusal(error))
            else:
                future.set_result(Response(result.as_numpy("OUT"), result.as_numpy("INFO")))

        tensors, asked = self._request(request, text_ids=text_ids)
        future.call = self._channel.async_infer(name, tensors, settle, version, **asked)
        return future

    def shared_memory(self) -> SharedMemory:
        """Return a way to send requests in shared memory, to a server on this host."""
        return SharedMemory(self._api, self._channel)

    def _sent(self, id_: int | str) -> int | str:
        """Return a correlation ID as the client takes it: a number goes into 64 bits with a sign."""
        return id_ - (1 << 64) if isinstance(id_, int) and id_ >= 1 << 63 else id_

    def cancel(self, future: Any) -> None:
        """Cancel the call."""
        future.call.cancel()

    def statistics(self, name: str, version: str = "") -> dict[str, Any]:
        """Return the model's statistics, as JSON has them."""
        answer: dict[str, Any] = self._client("CALL_S").get_inference_statistics(
            name, version, as_json=True, **self._timeout("CALL_S")
        )
        return answer

    def close(self) -> None:
        """Disconnect, without waiting for a server that hangs."""
        self._metrics.close()
        self._channel.stop_stream(cancel_requests=True)
        self._channel.close()

    def _timeout(self, limit: str) -> dict[str, Any]:
        return {"client_timeout": timeout_s(limit)}


class HttpWire(Wire):
    """tritonclient.http, which blocks: one client for each thread, as a connection belongs to the thread that made it."""

    claims = {"cancel": False}  # noqa: RUF012 - a constant

    def __init__(self, url: str, metrics: str) -> None:
        try:
            import tritonclient.http as api
        except (ModuleNotFoundError, RuntimeError):  # its own words are those of its installer
            raise TargetError("http:// needs 'tritonclient[http]': pip install 'batchproof[triton]'") from None

        self._api, self._url, self._address, self._metrics = api, f"http://{url}", url, Metrics(metrics)
        self._local = threading.local()
        self._pool = ThreadPoolExecutor(CLIENTS, thread_name_prefix="batchproof-http")

    def keep(self) -> None:
        """Do nothing: each thread keeps its connections by itself."""

    def _client(self, limit: str) -> Any:
        """Return this thread's client for calls with this timeout."""
        clients = vars(self._local)
        if limit not in clients:
            client = self._api.InferenceServerClient(
                self._address, connection_timeout=timeout_s("CONNECT_S"), network_timeout=timeout_s(limit)
            )
            clients[limit] = bounded(client, timeout_s(limit))
        return clients[limit]

    def _timeout(self, limit: str) -> dict[str, Any]:
        """Return nothing: over HTTP the client has a timeout, and not the call."""
        del limit
        return {}

    def config(self, name: str) -> dict[str, Any]:
        """Return the model's configuration as the server has it."""
        answer: dict[str, Any] = self._client("CALL_S").get_model_config(name)
        return answer

    def index(self) -> list[dict[str, Any]]:
        """Return what the repository lists."""
        return list(self._client("CALL_S").get_model_repository_index())

    def infer(self, name: str, request: Request, version: str = "", *, text_ids: bool = False) -> Future[Response]:
        """Send on a thread of the pool."""

        def call() -> Response:
            tensors, asked = self._request(request, text_ids=text_ids)
            try:
                result = self._client("LOAD_S").infer(name, tensors, version, **asked)
            except Exception as error:
                raise refusal(error) from None
            return Response(result.as_numpy("OUT"), result.as_numpy("INFO"))

        return self._pool.submit(call)

    def statistics(self, name: str, version: str = "") -> dict[str, Any]:
        """Return the model's statistics, as JSON has them."""
        answer: dict[str, Any] = self._client("CALL_S").get_inference_statistics(name, version)
        return answer

    def close(self) -> None:
        """Disconnect; requests that hang are left to their timeout."""
        self._metrics.close()
        self._pool.shutdown(wait=False, cancel_futures=True)


def bounded(client: Any, seconds: float) -> Any:
    """Let each answer to a client of `tritonclient.http` be complete in time, and not too large; return the client.

    Its own timeout is that of each packet, so that a server that sends one byte a second would be listened to for ever.
    """
    client._client_stub._connection_pool._create_tcp_socket = _line(seconds)  # noqa: SLF001 - there is no other way to it
    return client


@cache
def _line(seconds: float) -> Any:
    """Return a class of sockets of which each answer has so much time."""
    from gevent.socket import socket

    class Line(socket):  # type: ignore[misc]
        """A connection: sending begins an exchange."""

        allowance = Allowance(seconds)

        def sendall(self, *data: Any) -> Any:
            self.settimeout(seconds)
            self.allowance = Allowance(seconds)
            return super().sendall(*data)

        def recv(self, *size: Any) -> Any:
            self.settimeout(self.allowance.left_s())
            try:
                data = super().recv(*size)
            except TimeoutError:
                raise self.allowance.late() from None
            self.allowance.take(len(data))
            return data

    return Line


def _unheard(**_: Any) -> None:
    """Ignore the stream: nothing is sent over it, and if it breaks, the calls themselves fail."""


def _first_line(error: BaseException) -> str:
    text = str(getattr(error, "message", lambda: error)() or error).strip()
    return text.splitlines()[0][:300] if text else type(error).__name__
