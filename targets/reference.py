"""Target `reference`: the threaded reference batcher, in this process."""

from __future__ import annotations

import shutil
import weakref
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from importlib.util import find_spec
from itertools import pairwise
from typing import Any

import numpy as np

from batchproof import __version__
from batchproof.host.scratch import scratch_folder
from batchproof.reference_batcher import Batcher, BatcherConfig, BatchStrategy
from batchproof.reference_batcher.protocol import Core
from batchproof.targets.futures import batcher_kind, batcher_status, relay
from batchproof.targets.hooks import logged_strategy, maker_of
from batchproof.targets.protocol import Request, Response, TargetInfo
from batchproof.targets.witness.probe import NO_NUMBER, ROW, Ints, Lines, Place, State, Witness, read_log, release
from batchproof.targets.witness.witnesses import merged_rows
from batchproof.targets.witness_model import REFERENCE_CLAIMS, correlation_id, witnessed


class ReferenceTarget:
    """Deploys the witness, or any torch module, on a `Batcher`.

    strategy: makes the batching strategy of each deployment, or `module:attribute` of what does (see docs/custom.md). Empty:
    the configuration names it, if there is any.
    """

    deploys_at_once = 16

    def __init__(self, strategy: Callable[[], BatchStrategy] | str = "") -> None:
        claims = {**REFERENCE_CLAIMS, "torch": find_spec("torch") is not None, "custom_batching": not strategy}
        self._strategy = maker_of(strategy) if isinstance(strategy, str) and strategy else strategy or None
        self.info = TargetInfo("reference", __version__, "reference", sight="witness", claims=claims)

    def deploy(self, config: BatcherConfig) -> ReferenceDeployment:
        """Serve the witness."""
        return ReferenceDeployment(witnessed(config), strategy=self._strategy)

    def deploy_defaults(self) -> ReferenceDeployment:
        """Serve the witness with `Batcher(model)`."""
        return ReferenceDeployment(strategy=self._strategy)

    def serve(self, module: Any, config: BatcherConfig, *, threads: int = 0) -> Batcher:
        """Serve a torch module with `submit(tensor) -> Future[tensor]` and `close()`. threads: as in `Batcher`."""
        return Batcher(module, config, threads=threads)


class ReferenceDeployment:
    """The witness as the batcher's model: each instance has a witness of its own, with its own log.

    core: as in `Batcher`. strategy: as in `ReferenceTarget`.
    """

    def __init__(
        self,
        config: BatcherConfig | None = None,
        core: Core | None = None,
        strategy: Callable[[], BatchStrategy] | None = None,
    ) -> None:
        self._folder = scratch_folder()
        weakref.finalize(self, shutil.rmtree, self._folder, ignore_errors=True)  # also when it is interrupted from here on
        self._cursors: dict[str, int] = {}
        self._witnesses = [Witness(self._folder, instance) for instance in range(config.instances if config else 1)]
        self._hooks = Lines(self._folder, "hooks")
        hooks = logged_strategy(config, self._hooks.write, strategy)
        model = _steps if config and config.sequence else _model
        self._batcher = Batcher([model(witness) for witness in self._witnesses], config, core=core, strategy=hooks)

    def submit(self, request: Request) -> Future[Response]:
        """Queue the payload."""
        future = self._batcher.submit(inputs(request), **options(request, self._batcher.config))
        return relay(future, answer_of, batcher_kind, batcher_status)

    def submit_malformed(self) -> Future[Response]:
        """Send a request with an input that the model does not have."""
        given = inputs(Request("malformed", 0))
        future = self._batcher.submit({**given, "UNKNOWN": given["IN"]})
        return relay(future, lambda result: Response(*result), batcher_kind, batcher_status)

    def cancel(self, future: Any) -> None:
        """Cancel a request."""
        future.inner.cancel()

    def statistics(self) -> dict[str, Any]:
        """Return what the batcher counted."""
        return counted(self._batcher.statistics())

    def queued(self) -> int:
        """Return how many requests are in the queue."""
        return self._batcher.queued()

    def release(self, token: int) -> None:
        """Open a gate."""
        release(self._folder, token)

    def log(self) -> list[dict[str, Any]]:
        """Return the new lines of the witness's log."""
        lines, self._cursors = read_log(self._folder, self._cursors)
        return lines

    def config_pbtxt(self) -> str:
        """Return the configuration as the batcher holds it."""
        return self._batcher.config.to_pbtxt()

    def close(self) -> None:
        """Close the batcher, which serves what is queued."""
        self._batcher.close()

    def finish(self) -> None:
        """Close and remove the log."""
        self.close()
        for witness in self._witnesses:
            witness.close()
        self._hooks.close()
        shutil.rmtree(self._folder, ignore_errors=True)


def inputs(request: Request) -> dict[str, Ints]:
    """Return a request as the batcher takes it: the payload, and the second tensor if it has one."""
    extra = request.extra_tensor()
    return {"IN": request.tensor()} if extra is None else {"IN": request.tensor(), "EXTRA": extra}


def options(request: Request, config: BatcherConfig) -> dict[str, Any]:
    """Return what a request asks of the batcher, apart from its tensors."""
    asked = request.payload
    given = {name: getattr(asked, name) for name in ("priority", "timeout_ns", "sequence", "start", "end")}
    if config.sequence is not None:
        given["sequence"] = correlation_id(asked.sequence, config.sequence.id_type)
    return given


def answer_of(outputs: Any) -> Response:
    """Return the witness's outputs as a response; a model of sequences gives them by name."""
    return Response(outputs["OUT"], outputs["INFO"]) if isinstance(outputs, dict) else Response(*outputs)


def counted(counts: dict[str, Any]) -> dict[str, Any]:
    """Return the batcher's counts as a deployment's."""
    return {**counts, "fail": counts["failed"] + counts["expired"] + counts["cancelled"]}


def taken_apart(batch: dict[str, Any]) -> tuple[list[Ints], list[Ints | None]]:
    """Return a batch's payloads and second tensors, one for each request; the row numbers show where a request begins."""
    rows, extras = batch["IN"], batch.get("EXTRA")
    if len(rows) == 1:
        return [rows], extras if isinstance(extras, list) else [extras]
    starts = np.flatnonzero(rows[:, ROW] == 0)[1:].tolist()
    cuts = [slice(*cut) for cut in pairwise([0, *starts, len(rows)])]  # `numpy.split` takes several times as long
    if extras is None:
        extras = [None] * len(cuts)
    return [rows[cut] for cut in cuts], extras if isinstance(extras, list) else [extras[cut] for cut in cuts]


def _model(witness: Witness) -> Any:
    """Return a model for the batcher: it passes the rows of all requests, and the witness wants a tensor for each."""

    def call(batch: dict[str, Any]) -> tuple[Ints, Ints]:
        return merged_rows(witness.execute(*taken_apart(batch)))

    return call


def _steps(witness: Witness) -> Any:
    """Return a model for a batcher of sequences: it passes one row for each place, and a state if the batcher keeps them."""

    def call(batch: dict[str, Any]) -> dict[str, Ints]:
        places = places_of(batch)
        answers = witness.execute_steps([row[None] for row in batch["IN"]], places, states_of(batch))
        info = np.concatenate([info for _, info, _ in answers])
        return {"OUT": batch["IN"], "INFO": info, **states_after(batch, [state for _, _, state in answers])}

    return call


def states_of(batch: dict[str, Any]) -> Sequence[State] | None:
    """Return the state of each place as numbers; None if the batcher keeps none."""
    if "STATE" not in batch:
        return None
    first = [_number(row) for row in batch["STATE"]]
    return list(zip(first, map(_number, batch["SECOND"]), strict=True)) if "SECOND" in batch else first


def states_after(batch: dict[str, Any], states: Sequence[State]) -> dict[str, Ints]:
    """Return the state tensors after a run of this batch: each of the type and shape in which it came."""
    after = {}
    for name, column in (("STATE", 0), ("SECOND", 1)):
        if name in batch:
            numbers = [state if isinstance(state, int) else state[column] for state in states]
            after[f"{name}_AFTER"] = np.empty_like(batch[name])
            after[f"{name}_AFTER"].T[:] = numbers
    return after


def _number(row: Any) -> int:
    """Return the number that every element of a state tensor is."""
    return int(row.flat[0]) if (row == row.flat[0]).all() else NO_NUMBER


def places_of(batch: dict[str, Any]) -> list[Place]:
    """Return the places of a batch from its control inputs, each [places, 1]. A model that is not told is ready."""
    count = len(batch["IN"])
    absent = {"READY": 1}
    columns = [
        [_plain(value) for value in batch[kind][:, 0].tolist()] if kind in batch else [absent.get(kind, 0)] * count
        for kind in ("START", "END", "READY", "CORRID")
    ]
    return [Place(slot, *values) for slot, values in enumerate(zip(*columns, strict=True))]


def _plain(value: Any) -> int | str:
    return value if isinstance(value, str) else int(value)
