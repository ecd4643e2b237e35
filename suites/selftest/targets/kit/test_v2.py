"""The V2 clients against servers on threads: tensors, errors, readiness and cancellation."""

from __future__ import annotations

import json
import threading
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

import grpc
import numpy as np
import pytest
from tritonclient.grpc import service_pb2, service_pb2_grpc

from batchproof.targets.kit import V2Grpc, V2Http, cancel, free_port
from batchproof.targets.protocol import Kind, Refused, Request
from batchproof.targets.witness import Payload

if TYPE_CHECKING:
    from collections.abc import Iterator

STATUS = {"/v2/models/full/infer": 429, "/v2/models/wrong/infer": 400}


class Service(service_pb2_grpc.GRPCInferenceServiceServicer):
    """`echo` answers with what it got and zeros; `wait` when its client has gone away; other models are names of errors."""

    def __init__(self) -> None:
        self.arrived, self.gone = threading.Event(), threading.Event()

    def ServerReady(self, request: Any, context: Any) -> Any:  # noqa: N802
        """Say yes."""
        return service_pb2.ServerReadyResponse(ready=True)

    def ModelReady(self, request: Any, context: Any) -> Any:  # noqa: N802
        """Say yes for `echo`."""
        return service_pb2.ModelReadyResponse(ready=request.name == "echo")

    def ModelInfer(self, request: Any, context: Any) -> Any:  # noqa: N802
        """Answer as the model's name asks."""
        if request.model_name == "wait":
            context.add_callback(self.gone.set)
            self.arrived.set()
            self.gone.wait(30)
        elif request.model_name != "echo":
            context.abort(grpc.StatusCode[request.model_name], "what went wrong")
        rows, columns = request.inputs[0].shape
        answer = service_pb2.ModelInferResponse(model_name="echo")
        for name, width, raw in (("OUT", columns, request.raw_input_contents[0]), ("INFO", 10, bytes(8 * 10 * rows))):
            answer.outputs.add(name=name, datatype="INT64", shape=[rows, width])
            answer.raw_output_contents.append(raw)
        return answer


class Handler(BaseHTTPRequestHandler):
    """The same over HTTP, as far as `HttpClient` does not know it already."""

    def do_GET(self) -> None:
        """Be ready, with the model `echo`."""
        self.send_response(200 if self.path in ("/v2/health/ready", "/v2/models/echo/ready") else 404)
        self.end_headers()

    def do_POST(self) -> None:
        """Answer as the model's name asks."""
        (given,) = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["inputs"]
        info = {"name": "INFO", "shape": [given["shape"][0], 10], "datatype": "INT64", "data": [0] * 10 * given["shape"][0]}
        self.send_response(STATUS.get(self.path, 200))
        self.end_headers()
        self.wfile.write(json.dumps({"outputs": [info, {**given, "name": "OUT"}]}).encode())

    def log_message(self, *_: object) -> None:
        """Print nothing."""


@pytest.fixture
def service() -> Service:
    return Service()


@pytest.fixture
def over_grpc(service: Service) -> Iterator[V2Grpc]:
    port = free_port()
    server = grpc.server(ThreadPoolExecutor(4))
    service_pb2_grpc.add_GRPCInferenceServiceServicer_to_server(service, server)
    server.add_insecure_port(f"127.0.0.1:{port}")
    server.start()
    client = V2Grpc(f"127.0.0.1:{port}", {"DATA_LOSS": Kind.FAILED})
    yield client
    client.close()
    server.stop(0).wait()


@pytest.fixture
def over_http() -> Iterator[V2Http]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        client = V2Http(f"http://127.0.0.1:{server.server_port}")
        yield client
        client.close()
        server.shutdown()
        thread.join()


@pytest.mark.parametrize("wire", ["over_grpc", "over_http"])
def test_a_request_travels_as_int64(wire: str, request: pytest.FixtureRequest) -> None:
    """Every number of every row comes back as it was."""
    asked = Request("r0", (1 << 60) + 1, Payload(rows=3))

    answer = request.getfixturevalue(wire).infer("echo", asked).result(30)

    assert np.array_equal(answer.echo, asked.tensor())
    assert answer.info.shape == (3, 10)


@pytest.mark.parametrize("wire", ["over_grpc", "over_http"])
def test_readiness(wire: str, request: pytest.FixtureRequest) -> None:
    """Of the server and of a model; a server that is away is not ready."""
    client = request.getfixturevalue(wire)

    assert (client.ready(), client.ready("echo"), client.ready("other")) == (True, True, False)


def test_a_server_that_is_away_is_not_ready() -> None:
    """Both clients say so without an error."""
    over_grpc, over_http = V2Grpc(f"127.0.0.1:{free_port()}"), V2Http(f"http://127.0.0.1:{free_port()}")

    assert (over_grpc.ready(), over_http.ready()) == (False, False)
    with pytest.raises(Refused) as refused:
        over_grpc.infer("echo", Request("r0", 1)).result(30)
    assert refused.value.kind is Kind.LOST
    over_grpc.close()


@pytest.mark.parametrize(
    ("model", "kind"),
    [
        ("INVALID_ARGUMENT", Kind.INVALID),
        ("RESOURCE_EXHAUSTED", Kind.FULL),
        ("DEADLINE_EXCEEDED", Kind.EXPIRED),
        ("INTERNAL", Kind.FAILED),
        ("UNAVAILABLE", Kind.CLOSED),
        ("DATA_LOSS", Kind.FAILED),
        ("ABORTED", Kind.OTHER),
    ],
)
def test_errors_of_grpc_have_a_kind(over_grpc: V2Grpc, model: str, kind: Kind) -> None:
    """By their status, or by what this server means by it."""
    with pytest.raises(Refused) as refused:
        over_grpc.infer(model, Request("r0", 1)).result(30)

    assert (refused.value.kind, refused.value.status) == (kind, model)


@pytest.mark.parametrize(("model", "kind"), [("full", Kind.FULL), ("wrong", Kind.INVALID)])
def test_errors_of_http_have_a_kind(over_http: V2Http, model: str, kind: Kind) -> None:
    """By their status."""
    with pytest.raises(Refused) as refused:
        over_http.infer(model, Request("r0", 1)).result(30)

    assert refused.value.kind is kind


def test_cancelling_cancels_the_call(over_grpc: V2Grpc, service: Service) -> None:
    """The server is told, and the request is refused as cancelled."""
    future = over_grpc.infer("wait", Request("r0", 1))
    assert service.arrived.wait(30)

    cancel(future)

    with pytest.raises(Refused) as refused:
        future.result(30)
    assert refused.value.kind is Kind.CANCELLED
    assert service.gone.wait(30)
