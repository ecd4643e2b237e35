"""An adapter: lets Batchproof judge the engine of `reels_engine.py`, which has two phases and swaps to the host."""

import time
from collections.abc import Sequence

import numpy as np

from batchproof.reference_batcher.continuous import EngineConfig
from batchproof.targets import TargetInfo
from batchproof.targets.engines import Generation, Output
from batchproof.targets.witness.paged import Iteration, rows_of

from .reels_engine import Engine, Row

CLAIMS = {
    "iterations": "stepped", "joins_within": 2, "admission": "arrival", "chunked_prefill": True, "streaming": True,
    "streams_within": 1, "request_priorities": "preempting", "preemption": "swap", "prefix_cache": True, "samples": True,
    "takes_turns": True, "goes_on_within": 4, "kv_blocks": True, "stop_tokens": True, "gauges": True, "cancel": True,
    "disconnects": True, "duplicate_ids": "refused",
}  # fmt: skip


class Memory:
    """The KV cache, with the witness as the model that reads and writes it through the engine's tables."""

    def __init__(self, blocks: int, size: int) -> None:
        self.size = size
        self.entries = np.full((blocks, size, 2), -1)
        self.lines: list[dict] = []
        self.number = 0

    def read(self, block: int) -> np.ndarray:
        """Return a copy of what a block holds."""
        return self.entries[block].copy()

    def write(self, block: int, held: np.ndarray) -> None:
        """Write into a block what another held."""
        self.entries[block] = held

    def run(self, rows: Sequence[Row]) -> list[int]:
        """Run an iteration; return the token that follows each row."""
        enter = time.monotonic_ns()
        places = [np.arange(row.start, row.start + len(row.tokens)) for row in rows]
        tables = [np.asarray(row.blocks) for row in rows]
        size = self.size
        slots = [table[place // size] * size + place % size for table, place in zip(tables, places, strict=True)]
        tokens = np.concatenate([np.asarray(row.tokens) for row in rows])
        cuts = np.cumsum([0, *map(len, places)]).tolist()
        lengths = [row.start + len(row.tokens) for row in rows]
        now = Iteration(tokens, np.concatenate(places), np.concatenate(slots), cuts, lengths, tables)
        lines, following = zip(*rows_of(self.entries, now), strict=True)
        self.number += 1
        times = {"enter_ns": enter, "exit_ns": time.monotonic_ns()}
        self.lines.append({"number": self.number, **times, "rows": list(lines)})
        return list(following)

    def log(self) -> list[dict]:
        """Return the new lines."""
        lines, self.lines = self.lines, []
        return lines


class Opened:
    """The engine with the witness as its language model, and one configuration."""

    def __init__(self, config: EngineConfig) -> None:
        self.memory = Memory(config.num_blocks, config.block_size)
        self.engine = Engine(
            self.memory.run, self.memory, rows=config.max_num_seqs, budget=config.max_num_batched_tokens,
            size=config.block_size, blocks=config.num_blocks, longest=config.max_model_len, chunks=config.chunked_prefill,
            reuse=config.prefix_cache, ranked=config.policy == "priority",
        )  # fmt: skip
        self.log = self.memory.log
        self.outputs: list[Output] = []

    def submit(self, request: Generation) -> None:
        """Send a request. A refusal is an output, not an exception."""
        one = request
        try:
            self.engine.add(one.name, one.prompt, one.max_tokens, one.stop, one.priority, one.samples)
        except ValueError as refusal:
            self.outputs.append(Output(one.name, end="refused", text=str(refusal)))

    def step(self) -> tuple[list[Output], bool]:
        """Run one iteration; return what is new, and whether work is left."""
        self.outputs += [Output(said.name, (said.token,), said.end, said.sample) for said in self.engine.step()]
        outputs, self.outputs = self.outputs, []
        return outputs, self.engine.busy

    def abort(self, name: str) -> None:
        """Take a request back. The engine says nothing about its end, so the adapter does."""
        self.outputs += [Output(name, end="abort", sample=sample) for sample in self.engine.abort(name)]

    def disconnect(self, name: str) -> None:
        """The client closes its connection: the engine takes its request back."""
        self.abort(name)

    def gauges(self) -> dict[str, float]:
        """Return what the engine says about itself. What is on the host waits; a block kept for reuse is free."""
        engine = self.engine
        running = {one.name for one in engine.running}
        waiting = {one.name for one in (*engine.waiting, *engine.swapped)} - running
        room = engine.blocks.room
        return {"running": len(running), "waiting": len(waiting), "used_blocks": engine.total - room, "free_blocks": room,
                "preempted": engine.swaps}  # fmt: skip

    def close(self) -> None:
        """End the engine: it has no thread and no process."""


class Reels:
    """The target: who it is, what it claims, and how to open the engine."""

    info = TargetInfo("reels", "1.0", "reels_adapter:Reels", claims=CLAIMS, discipline="continuous")
    engine = Opened
