"""A Docker engine through its SDK: reaching it, its reasons for refusing, its images, and what earlier runs left in it."""

from __future__ import annotations

import contextlib
import gc
import http.client
import ipaddress
import os
import re
import traceback
import warnings
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from batchproof.host.announce import announce
from batchproof.targets.docker.labels import MARK, Host, abandoned
from batchproof.targets.docker.pull_progress import Layers
from batchproof.targets.protocol import TargetError

DEFAULT_HOST = "unix:///var/run/docker.sock"
CALL_S = 60
LOOPBACK = "127.0.0.1"
BUILT = "batchproof-triton"  # repository of the images that `batchproof image build` makes: no registry has them


@dataclass(frozen=True)
class Engine:
    """A connection to an engine.

    address: where the ports that it publishes are reached from here. bind: the address on which it publishes them.
    """

    client: Any
    host: str = DEFAULT_HOST

    @property
    def address(self) -> str:
        """Loopback, or the engine's host."""
        return reached_at(self.host)[0]

    @property
    def bind(self) -> str:
        """Loopback, or all of the engine's addresses."""
        return reached_at(self.host)[1]


def connect() -> Engine:
    """Return the engine that DOCKER_HOST names, or the local one; TargetError says what to do if neither answers."""
    host = os.environ.get("DOCKER_HOST") or DEFAULT_HOST
    try:
        import docker
    except ModuleNotFoundError as error:
        raise TargetError(
            f"the Docker SDK for Python is missing ('{error.name}'): pip install 'batchproof[docker]'"
        ) from None
    try:
        client = docker.from_env(timeout=CALL_S)
        client.ping()
    except Exception as error:
        _forget(error)
        raise TargetError(unreachable(host, error)) from None
    return Engine(client, host)


def unreachable(host: str, error: BaseException) -> str:
    """Return why no engine answers at this address, and what to do about it."""
    text = str(error)
    if "Permission denied" in text:
        return (
            f"no permission to talk to the Docker engine at {host}: add this user to its group (usually `docker`), or set "
            "DOCKER_HOST to the socket of an engine of your own"
        )
    if re.search(r"No such file|Connection refused|FileNotFoundError|ConnectionRefused", text):
        return (
            f"no Docker engine answers at {host}: start it (`systemctl start docker`, or `dockerd` as root), or set "
            "DOCKER_HOST to one that is running"
        )
    return f"no Docker engine answers at {host}: {_short(text)}"


def reached_at(host: str) -> tuple[str, str]:
    """Return the address of the engine's published ports as seen from here, and the one to publish them on.

    A local engine publishes on loopback alone. One on another host has to publish on all of its addresses.
    """
    parts = urlsplit(host if "://" in host else f"tcp://{host}")
    name = parts.hostname or ""
    if parts.scheme in ("unix", "npipe", "http+unix", "fd") or not name or name == "localhost":
        return LOOPBACK, LOOPBACK
    try:
        address = ipaddress.ip_address(name)
    except ValueError:
        return name, "0.0.0.0"  # noqa: S104 - of a host that is not this one
    if address.is_loopback:
        return LOOPBACK, LOOPBACK
    return (name, "0.0.0.0") if address.version == 4 else (f"[{name}]", "::")  # noqa: S104


def reason_of(error: BaseException) -> str:
    """Return the engine's reason for refusing, in one line."""
    return _short(str(getattr(error, "explanation", None) or error))


def is_absent(error: BaseException) -> bool:
    """Return whether the engine refused because it does not have this."""
    return getattr(error, "status_code", 0) == http.client.NOT_FOUND


def need_image(engine: Engine, image: str) -> Any:
    """Return the image, and pull it first if the engine does not have it; TargetError if that fails."""
    try:
        return engine.client.images.get(image)
    except Exception as error:
        if not is_absent(error):
            raise TargetError(f"cannot ask the engine at {engine.host} for the image {image}: {reason_of(error)}") from None
    if image.partition(":")[0] == BUILT:
        raise TargetError(f"the engine at {engine.host} has no image {image}: run `batchproof image build --tag {image}`")
    repository, tag = _parted(image)
    layers = Layers(image)
    try:
        for event in engine.client.api.pull(repository, tag=tag, stream=True, decode=True):
            layers.feed(event)
            announce(layers.what, layers.done, layers.total)
            if layers.error:
                raise TargetError(_not_pulled(image, layers.error))
        return engine.client.images.get(image)
    except TargetError:
        raise
    except Exception as error:
        raise TargetError(_not_pulled(image, reason_of(error))) from None


def sweep(engine: Engine, host: Host | None = None) -> list[str]:
    """Remove what killed runs have left behind: containers, then volumes, then networks. Return their names."""
    host = host or Host.here()
    gone: list[str] = []
    for kind in ("container", "volume", "network"):
        with contextlib.suppress(Exception):  # leftovers that cannot be listed or removed do not stop a run
            every = {"all": True, "ignore_removed": True} if kind == "container" else {}
            for one in getattr(engine.client, f"{kind}s").list(filters={"label": f"{MARK}=1"}, **every):
                written = one.labels if kind == "container" else one.attrs.get("Labels") or {}
                if abandoned(written, host) and _removed(one, kind):
                    gone.append(f"{kind} {one.name}")
    return gone


def _forget(error: BaseException | None) -> None:
    """Release the sockets that the SDK leaves open when it cannot connect, without a warning about each."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        while error is not None:
            traceback.clear_frames(error.__traceback__)
            error = error.__context__
        gc.collect()


def _removed(one: Any, kind: str) -> bool:
    with contextlib.suppress(Exception):  # another run has removed it already, or it is in use
        one.remove(**{"container": {"force": True, "v": True}, "volume": {"force": True}}.get(kind, {}))
        return True
    return False


def _not_pulled(image: str, why: str) -> str:
    return (
        f"cannot pull the image {image}: {_short(why)}. Load it into the engine (`docker pull`, `docker load`), name "
        "another with --image, or build one from the embedded server with `batchproof image build`"
    )


def _parted(image: str) -> tuple[str, str | None]:
    """Return repository and tag; a digest stays with the name."""
    name, _, tag = image.rpartition(":")
    if "@" in image or not name or "/" in tag:
        return image, None if "@" in image else "latest"
    return name, tag


def _short(text: str) -> str:
    return " ".join(text.split())[:400]
