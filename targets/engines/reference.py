"""Target `continuous`: the reference engine in this process, one iteration at a time, with the witness language model."""

from __future__ import annotations

from typing import Any

from batchproof import __version__
from batchproof.host.clock import HOST_CLOCK, Clock
from batchproof.reference_batcher.continuous import EngineConfig, Request, Row, Scheduler
from batchproof.reference_batcher.mutants import UnknownMutant, load
from batchproof.targets.engines import EngineGone, Generation, Output
from batchproof.targets.protocol import TargetInfo, UnknownTarget, Unsupported
from batchproof.targets.witness import language
from batchproof.targets.witness.device import Device

CLAIMS = {
    "iterations": "stepped",
    "joins_within": 1,
    "admission": "arrival",
    "chunked_prefill": True,
    "mixed_iterations": True,
    "request_priorities": "admission",
    "preemption": "recompute",
    "prefix_cache": True,
    "samples": True,
    "streaming": True,
    "stop_tokens": True,
    "gauges": True,
    "kv_blocks": True,
    "block_size": 1,
    "duplicate_ids": "refused",
    "cancel": True,
    "disconnects": True,
}
NOTHING = (0, -1)  # what a place holds that nobody has written


class ContinuousTarget:
    """Opens reference engines. mutant: with this wrong line."""

    def __init__(self, mutant: str = "") -> None:
        try:
            self._scheduler = load(mutant, "continuous/scheduler").Scheduler if mutant else Scheduler
        except UnknownMutant as error:
            raise UnknownTarget(str(error)) from None
        name = f"mutant:{mutant}" if mutant else "continuous"
        self.info = TargetInfo(name, __version__, name, claims=CLAIMS, discipline="continuous")

    def engine(self, config: EngineConfig) -> ReferenceEngine:
        """Open an engine."""
        return ReferenceEngine(self._scheduler(config), config)

    def deploy(self, config: Any) -> Any:  # noqa: ARG002 - as the protocol has it
        """Raise Unsupported: an engine has no dynamic batcher."""
        raise Unsupported("dynamic batching")


class ReferenceEngine:
    """A scheduler and the witness. Its KV cache is a list of blocks, and a block is a list of (token, position).

    clock: the host's, or a simulated one, which passes only where an iteration takes time (`device`).
    """

    def __init__(self, scheduler: Scheduler, config: EngineConfig, clock: Clock = HOST_CLOCK) -> None:
        self.clock = clock
        self._device = Device()
        self._scheduler = scheduler
        self._size = config.block_size
        self._cache = [[NOTHING] * config.block_size for _ in range(config.num_blocks)]
        self._outputs: list[Output] = []
        self._lines: list[dict[str, Any]] = []

    def submit(self, request: Generation) -> None:
        """Queue a request."""
        name, prompt, stop = request.name, tuple(request.prompt), tuple(request.stop)
        asked = Request(name, prompt, request.max_tokens, request.priority, stop, request.samples)
        if refusal := self._scheduler.add(asked):
            self._outputs.append(Output(name, end="refused", text=refusal))

    def step(self) -> tuple[list[Output], bool]:
        """Run one iteration."""
        try:
            self._run()
        except Exception as error:
            raise EngineGone(f"the engine raised in an iteration: {type(error).__name__}: {error}") from error
        outputs, self._outputs = self._outputs, []
        return outputs, self._scheduler.busy

    def abort(self, name: str) -> None:
        """Take a request back."""
        self._outputs += [Output(one.name, one.tokens, one.end, one.sample) for one in self._scheduler.abort(name)]

    def disconnect(self, name: str) -> None:
        """Take a request back whose client has gone: there is nobody who could be told of its end."""
        self._scheduler.abort(name)

    def log(self) -> list[dict[str, Any]]:
        """Return the witness's new lines."""
        lines, self._lines = self._lines, []
        return lines

    def gauges(self) -> dict[str, float]:
        """Return what the scheduler counts."""
        return dict(self._scheduler.gauges())

    def device(self, base_ns: int, token_ns: int) -> None:
        """Let each iteration take a set time."""
        self._device.set(base_ns, token_ns)

    def close(self) -> None:
        """End nothing: there is no process and no thread."""

    def _run(self) -> None:
        iteration = self._scheduler.schedule()
        enter_ns = self.clock.now_ns()
        for row in iteration.rows:
            self._write(row)
        said: list[int | None] = []
        rows = []
        for row in iteration.rows:
            context, places = self._read(row)
            said.append(language.next_token(context) if row.last else None)
            rows.append(language.row(context, places, len(row.tokens), row.blocks))
        if rows:
            self.clock.sleep_until_ns(self._device.until_ns(enter_ns, sum(len(row.tokens) for row in iteration.rows)))
            times = {"enter_ns": enter_ns, "exit_ns": self.clock.now_ns()}
            self._lines.append({"number": iteration.number, **times, "rows": rows})
        for one in self._scheduler.finished(iteration, said):
            self._outputs.append(Output(one.name, one.tokens, one.end, one.sample))

    def _write(self, row: Row) -> None:
        """Write a row's new tokens where its block table says."""
        for place, token in enumerate(row.tokens, row.start):
            self._cache[row.blocks[place // self._size]][place % self._size] = (token, place)

    def _read(self, row: Row) -> tuple[list[int], list[int]]:
        """Read a row's whole context back through its block table: the tokens, and the place for which each was written."""
        end = row.start + len(row.tokens)
        held = [self._cache[row.blocks[place // self._size]][place % self._size] for place in range(end)]
        return [token for token, _ in held], [place for _, place in held]
