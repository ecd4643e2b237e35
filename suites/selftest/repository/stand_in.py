"""A small server with a model repository: models, versions, ensembles, warm-up, groups and a rate limiter, on real threads.

Each version of a model is a reference batcher with the witness in it. Its mutants (`mutants.toml`) have one wrong line each.
"""

from __future__ import annotations

import itertools
import shutil
import threading
import weakref
from collections.abc import Mapping
from concurrent.futures import Future
from functools import partial
from typing import Any

import numpy as np

from batchproof.host.scratch import scratch_folder
from batchproof.reference_batcher import Batcher
from batchproof.suites.selftest.repository.limiter import Limiter
from batchproof.targets.futures import batcher_kind, batcher_status, relay
from batchproof.targets.protocol import Kind, Refused, Request, Response, TargetError, TargetInfo
from batchproof.targets.reference import ReferenceDeployment, counted, inputs, taken_apart
from batchproof.targets.repository import BROKEN, Group, Live, Model
from batchproof.targets.witness.place import Place
from batchproof.targets.witness.probe import COLUMNS, Head, Payload, Witness, encode, read_log, release
from batchproof.targets.witness_model import REFERENCE_CLAIMS, witnessed

STEP = COLUMNS.index("nonce")
ASKED = [COLUMNS.index(name) for name in ("hold", "work_ns", "row_work_ns", "fail", "short")]
CANCELLED = Refused(Kind.CANCELLED, "cancelled", "CANCELLED")
_processes = itertools.count(1)


class StandIn:
    """The target."""

    def __init__(self) -> None:
        claims = {**REFERENCE_CLAIMS, "repository": True, "ensembles": True, "rate_limiter": True, "torch": False}
        claims |= {"shared_memory": True, "faults": True}
        self.info = TargetInfo("StandIn", "1", f"{__name__}:StandIn", claims=claims)

    def deploy(self, config: Any) -> Any:
        """Serve the witness on the reference batcher."""
        return ReferenceDeployment(witnessed(config))

    def repository(self, limits: Mapping[str, int] | None = None) -> StandInRepository:
        """Open a repository."""
        return StandInRepository(limits)


class Version:
    """One version of a model that is served: a batcher, whose instances have witnesses of their own."""

    def __init__(self, model: Model, number: int, folder: str, limiter: Limiter | None) -> None:
        self.number = number
        groups = model.groups or (Group(model.config.instances),)
        places = [(at, one, group) for at, group in enumerate(groups) for one in range(group.count)]
        process = next(_processes) << 8
        own = [Place(number, process + at, group, one) for at, (group, one, _) in enumerate(places)]
        self.witnesses = [Witness(folder, place.pack()) for place in own]
        self.groups = [group for _, _, group in places]
        self.asked: list[Any] = []
        self.dying: list[Witness] = []
        self._step = model.step
        config = witnessed(model.config)
        pairs = zip(self.witnesses, self.groups, strict=True)
        calls = [partial(self._call, witness, group, limiter) for witness, group in pairs]
        self.batcher = Batcher(calls, type(config)(**{**vars(config), "instances": len(calls)}))

    def warm_up(self, model: Model) -> None:
        """Run the samples on each instance."""
        for witness in self.witnesses:
            for place, sample in enumerate(model.warm_ups):
                tensor = encode(Head(-1 - place, sample.hold, Payload(fail=sample.fail)))
                for _ in range(sample.count):
                    witness.execute([tensor] * sample.rows)

    def close(self) -> None:
        """Serve what is queued, and end."""
        self.batcher.close()
        for witness in self.witnesses:
            witness.close()

    def submit(self, request: Request) -> Any:
        """Queue a request."""
        asked = request.payload
        future = self.batcher.submit(inputs(request), priority=asked.priority, timeout_ns=asked.timeout_ns)
        self.asked.append(future)  # for mutants that forget what they were asked
        return relay(future, lambda result: Response(*result), batcher_kind, batcher_status)

    def _call(self, witness: Witness, group: Group, limiter: Limiter | None, batch: dict[str, Any]) -> tuple[Any, Any]:
        """Run one batch, once there are resources for it."""
        tensors = taken_apart(batch)[0]
        own = [self._own(tensor) for tensor in tensors]
        if witness in self.dying:
            self.dying.remove(witness)  # a new process takes its place
            raise RuntimeError("the process of this instance was killed")
        if limiter is None:
            answers = witness.execute(own)
        else:
            with limiter.held(group):
                answers = witness.execute(own)
        return np.concatenate(tensors[len(tensors) - len(answers) :]), np.concatenate([info for _, info in answers])

    def _own(self, tensor: Any) -> Any:
        """Return what a request asks of this step."""
        if not self._step or int(tensor[0, STEP]) in (0, self._step):
            return tensor
        own = tensor.copy()
        own[:, ASKED] = 0
        return own


class Loaded:
    """A model as it was loaded: its versions that are live. An ensemble has none, and counts its requests itself."""

    def __init__(self, model: Model, folder: str, limiter: Limiter | None) -> None:
        self.model = model
        live = _live(model)
        if broken := set(live) & set(model.broken):
            raise TargetError(f"version {min(broken)} is {BROKEN}")
        self.counts = {"success": 0, "fail": 0}
        self.turn = threading.Lock()  # for mutants that let one request after the other through an ensemble
        self.cache: dict[bytes, Response] = {}
        if model.steps:
            self.versions = {}
            return
        if limiter is not None:
            limiter.check(model.groups)
        self.versions = {number: Version(model, number, folder, limiter) for number in live}
        try:
            for version in self.versions.values():
                version.warm_up(model)
        except RuntimeError as error:
            raise TargetError(f"the warm-up failed: {error}") from None

    def close(self) -> None:
        """Serve what is queued, and end."""
        for version in self.versions.values():
            version.close()


class StandInRepository:
    """The models of one test."""

    def __init__(self, limits: Mapping[str, int] | None) -> None:
        self._folder = scratch_folder()
        weakref.finalize(self, shutil.rmtree, self._folder, ignore_errors=True)  # also if a mutant is never closed
        self._loaded: dict[str, Loaded] = {}
        self._cursors: dict[str, dict[str, int]] = {}
        self._limiter = None if limits is None else Limiter(limits)
        self._cancelled: set[Any] = set()
        self._old: list[threading.Thread] = []

    def load(self, model: Model) -> None:
        """Load it alongside the old one, put it in its place, and let the old one serve what it has."""
        if missing := [step for step in model.steps if step not in self._loaded]:
            raise TargetError(f"ensemble {model.name} contains models that are not available: {', '.join(missing)}")
        new = Loaded(model, self._place(model.name), self._limiter)
        old = self._loaded.get(model.name)
        self._loaded[model.name] = new
        if old is not None:
            self._end(old)

    def unload(self, name: str) -> None:
        """Take it away, and let it serve what it has."""
        if name not in self._loaded:
            raise TargetError(f"there is no model '{name}'")
        self._end(self._loaded.pop(name))

    def ready(self, name: str, version: int = 0) -> bool:
        """Return whether it is served."""
        loaded = self._loaded.get(name)
        return loaded is not None and (not version or version in loaded.versions)

    def listed(self, name: str) -> list[Live]:
        """Return the versions that are live."""
        loaded = self._loaded.get(name)
        if loaded is None:
            return []
        return [Live(number, ready=True) for number in (_live(loaded.model))]

    def submit(self, name: str, request: Request, version: int = 0, *, shared: bool = False) -> Future[Response]:
        """Send a request."""
        del shared
        loaded = self._loaded.get(name)
        if loaded is None:
            raise gone(name, version)
        if loaded.model.steps:
            return self._through(loaded, request)
        number = version or max(loaded.versions)
        if number not in loaded.versions:
            raise gone(name, version)
        future: Future[Response] = loaded.versions[number].submit(request)
        replaced = self._loaded.get(name) not in (loaded, None)
        if replaced and future.done() and batcher_closed(future.exception()):  # since it was looked up
            return self.submit(name, request, version)
        return future

    def cancel(self, future: Any) -> None:
        """Cancel a request."""
        self._cancelled.add(future)
        if hasattr(future, "inner"):
            future.inner.cancel()

    def queued(self, name: str) -> int:
        """Return how many requests wait for it."""
        loaded = self._loaded.get(name)
        return sum(version.batcher.queued() for version in loaded.versions.values()) if loaded else 0

    def statistics(self, name: str, version: int = 0) -> dict[str, Any]:
        """Return what was counted."""
        loaded = self._loaded[name]
        if loaded.model.steps:
            done = sum(loaded.counts.values())
            return {**loaded.counts, "inference_count": done, "execution_count": done, "cache_hits": 0, "batches": {}}
        return counted(loaded.versions[version or max(loaded.versions)].batcher.statistics())

    def kill_instance(self, name: str) -> None:
        """Kill an instance: its next batch fails."""
        version = max(self._loaded[name].versions.values(), key=lambda one: one.number)
        version.dying.append(version.witnesses[0])

    def release(self, name: str, token: int) -> None:
        """Open a gate."""
        release(self._place(name), token)

    def log(self, name: str) -> list[dict[str, Any]]:
        """Return the new lines of the log."""
        lines, self._cursors[name] = read_log(self._place(name), self._cursors.get(name, {}))
        return lines

    def close(self) -> None:
        """End everything."""
        for loaded in self._loaded.values():
            loaded.close()
        for thread in self._old:
            thread.join()
        shutil.rmtree(self._folder, ignore_errors=True)

    def _through(self, ensemble: Loaded, request: Request) -> Future[Response]:
        """Send a request through the steps of an ensemble, one after another."""
        outer: Future[Response] = Future()
        key = request.tensor().tobytes()
        if ensemble.model.config.response_cache and key in ensemble.cache:
            outer.set_result(ensemble.cache[key])
            return outer
        steps = ensemble.model.steps

        def at(place: int) -> None:
            if outer in self._cancelled:
                outer.set_exception(CANCELLED)
                return
            try:
                inner = self.submit(steps[place], request)
            except Refused as refused:
                outer.set_exception(refused)
                return
            inner.add_done_callback(partial(after, place))

        def after(place: int, done: Future[Response]) -> None:
            if error := done.exception():
                ensemble.counts["fail"] += 1
                outer.set_exception(error)
            elif place + 1 < len(steps):
                at(place + 1)
            else:
                ensemble.counts["success"] += 1
                ensemble.cache[key] = done.result()
                outer.set_result(done.result())

        at(0)
        return outer

    def _place(self, name: str) -> str:
        return f"{self._folder}/{name}"

    def _end(self, loaded: Loaded) -> None:
        thread = threading.Thread(target=loaded.close, daemon=True)
        thread.start()
        self._old.append(thread)


def gone(name: str, version: int) -> Refused:
    """Return the refusal of a request to a model, or to a version of it, that is not there."""
    return Refused(Kind.CLOSED, f"model '{name}' version {version} is not available", "NOT_FOUND")


def batcher_closed(error: BaseException | None) -> bool:
    """Return whether a batcher refused a request because it takes no more."""
    return isinstance(error, Refused) and error.kind is Kind.CLOSED


def _live(model: Model) -> list[int]:
    """Return the versions that the model's policy serves."""
    if isinstance(model.live, int):
        return sorted(model.versions)[-model.live :]
    return sorted(model.live or model.versions)
