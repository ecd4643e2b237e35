"""One side's own process: it serves the side's model, and puts the load on it that the other end of a socket orders.

Each side has a process, so that two interpreters, two revisions of a module and two servers of one kind can be compared, and
neither side's threads hold up the other's. Messages are JSON objects, each announced by its length (`load.out_of_process`).
The orders are `serve`, `saturate` and `pace`; the end of the socket is the order to end.
"""

from __future__ import annotations

import json
import socket
import sys
import traceback
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from batchproof import __version__
from batchproof.bench.ab.block import WAIT_NS, Block, paced, saturated
from batchproof.bench.fit import fitted
from batchproof.bench.under_load import Look
from batchproof.load.out_of_process import Frames, send_blob
from batchproof.load.traffic import Traffic
from batchproof.load.workload import Served, Skipped, Work, serve
from batchproof.reference_batcher.config import BatcherConfig
from batchproof.reference_batcher.errors import ConfigError
from batchproof.targets import resolve
from batchproof.targets.lifecycle import close
from batchproof.targets.protocol import Misuse, TargetError, TargetGone, TargetInfo
from batchproof.targets.verbs import FullTarget

SIZE = 8  # the largest batch where nothing is configured
Judges = Callable[[TargetInfo], Look]
ERRORS: tuple[tuple[type[Exception], str], ...] = (
    (Misuse, "misuse"), (ConfigError, "misuse"), (Skipped, "skipped"), (TargetGone, "gone"), (TargetError, "target"),
)  # fmt: skip


def serve_orders(channel: socket.socket, judges: Judges) -> None:
    """Do what is ordered until the channel ends. judges: given a target's description, returns what judges its traffic."""
    side = _Side(judges)
    frames = Frames(channel)
    try:
        while True:
            order = json.loads(frames.blob(next(frames)[1]))
            send_blob(channel, json.dumps(_answer(side, order)).encode())
    except OSError:
        return  # the other end has gone: that is how it ends
    finally:
        side.close()


def _answer(side: _Side, order: dict[str, Any]) -> dict[str, Any]:
    verbs: Mapping[str, Callable[..., dict[str, Any]]] = {
        "serve": side.serve,
        "saturate": side.saturate,
        "pace": side.pace,
    }
    try:
        return verbs[order.pop("order")](**order)
    except Exception as error:
        word = next((word for kind, word in ERRORS if isinstance(error, kind)), "rig")
        told = str(error) if word != "rig" else _where(error)
        return {"error": word, "message": told}


def _where(error: Exception) -> str:
    place = traceback.extract_tb(error.__traceback__)[-1]
    return f"the rig broke: {type(error).__name__}: {error} ({place.name}, line {place.lineno})"


class _Side:
    """What is served here."""

    def __init__(self, judges: Judges) -> None:
        self._judges = judges
        self._target: FullTarget | None = None
        self._served: Served | None = None

    def serve(
        self, target: str, config: Mapping[str, Any] | None, instances: int, work: Mapping[str, Any]
    ) -> dict[str, Any]:
        """Start the target and serve the work. config: None: the default; instances: 0: as configured."""
        self._target = resolve(target)
        info = self._target.info
        asked = BatcherConfig(max_batch_size=SIZE) if config is None else BatcherConfig.from_facts(config)
        if instances:
            asked = replace(asked, instances=instances)
        self._config = fitted(asked, info.claims) if config is None else asked
        self._served = serve(self._target, Work(**work), self._config, wait_ns=WAIT_NS)
        self._look = self._judges(info)
        if not work["model"]:
            self._served.traffic = Traffic(self._served.clock.now_ns)
        files = [str(getattr(module, "__file__", None) or "") for module in list(sys.modules.values())]
        about = {"batchproof": __version__, "python": sys.version.split()[0], "files": [one for one in files if one]}
        route = None if work["model"] else self._served.deployment.route
        way = {"route": route.facts() if route else None, "payload": self._served.payload}
        return {**about, **way, "target": info.facts(), "config": self._config.facts()}

    def saturate(self, clients: int, requests: int) -> dict[str, Any]:
        """Make a block in a closed loop."""
        assert self._served is not None
        inside = self._config.max_batch_size * self._config.instances
        return self._judged(saturated(self._served, clients, requests, inside))

    def pace(self, rate: float, seconds: float, seed: int) -> dict[str, Any]:
        """Make a block in an open loop."""
        assert self._served is not None
        return self._judged(paced(self._served, rate, seconds, seed))

    def _judged(self, block: Block) -> dict[str, Any]:
        assert self._served is not None
        assert self._target is not None
        if why := self._target.alive():
            raise TargetGone(why)
        looked = self._look(self._served, self._config)
        block = replace(block, judged=looked.requests, wrong=looked.wrong, shown=looked.shown)
        return {**block.facts(), "shown": block.shown}

    def close(self) -> None:
        """Remove the model and end the target."""
        if self._served is not None:
            self._served.close()
        if self._target is not None:
            close(self._target)
