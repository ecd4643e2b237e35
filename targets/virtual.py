"""Targets `virtual` and `mutant:NAME`: the reference batcher, whole or with one wrong line, under a simulated clock."""

from __future__ import annotations

import itertools
from concurrent.futures import Future
from importlib.util import find_spec
from typing import Any

import numpy as np

from batchproof import __version__
from batchproof.reference_batcher import BatcherConfig
from batchproof.reference_batcher.mutants import UnknownMutant, load, mutant_of
from batchproof.reference_batcher.virtual import VirtualClock
from batchproof.targets.futures import batcher_kind, batcher_status, relay
from batchproof.targets.hooks import logged_strategy
from batchproof.targets.protocol import Request, Response, TargetInfo, UnknownTarget
from batchproof.targets.reference import (
    answer_of,
    counted,
    inputs,
    options,
    places_of,
    states_after,
    states_of,
    taken_apart,
)
from batchproof.targets.witness.probe import INFO, Ints, Place, State, Steps, Testimony, WitnessError, clock_id
from batchproof.targets.witness.witnesses import merged_rows
from batchproof.targets.witness_model import REFERENCE_CLAIMS, witnessed

SHORTEST_NS = 1_000  # an execution takes this long at least: if it took no time, nobody could say which batch came first


class VirtualTarget:
    """Deploys a simulated witness on a simulated batcher."""

    def __init__(self, mutant: str = "") -> None:
        try:
            self._shell = load(mutant)
        except UnknownMutant as error:
            raise UnknownTarget(str(error)) from None
        name = f"mutant:{mutant}" if mutant else "virtual"
        claims = {**REFERENCE_CLAIMS, "faults": True, "torch": find_spec("torch") is not None}
        if mutant and mutant_of(mutant).family != "sequence":
            claims |= {"sequences": False, "sequence_state": False}  # its wrong line is about another core
        self.info = TargetInfo(name, __version__, name, sight="virtual", claims=claims)

    def deploy(self, config: BatcherConfig) -> VirtualDeployment:
        """Serve the witness in virtual time."""
        return VirtualDeployment(self._shell.VirtualBatcher, witnessed(config))

    def deploy_defaults(self) -> VirtualDeployment:
        """Serve the witness in virtual time with no configuration."""
        return VirtualDeployment(self._shell.VirtualBatcher)

    def deploy_beside(self, other: VirtualDeployment, config: BatcherConfig) -> VirtualDeployment:
        """Serve another witness in the same simulated time as `other`."""
        return VirtualDeployment(self._shell.VirtualBatcher, witnessed(config), other.clock)

    def serve(self, module: Any, config: BatcherConfig) -> TorchDeployment:
        """Serve a torch module in virtual time."""
        return TorchDeployment(self._shell, module, config)


class VirtualDeployment:
    """The witness on the simulated clock."""

    def __init__(self, shell: Any, config: BatcherConfig | None = None, clock: VirtualClock | None = None) -> None:
        self.clock = clock or VirtualClock(start_ns=1)
        self._batches = itertools.count(1)
        self._released: set[int] = set()
        self._held: list[tuple[set[int], Any]] = []
        self._lines: list[dict[str, Any]] = []
        strategy = logged_strategy(config, self._note)
        self._batcher = shell(config, self._service, self.clock, strategy=strategy)
        self._running: dict[int, Any] = {}
        self._steps = [Steps() for _ in range(config.instances)] if config and config.sequence else []

    def _note(self, line: dict[str, Any]) -> None:
        self._lines.append(line)

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
        return int(self._batcher.queued())

    def drained(self) -> bool:
        """Return whether it has been closed to the end."""
        return bool(self._batcher.drained())

    def release(self, token: int) -> None:
        """Open a gate, so that the batches that it held continue."""
        self._released.add(token)
        ready = [go for tokens, go in self._held if tokens <= self._released]
        self._held = [entry for entry in self._held if not entry[0] <= self._released]
        for go in ready:
            go()

    def pause(self) -> None:
        """Stop everything, while time goes on."""
        self.clock.stopped = True

    def resume(self) -> None:
        """Continue, with overdue events first."""
        self.clock.stopped = False

    def kill_instance(self) -> None:
        """Fail the batch that an instance is executing; the instance starts again."""
        for instance in sorted(self._running)[:1]:
            self._running.pop(instance)()

    def log(self) -> list[dict[str, Any]]:
        """Return the new lines of the witness's log."""
        lines, self._lines = self._lines, []
        return lines

    def config_pbtxt(self) -> str:
        """Return the configuration as the batcher holds it."""
        return str(self._batcher.config.to_pbtxt())

    def close(self) -> None:
        """Begin to close."""
        self._batcher.close()

    def _service(self, instance: int, batch: Any, finish: Any) -> None:
        tensors = [entry.item.inputs["IN"] for entry in batch]
        places, given = self._places(instance, batch)
        found = self._steps[instance].places([one for one in places if one.ready], given) if self._steps else None
        testimony = Testimony(tensors, instance, next(self._batches), self.clock.now_ns(), clock_id(), found)
        self._lines.append(testimony.entered)

        def model(inputs: Any) -> Any:
            exit_ns = self.clock.now_ns()
            self._lines.append(testimony.left(exit_ns))
            if found is not None:
                infos = testimony.infos(exit_ns, tensors)
                after = self._steps[instance].done(found, [int(tensor[0, 0]) for tensor in tensors])
                return _stepped(inputs, places, infos, after)
            own, extras = taken_apart(inputs)
            return merged_rows(list(zip(own[testimony.lost :], testimony.infos(exit_ns, own, extras), strict=True)))

        over = False

        def end(with_model: Any) -> None:
            nonlocal over
            if not over:
                over = True
                self._running.pop(instance, None)
                finish(with_model)

        def killed(_inputs: Any) -> Any:
            raise WitnessError("the instance's process was killed")

        self._running[instance] = lambda: end(killed)
        holds = testimony.holds - self._released

        def go() -> None:
            self.clock.at(self.clock.now_ns() + max(testimony.work_ns, SHORTEST_NS), lambda: end(model))

        if holds:
            self._held.append((holds, go))
        else:
            go()

    def _places(self, instance: int, batch: Any) -> tuple[list[Place], list[State] | None]:
        """Return each place of a batch of sequences, and the states of those with a request, if the batcher keeps them."""
        if not self._steps:
            return [], None
        trees = self._batcher.places(instance, batch)
        inputs = {name: np.concatenate([tree[name] for tree in trees]) for name in trees[0]}
        places, states = places_of(inputs), states_of(inputs)
        if states is None:
            return places, None
        return places, [state for state, place in zip(states, places, strict=True) if place.ready]


class TorchDeployment:
    """A torch module on a simulated batcher: it really runs, and takes no simulated time."""

    def __init__(self, shell: Any, module: Any, config: BatcherConfig) -> None:
        self.clock = VirtualClock(start_ns=1)
        model = shell.prepare(module)

        def service(_instance: int, _batch: Any, finish: Any) -> None:
            self.clock.at(self.clock.now_ns() + 1_000_000, lambda: finish(model))

        self._batcher = shell.VirtualBatcher(config, service, self.clock)

    def submit(self, inputs: Any) -> Future[Any]:
        """Queue a tensor."""
        future: Future[Any] = self._batcher.submit(inputs)
        return future

    def close(self) -> None:
        """Run until everything is done."""
        self._batcher.close()
        self.clock.sleep_until_ns(self.clock.now_ns() + 10**12)


def _stepped(inputs: dict[str, Any], places: list[Place], infos: list[Ints], states: list[State]) -> dict[str, Ints]:
    """Return the outputs of a batch of sequences by name, given the witness's answers for the places with a request."""
    ready = [place.slot for place in places if place.ready]
    info = np.zeros((len(places), len(INFO)), dtype=np.int64)
    if ready:
        info[ready] = np.concatenate(infos)
    after = {**dict.fromkeys(range(len(places)), 0), **dict(zip(ready, states, strict=True))}
    return {"OUT": inputs["IN"], "INFO": info, **states_after(inputs, list(after.values()))}
