"""Target `continuous`: the reference engine in this process, with the witness language model."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

from batchproof import __version__
from batchproof.host.clock import HOST_CLOCK, Clock
from batchproof.reference_batcher.continuous import EngineConfig, Request, Row, Said, Scheduler
from batchproof.reference_batcher.continuous.threaded import Engine
from batchproof.reference_batcher.mutants import UnknownMutant, load, mutant_of
from batchproof.targets.engines import EngineGone, Generation, Output
from batchproof.targets.protocol import TargetInfo, UnknownTarget, Unsupported
from batchproof.targets.witness import language
from batchproof.targets.witness.device import Device

CLAIMS = {
    "iterations": "stepped",
    "joins_within": 1,
    "keeps_place": True,
    "admission": "arrival",
    "chunked_prefill": True,
    "mixed_iterations": True,
    "stall_free": True,
    "request_priorities": "admission",
    "preemption": "recompute",
    "prefix_cache": True,
    "long_prefill_limit": True,
    "samples": True,
    "streaming": True,
    "streams_within": 1,
    "stop_tokens": True,
    "gauges": True,
    "kv_blocks": True,
    "block_size": 1,
    "duplicate_ids": "refused",
    "cancel": True,
    "disconnects": True,
}
FREE = {"iterations": "free", "joins_within": 2}  # an iteration may be running when a request arrives
NOTHING = (0, -1)  # what a slot holds before anything is written to it
TAU_NS = 3_000_000  # the length of an iteration in the threaded shell, as with a small model: a client can act during one
LOOK_S = 0.02  # how long a step of the threaded shell waits for something new


class ContinuousTarget:
    """Opens reference engines.

    shell: `stepped`, one iteration at a time, or `threaded`, an engine on its own thread. mutant: the wrong line to put in.
    """

    def __init__(self, shell: str = "stepped", mutant: str = "") -> None:
        if shell not in ("stepped", "threaded") or (mutant and shell == "threaded"):
            raise UnknownTarget(f"the reference engine's shell is stepped, or threaded without a mutant, not '{shell}'")
        try:
            self._scheduler = load(mutant, "continuous/scheduler").Scheduler if mutant else Scheduler
        except UnknownMutant as error:
            raise UnknownTarget(str(error)) from None
        self._threaded = shell == "threaded"
        name = f"mutant:{mutant}" if mutant else "continuous"
        claims = {**CLAIMS, **(FREE if self._threaded else {}), **(mutant_of(mutant).claims if mutant else {})}
        self.info = TargetInfo(name, __version__, name, claims=claims, discipline="continuous")

    def engine(self, config: EngineConfig) -> ReferenceEngine | ThreadedEngine:
        """Open an engine."""
        return ThreadedEngine(config) if self._threaded else ReferenceEngine(self._scheduler(config), config)

    def deploy(self, config: Any) -> Any:  # noqa: ARG002 - as the protocol has it
        """Raise Unsupported: an engine has no dynamic batcher."""
        raise Unsupported("dynamic batching")


class WitnessModel:
    """The witness as a language model. Its KV cache is a list of blocks, each a list of (token, position).

    clock: the host's, or a simulated one, which advances only while an iteration takes time (`device`).
    """

    def __init__(self, config: EngineConfig, clock: Clock = HOST_CLOCK) -> None:
        self._clock = clock
        self._device = Device()
        self.device = self._device.set
        self._size = config.block_size
        self._cache = [[NOTHING] * config.block_size for _ in range(config.num_blocks)]
        self._lines: deque[dict[str, Any]] = deque()
        self._number = 0

    def __call__(self, rows: Sequence[Row]) -> list[int | None]:
        """Write the new tokens of all rows, read each context back, and log what was read."""
        enter_ns = self._clock.now_ns()
        for row in rows:
            self._write(row)
        said: list[int | None] = []
        seen = []
        for row in rows:
            context, places = self._read(row)
            said.append(language.next_token(context) if row.last else None)
            seen.append(language.row(context, places, len(row.tokens), row.blocks))
        self._number += 1
        self._clock.sleep_until_ns(self._device.until_ns(enter_ns, sum(len(row.tokens) for row in rows)))
        times = {"enter_ns": enter_ns, "exit_ns": self._clock.now_ns()}
        self._lines.append({"number": self._number, **times, "rows": seen})
        return said

    def log(self) -> list[dict[str, Any]]:
        """Return the new lines, one per iteration."""
        return [self._lines.popleft() for _ in range(len(self._lines))]

    def _write(self, row: Row) -> None:
        """Write a row's new tokens through its block table."""
        for place, token in enumerate(row.tokens, row.start):
            self._cache[row.blocks[place // self._size]][place % self._size] = (token, place)

    def _read(self, row: Row) -> tuple[list[int], list[int]]:
        """Read a row's whole context back through its block table: its tokens, and the position each was written for."""
        end = row.start + len(row.tokens)
        held = [self._cache[row.blocks[place // self._size]][place % self._size] for place in range(end)]
        return [token for token, _ in held], [place for _, place in held]


class ReferenceEngine:
    """The scheduler and the witness, one iteration at a time. clock: as in `WitnessModel`.

    A verb besides those of `Engine`: `device(base_ns, token_ns)` makes each iteration take a set time.
    """

    def __init__(self, scheduler: Scheduler, config: EngineConfig, clock: Clock = HOST_CLOCK) -> None:
        self.clock = clock
        self._scheduler = scheduler
        self._model = WitnessModel(config, clock)
        self.log, self.device = self._model.log, self._model.device
        self._outputs: list[Output] = []

    def submit(self, request: Generation) -> None:
        """Queue a request."""
        if refusal := self._scheduler.add(_request(request)):
            self._outputs.append(Output(request.name, end="refused", text=refusal))

    def step(self) -> tuple[list[Output], bool]:
        """Run one iteration."""
        try:
            iteration = self._scheduler.schedule()
            said = self._model(iteration.rows) if iteration.rows else []
            self._outputs += map(_output, self._scheduler.finished(iteration, said))
        except Exception as error:
            raise EngineGone(f"the engine raised in an iteration: {type(error).__name__}: {error}") from error
        outputs, self._outputs = self._outputs, []
        return outputs, self._scheduler.busy

    def abort(self, name: str) -> None:
        """Abort a request."""
        self._outputs += map(_output, self._aborted(name))

    def disconnect(self, name: str) -> None:
        """Abort a request whose client has disconnected: its end is reported to nobody."""
        self._aborted(name)

    def _aborted(self, name: str) -> list[Said]:
        try:
            return self._scheduler.abort(name)
        except Exception as error:
            raise EngineGone(f"the engine raised at an abort: {type(error).__name__}: {error}") from error

    def gauges(self) -> dict[str, float]:
        """Return what the scheduler counts."""
        return dict(self._scheduler.gauges())

    def close(self) -> None:
        """Do nothing: there is no process and no thread to end."""


class ThreadedEngine:
    """The threaded shell and the witness: it iterates by itself."""

    def __init__(self, config: EngineConfig) -> None:
        self._model = WitnessModel(config)
        self._model.device(TAU_NS, 0)
        self.log, self.device = self._model.log, self._model.device
        self._engine = Engine(config, self._model)
        self._news = threading.Condition()
        self._outputs: list[Output] = []
        self._clients: dict[str, list[Callable[[Output], None]]] = {}  # without the disconnected ones

    def submit(self, request: Generation) -> None:
        """Queue a request."""
        told: list[Callable[[Output], None]] = [self._put]
        if refusal := self._engine.submit(_request(request), lambda one: [put(_output(one)) for put in told]):
            self._put(Output(request.name, end="refused", text=refusal))
        else:
            self._clients[request.name] = told

    def step(self) -> tuple[list[Output], bool]:
        """Wait for a short time until something comes out."""
        with self._news:
            self._news.wait_for(lambda: self._outputs, LOOK_S)
            outputs, self._outputs = self._outputs, []
        gauges = self._engine.gauges()
        return outputs, bool(gauges["running"] or gauges["waiting"])

    def abort(self, name: str) -> None:
        """Abort a request."""
        self._engine.abort(name)

    def disconnect(self, name: str) -> None:
        """Abort a request whose client has disconnected."""
        self._clients.get(name, []).clear()
        self._engine.abort(name)

    def gauges(self) -> dict[str, float]:
        """Return what the scheduler counts."""
        return dict(self._engine.gauges())

    def close(self) -> None:
        """Abort what is under way, and end the thread."""
        self._engine.close()

    def _put(self, one: Output) -> None:
        with self._news:
            self._outputs.append(one)
            self._news.notify_all()


def _request(asked: Generation) -> Request:
    """Return a request in the scheduler's form."""
    prompt, stop = tuple(asked.prompt), tuple(asked.stop)
    return Request(asked.name, prompt, asked.max_tokens, asked.priority, stop, asked.samples)


def _output(one: Said) -> Output:
    return Output(one.name, one.tokens, one.end, one.sample)
