"""How another process reaches a deployment: three words that travel as JSON, and a connection made of them.

A deployment whose requests go over the network has a `route`. A generator on another machine needs no more than that: it
connects, and sends requests of the witness.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import Future
from dataclasses import asdict, dataclass
from functools import partial
from ipaddress import ip_address
from typing import Any, Protocol
from urllib.parse import urlsplit

from batchproof.targets.kit.http import HttpClient
from batchproof.targets.kit.readiness import listens
from batchproof.targets.kit.v2 import V2Grpc, V2Http
from batchproof.targets.protocol import Request, Response, TargetError


class Client(Protocol):
    """What all clients of the wires have in common."""

    @property
    def infer(self) -> Callable[[str, Request], Future[Response]]:
        """Sends to a model of this name, or to this path below the address; returns at once."""
        ...

    def close(self) -> None:
        """Disconnect."""
        ...


def _triton_grpc(address: str) -> Client:
    from batchproof.targets.triton.wire import GrpcWire

    wire = GrpcWire(address, "")
    wire.keep()
    return wire


def _triton_http(address: str) -> Client:
    from batchproof.targets.triton.wire import HttpWire

    return HttpWire(address, "")


WIRES: Mapping[str, Callable[[str], Client]] = {
    "triton-grpc": _triton_grpc,
    "triton-http": _triton_http,
    "v2-grpc": V2Grpc,
    "v2-http": V2Http,
    "http": HttpClient,
}


@dataclass(frozen=True)
class Route:
    """The way to one deployment. wire: a name in WIRES. address: host:port, or http://host:port. name: model or path."""

    wire: str
    address: str
    name: str

    def __post_init__(self) -> None:
        """ValueError if the wire is not known, or the address has no port."""
        if self.wire not in WIRES:
            raise ValueError(f"there is no wire '{self.wire}': choose from {', '.join(WIRES)}")
        if not all(self.place):
            raise ValueError(f"an address is host:port, not '{self.address}'")

    def facts(self) -> dict[str, str]:
        """Return JSON data."""
        return asdict(self)

    @property
    def place(self) -> tuple[str, int]:
        """Host and port."""
        parts = urlsplit(self.address if "://" in self.address else f"//{self.address}")
        return parts.hostname or "", parts.port or 0

    @property
    def local(self) -> bool:
        """Whether only this machine reaches it."""
        host, _ = self.place
        try:
            return ip_address(host).is_loopback
        except ValueError:
            return host == "localhost"

    def connect(self) -> Client:
        """Return a client that is connected; TargetError if nothing listens there."""
        host, port = self.place
        if not listens(port, host):
            raise TargetError(f"nothing listens at {host}:{port}")
        return WIRES[self.wire](self.address)


def route_of(submit: Any) -> Route | None:
    """Return the route of a `submit` that is the `infer` of one of the kit's clients with its name filled in, else None."""
    if not isinstance(submit, partial) or submit.keywords or len(submit.args) != 1:
        return None
    client, name = getattr(submit.func, "__self__", None), str(submit.args[0])
    match client:
        case V2Grpc():
            return Route("v2-grpc", client.address, name)
        case V2Http():
            return Route("v2-http", client.http.base, name)
        case HttpClient():
            return Route("http", client.base, name)
    return None
