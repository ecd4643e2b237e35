"""`Target.repository` on a Triton: models that are loaded, reloaded and unloaded while others serve."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from concurrent.futures import Future
from pathlib import Path
from typing import Any, Protocol

from batchproof.targets.protocol import Request, Response, TargetError, Unsupported
from batchproof.targets.repository import Live, Model
from batchproof.targets.triton.models import configuration, contents
from batchproof.targets.triton.shared import SharedMemory
from batchproof.targets.triton.wire import Wire
from batchproof.targets.witness.probe import read_log, release

CONTROL = "batchproof_control"
READY = "READY"


def folder_of(name: str) -> str:
    """Return the name of a witness's log folder."""
    return name.replace("_", "-")


class Loader(Protocol):
    """Where the files of a model go."""

    def load_files(self, proto: Any, content: Mapping[str, bytes]) -> None:
        """Load a model with this configuration and these files."""

    def remove_files(self, name: str) -> None:
        """Remove a model's files."""


class TritonRepository:
    """Models whose names begin with `batchproof_SCOPE_`, and which are gone when it is closed.

    local: the server's temporary folder, if it is used as it is. Then no model has to be asked for a log or for a gate to
    be opened, which would not be answered while a rate limiter holds every model up.
    """

    def __init__(self, loader: Loader, wire: Wire, scope: str, local: Path | None = None) -> None:
        self._local = local
        self._loader = loader
        self._wire = wire
        self._scope = scope
        self._names: dict[str, str] = {}
        self._models: dict[str, Model] = {}
        self._cursors: dict[str, dict[str, int]] = {}
        self._memory: SharedMemory | None = None

    def load(self, model: Model) -> None:
        """Load it, or load it again; returns when it is ready."""
        name = self.name_of(model.name)
        again = model.name in self._names
        self._names[model.name] = name
        self._models[model.name] = model
        proto = configuration(model, name, folder_of(name), {one: self.name_of(one) for one in model.steps})
        if again:
            self._loader.remove_files(name)
        self._loader.load_files(proto, contents(model))

    def unload(self, name: str) -> None:
        """Take it away."""
        self._wire.remove(self.name_of(name))

    def ready(self, name: str, version: int = 0) -> bool:
        """Return whether it is ready."""
        return self._wire.ready(self.name_of(name), _text(version))

    def listed(self, name: str) -> list[Live]:
        """Return its versions that the repository's index lists. It does not list what was sent with the load request."""
        own = [one for one in self._wire.index() if one["name"] == self.name_of(name) and one.get("version")]
        found = (Live(int(one["version"]), one.get("state") == READY, one.get("reason", "")) for one in own)
        sent = self._models[name].versions if name in self._models and not own else ()
        return sorted(found, key=lambda one: one.version) or [
            Live(version, ready=True) for version in sent if self.ready(name, version)
        ]

    def submit(self, name: str, request: Request, version: int = 0, *, shared: bool = False) -> Future[Response]:
        """Send a request."""
        if not shared:
            return self._wire.infer(self.name_of(name), request, _text(version))
        if self._memory is None:
            self._memory = self._wire.shared_memory()
        return self._wire.infer_shared(self.name_of(name), request, self._memory, _text(version))

    def cancel(self, future: Any) -> None:
        """Cancel a request."""
        self._wire.cancel(future)

    def kill_instance(self, name: str) -> None:  # noqa: ARG002 - only the owner of the server can
        """Kill the process of one of its instances."""
        raise Unsupported("faults")

    def queued(self, name: str) -> int:
        """Return the pending-request gauge."""
        return self._wire.pending(self.name_of(name))

    def statistics(self, name: str, version: int = 0) -> dict[str, Any]:
        """Return what the server counted."""
        return self._wire.counted(self.name_of(name), _text(version))

    def release(self, name: str, token: int) -> None:
        """Open a gate."""
        if self._local is not None:
            release(self._local / folder_of(self.name_of(name)), token)
        else:
            self._ask(name, do="release", token=token)

    def log(self, name: str) -> list[dict[str, Any]]:
        """Return the new lines of the witness's log."""
        if self._local is not None:
            folder = self._local / folder_of(self.name_of(name))
            found, self._cursors[name] = read_log(folder, self._cursors.get(name, {}))
            return found
        answer = self._ask(name, do="log", cursors=self._cursors.get(name, {}))
        self._cursors[name] = answer["cursors"]
        lines: list[dict[str, Any]] = answer["lines"]
        return lines

    def close(self) -> None:
        """Unload and remove everything, ensembles before their steps."""
        if self._memory is not None:
            self._memory.close()
        for name, full in reversed(self._names.items()):
            self._wire.unload(full)
            self._loader.remove_files(full)
            if self._local is None:  # else they go with the server
                with contextlib.suppress(TargetError):
                    self._ask(name, do="remove")

    def name_of(self, name: str) -> str:
        """Return what a model is called on the server."""
        return f"batchproof_{self._scope}_{name}"

    def _ask(self, name: str, **ask: Any) -> dict[str, Any]:
        return self._wire.ask(CONTROL, {"folder": folder_of(self.name_of(name)), **ask})


def _text(version: int) -> str:
    return str(version) if version else ""
