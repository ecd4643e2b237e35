"""Opens an engine for a measurement, and makes judged runs on it."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from math import ceil
from typing import Any

from batchproof.bench.measurement import Bench
from batchproof.bench.under_load import Looked
from batchproof.host.clock import HOST_CLOCK
from batchproof.load.generation.demand import Demand
from batchproof.load.generation.runs import Loaded, TextRun
from batchproof.load.workload import Skipped, Work
from batchproof.reference_batcher.continuous import EngineConfig
from batchproof.targets.claims import value_of
from batchproof.targets.engines import Engine
from batchproof.targets.protocol import Unsupported
from batchproof.targets.witness.languages import language_named

SEQS, BUDGET, LENGTH = 16, 256, 512
SMALLEST = 16  # tokens in a KV block, if the engine supports any size
UNPACED = "cannot run at a set speed; --work bare measures the engine itself"


def config_of(claims: Mapping[str, Any], seqs: int = SEQS, budget: int = BUDGET, length: int = LENGTH) -> EngineConfig:
    """Return a configuration with these limits, whose KV cache holds as many of the longest texts as there are rows.

    An engine that cannot compute a prompt in chunks gets a budget for whole prompts.
    """
    block = max(SMALLEST, int(value_of(claims, "block_size")))
    chunked = bool(value_of(claims, "chunked_prefill"))
    tokens = max(budget, seqs, 0 if chunked else length)
    return EngineConfig(seqs, tokens, block, seqs * ceil(length / block), length, chunked)


@dataclass(frozen=True)
class Serving:
    """An open engine in a bench."""

    bench: Bench
    work: Work
    loaded: Loaded

    @property
    def config(self) -> EngineConfig:
        """Its configuration."""
        return self.loaded.config

    @property
    def full_ns(self) -> int:
        """How long an iteration with the whole token budget takes on the device."""
        return self.work.base_ns + self.work.row_ns * self.config.max_num_batched_tokens

    def offer(self, demand: Demand) -> TextRun:
        """Play a schedule; a run spoilt by the host is repeated."""
        return self._valid(lambda: self.loaded.offer(demand))

    def saturate(self, demand: Demand, clients: int, seconds: float) -> TextRun:
        """Keep clients busy; a run spoilt by the host is repeated."""
        return self._valid(lambda: self.loaded.saturate(demand, clients, seconds))

    def keep(self, name: str, run: TextRun) -> str:
        """Save a run's samples; return their path within the report folder. TargetGone if the target died."""
        path = self.bench.record.samples(name, run.samples)
        self.bench.check_alive()
        return path

    def _valid(self, make: Callable[[], TextRun]) -> TextRun:
        """Return the first valid run, or the last attempt. A run with a wrong text is never repeated."""
        for left in reversed(range(self.bench.attempts)):
            run = make()
            if (load := self.bench.under_load) is not None:
                load.requests += run.samples.count
                load.wrong += [Looked(0, why, f"{why}\n") for why in run.wrong[:1]]
            if run.valid or run.wrong or not left:
                break
            self.bench.check_alive()
        return run


@contextlib.contextmanager
def opened(bench: Bench, work: Work, config: EngineConfig | None = None) -> Iterator[Serving]:
    """Open an engine whose device has this speed; Skipped if the target does not support that."""
    target, claims = bench.target, bench.target.info.claims
    if target.engine is None:
        raise Skipped(f"{target.info.name} has no engine")
    config = config or config_of(claims)
    try:
        engine = target.engine(config)
    except Unsupported as lack:
        raise Skipped(f"{target.info.name} does not support {lack.capability}") from None
    try:
        _paced(engine, work, target.info.name)
        clock = getattr(engine, "clock", HOST_CLOCK)
        stepped = value_of(claims, "iterations") == "stepped"
        language = language_named(str(value_of(claims, "text")))
        yield Serving(bench, work, Loaded(engine, config, language, bench.wait_ns, stepped, clock))
    finally:
        engine.close()


def _paced(engine: Engine, work: Work, name: str) -> None:
    """Set the speed of the engine's model; Skipped if it has none to set."""
    wanted = bool(work.base_ns or work.row_ns)
    device: Callable[[int, int], None] | None = getattr(engine, "device", None)
    try:
        if device is not None:
            device(work.base_ns, work.row_ns)
        elif wanted:
            raise Unsupported("device")
    except Unsupported:
        if wanted:
            raise Skipped(f"the model in {name} {UNPACED}") from None
