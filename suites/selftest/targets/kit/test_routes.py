"""How another process reaches a deployment: said in JSON, and found from what an adapter has."""

from __future__ import annotations

import json
import socket
from functools import partial

import pytest

from batchproof.reference_batcher import BatcherConfig
from batchproof.targets.kit import HttpClient, V2Grpc, V2Http
from batchproof.targets.kit.routes import Route, route_of
from batchproof.targets.protocol import Request, TargetError
from batchproof.targets.verbs import full_deployment
from batchproof.targets.virtual import VirtualTarget
from batchproof.targets.witness.probe import Payload


@pytest.mark.parametrize(
    ("submit", "route"),
    [
        (partial(HttpClient("http://127.0.0.1:8000").infer, "/predict"), ("http", "http://127.0.0.1:8000", "/predict")),
        (partial(V2Grpc("127.0.0.1:8001").infer, "witness"), ("v2-grpc", "127.0.0.1:8001", "witness")),
        (partial(V2Http("http://10.0.0.1:8000").infer, "witness"), ("v2-http", "http://10.0.0.1:8000", "witness")),
    ],
    ids=["http", "v2-grpc", "v2-http"],
)
def test_the_clients_of_the_kit_say_where_they_go(submit: partial[object], route: tuple[str, str, str]) -> None:
    """An adapter whose `submit` is a client's `infer` with its name filled in has a route without a line of its own."""
    found = route_of(submit)

    assert found == Route(*route)
    assert Route(**json.loads(json.dumps(found.facts()))) == found


@pytest.mark.parametrize(
    "submit",
    [lambda request: request, partial(HttpClient("http://127.0.0.1:8000").infer, "/p", body=lambda rows: {"rows": rows})],
    ids=["a function", "a body of its own"],
)
def test_what_a_route_cannot_say_has_none(submit: object) -> None:
    """A body of its own, or a function, is code, and code does not travel."""
    assert route_of(submit) is None


def test_a_target_that_is_not_reached_over_the_network_has_none() -> None:
    """`FullDeployment.route` is None then."""
    assert full_deployment(VirtualTarget().deploy(BatcherConfig())).route is None


@pytest.mark.parametrize(
    ("address", "local"),
    [("127.0.0.1:1", True), ("http://localhost:1", True), ("[::1]:1", True), ("10.0.0.1:1", False), ("gpu-7:1", False)],
)
def test_loopback_is_known(address: str, local: bool) -> None:
    """It leads to another server from every other machine."""
    assert Route("http", address, "/").local is local


@pytest.mark.parametrize(
    ("wire", "address", "message"),
    [("telegraph", "h:1", "there is no wire 'telegraph': choose from"), ("http", "host", "an address is host:port")],
)
def test_a_route_that_leads_nowhere(wire: str, address: str, message: str) -> None:
    """What comes from another process may be anything."""
    with pytest.raises(ValueError, match=message):
        Route(wire, address, "/")


def test_nothing_listens() -> None:
    """One message."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
        with pytest.raises(TargetError, match=f"nothing listens at 127.0.0.1:{port}"):
            Route("http", f"http://127.0.0.1:{port}", "/").connect()


def test_a_route_connects() -> None:
    """The client at its end sends requests of the witness."""
    from batchproof.suites.selftest.load.spread.http_witness import http_witness

    with http_witness() as (address, seen):
        client = Route("http", address, "/infer").connect()
        response = client.infer("/infer", Request("r1", 17, Payload())).result(timeout=30)
        client.close()
    assert (seen, response.echo[0, 0]) == ([17], 17)
