"""The engines as targets: `batchproof.suites.selftest.strangers.engines.adapter:NAME`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from time import monotonic_ns
from typing import Any

from batchproof.suites.selftest.strangers.engines.engine import Engine
from batchproof.suites.selftest.strangers.engines.pages import Memory
from batchproof.suites.selftest.strangers.engines.table import ENGINES
from batchproof.suites.selftest.strangers.lanes_and_reels.made import Whole
from batchproof.targets import TargetInfo, Unsupported
from batchproof.targets.engines import EngineGone, Generation, Output
from batchproof.targets.witness import language

CLAIMS: Mapping[str, Any] = {
    "iterations": "stepped", "joins_within": 1, "admission": "arrival", "chunked_prefill": True, "mixed_iterations": True,
    "stall_free": True, "streams_within": 1,
    "request_priorities": "admission", "preemption": "recompute", "prefix_cache": True, "samples": True, "streaming": True,
    "stop_tokens": True, "gauges": True, "kv_blocks": True, "duplicate_ids": "refused", "cancel": True, "disconnects": True,
}


class Witnessed:
    """The witness language model, which reads every context back through the tables it is given."""

    def __init__(self) -> None:
        self.lines: list[dict[str, Any]] = []
        self.number = 0

    def __call__(self, rows: Sequence[tuple[Sequence[int], int, Sequence[int]]], memory: Memory) -> list[int]:
        entered = monotonic_ns()
        said, seen = [], []
        for table, start, new in rows:
            held = memory.read(table, start + len(new))
            context, places = [token for token, _ in held], [place for _, place in held]
            said.append(language.next_token(context))
            seen.append(language.row(context, places, len(new), table))
        self.number += 1
        self.lines.append({"number": self.number, "enter_ns": entered, "exit_ns": monotonic_ns(), "rows": seen})
        return said


class Opened:
    """An engine that is run one iteration at a time."""

    def __init__(self, engine: Engine, model: Witnessed) -> None:
        self.engine, self.model = engine, model
        self.outputs: list[Output] = []

    def submit(self, request: Generation) -> None:
        refusal = self.engine.add(
            request.name, request.prompt, request.max_tokens, request.priority, request.stop, request.samples
        )
        if refusal:
            self.outputs.append(Output(request.name, end="refused", text=refusal))

    def step(self) -> tuple[list[Output], bool]:
        try:
            self.engine.step()
            told = self.engine.take_told()
        except Exception as error:
            raise EngineGone(f"an iteration raised {type(error).__name__}: {error}") from error
        outputs = [*self.outputs, *(Output(one.key, one.tokens, one.end, one.sample, one.words) for one in told)]
        self.outputs = []
        return outputs, self.engine.busy

    def abort(self, name: str) -> None:
        self.engine.abort(name)

    def disconnect(self, name: str) -> None:
        self.engine.abort(name)
        self.engine.told = [one for one in self.engine.told if one.key != name]

    def log(self) -> list[dict[str, Any]]:
        lines, self.model.lines = self.model.lines, []
        return lines

    def gauges(self) -> Mapping[str, float]:
        return self.engine.gauges()

    def close(self) -> None:
        """There is nothing to end."""


class EngineTarget:
    """An engine of the table."""

    def __init__(self, name: str) -> None:
        self.made = ENGINES[name].batcher
        self.whole = self.made.made if isinstance(self.made, Whole) else None
        claims = self.whole.info.claims if self.whole else {**CLAIMS, **self.made.claims}
        self.info = TargetInfo(name, "1", f"{__name__}:{name}", claims=claims, discipline="continuous")

    def engine(self, config: Any) -> Any:
        """Open an engine."""
        if self.whole:
            return self.whole.engine(config)
        if lacks := self.made.lacks(config):
            raise Unsupported(lacks)
        model = Witnessed()
        return Opened(self.made(config, model), model)

    def deploy(self, config: Any) -> Any:
        raise Unsupported("dynamic batching")


def __getattr__(name: str) -> EngineTarget:
    if name.startswith("__"):
        raise AttributeError(name)
    return EngineTarget(name)
