"""An adapter: lets Batchproof judge the engine of `lanes_engine.py`, whose lanes have contiguous caches."""

import time
from collections.abc import Sequence

import numpy as np

from batchproof.reference_batcher.continuous import EngineConfig
from batchproof.targets import TargetInfo, Unsupported
from batchproof.targets.engines import Generation, Output
from batchproof.targets.witness import language
from batchproof.targets.witness.device import Device
from batchproof.targets.witness.gate import Gate
from batchproof.targets.witness.paged import Iteration, rows_read

from .lanes_engine import Engine, Row

CLAIMS = {
    "iterations": "stepped", "joins_within": 1, "admission": "arrival", "chunked_prefill": True, "mixed_iterations": True,
    "stall_free": True, "streaming": True, "streams_within": 1, "stop_tokens": True, "gauges": True, "cancel": True,
    "disconnects": True, "prefix_cache": "handed-on", "kv_blocks": False, "duplicate_ids": "refused",
}  # fmt: skip


class Cells:
    """The lanes' caches, with the witness as the model: it says what follows each of a row's last tokens."""

    def __init__(self, lanes: int, longest: int, size: int) -> None:
        self.size, self.blocks = size, -(-longest // size)
        self.entries = np.full((lanes * self.blocks, size, 2), -1)
        self.lines: list[dict] = []
        self.number = 0
        self.device = Device()
        self.gate: Gate | None = None

    def run(self, rows: Sequence[Row]) -> list[list[int]]:
        """Write what is new, read each lane back, and return what follows."""
        enter = time.monotonic_ns()
        if self.gate:
            self.gate.wait()
        places = [np.arange(row.start, row.start + len(row.tokens)) for row in rows]
        slots = np.concatenate([row.lane * self.blocks * self.size + place for row, place in zip(rows, places, strict=True)])
        tokens = np.concatenate([np.asarray(row.tokens) for row in rows])
        positions = np.concatenate(places)
        self.entries.reshape(-1, 2)[slots] = np.stack([tokens, positions], axis=1)
        cuts = np.cumsum([0, *map(len, places)]).tolist()
        tables = [np.arange(row.lane * self.blocks, (row.lane + 1) * self.blocks) for row in rows]
        lengths = [row.start + len(row.tokens) for row in rows]
        lines, following = [], []
        now = Iteration(tokens, positions, slots, cuts, lengths, tables)
        for row, (line, context) in zip(rows, rows_read(self.entries, now), strict=True):
            lines.append(line)
            ends = range(len(context) - row.checks + 1, len(context) + 1)
            following.append([language.next_token(context[:end]) for end in ends])
        self.device.pace(enter, len(tokens))
        self.number += 1
        times = {"enter_ns": enter, "exit_ns": time.monotonic_ns()}
        self.lines.append({"number": self.number, **times, "rows": lines})
        return following

    def log(self) -> list[dict]:
        """Return the new lines."""
        lines, self.lines = self.lines, []
        return lines


def guess(tokens: Sequence[int], count: int) -> list[int]:
    """Guess what follows: right, but for every fourth token of a context."""
    context = list(tokens)
    for _ in range(count):
        right = language.next_token(context)
        context.append(right if len(context) % 4 else language.FIRST + (right + 1 - language.FIRST) % language.BASE)
    return context[len(tokens) :]


class Opened:
    """The engine with the witness as its language model, and one configuration."""

    ahead = 0

    def __init__(self, config: EngineConfig) -> None:
        if not config.chunked_prefill:
            raise Unsupported("prompts that are always computed in one iteration")
        if config.policy != "fcfs":
            raise Unsupported("priorities")
        self.cells = Cells(config.max_num_seqs, config.max_model_len, config.block_size)
        self.engine = Engine(
            self.cells.run, lanes=config.max_num_seqs, batch=config.max_num_batched_tokens, longest=config.max_model_len,
            reuse=config.prefix_cache, draft=guess, ahead=self.ahead,
        )  # fmt: skip
        self.log = self.cells.log
        self.outputs: list[Output] = []

    def submit(self, request: Generation) -> None:
        """Send a request. A refusal is an output, not an exception."""
        try:
            self.engine.add(request.name, request.prompt, request.max_tokens, request.stop)
        except ValueError as refusal:
            self.outputs.append(Output(request.name, end="refused", text=str(refusal)))

    def step(self) -> tuple[list[Output], bool]:
        """Run one iteration; return what is new, and whether work is left."""
        self.outputs += [Output(*said) for said in self.engine.step()]
        outputs, self.outputs = self.outputs, []
        return outputs, self.engine.busy

    def abort(self, name: str) -> None:
        """Take a request back. The engine says nothing about its end, so the adapter does."""
        if self.engine.cancel(name):
            self.outputs.append(Output(name, end="abort"))

    def disconnect(self, name: str) -> None:
        """The client closes its connection: the engine cancels its request."""
        self.abort(name)

    def gauges(self) -> dict[str, float]:
        """Return what the engine says about itself."""
        return {"running": len(self.engine.running), "waiting": len(self.engine.waiting), **self.engine.counts}

    def device(self, base_ns: int, token_ns: int) -> None:
        """From now on, an iteration takes this long."""
        self.cells.device.set(base_ns, token_ns)

    def close(self) -> None:
        """End the engine: it has no thread and no process."""


class Drafting(Opened):
    """The same with speculative decoding: three guesses for each text."""

    ahead = 3


class Lanes:
    """The target: who it is, what it claims, and how to open the engine."""

    info = TargetInfo("lanes", "1.0", "lanes_adapter:Lanes", claims=CLAIMS, discipline="continuous")
    engine = Opened


class LanesDrafting:
    """The same with speculative decoding."""

    info = TargetInfo(
        "lanes-drafting", "1.0", "lanes_adapter:LanesDrafting", claims={**CLAIMS, "speculates": 3}, discipline="continuous"
    )
    engine = Drafting
