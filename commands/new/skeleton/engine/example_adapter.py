"""An adapter: lets Batchproof judge the engine of `example_engine.py`, which has continuous batching."""

from example_engine import Engine

from batchproof.reference_batcher.continuous import EngineConfig
from batchproof.targets import TargetInfo, Unsupported
from batchproof.targets.engines import Generation, Output
from batchproof.targets.witness.paged import PagedCache

CLAIMS = {
    "iterations": "stepped", "joins_within": 1, "admission": "arrival", "chunked_prefill": True, "streaming": True,
    "mixed_iterations": True, "kv_blocks": True, "stop_tokens": True, "gauges": True, "cancel": True,
    "duplicate_ids": "refused",
}  # fmt: skip


class Opened:
    """The engine with the witness as its language model, and one configuration."""

    def __init__(self, config: EngineConfig) -> None:
        if not config.chunked_prefill:
            raise Unsupported("prompts that are always computed in one iteration")
        self.blocks = config.num_blocks
        self.cache = PagedCache(config.num_blocks, config.block_size)
        self.engine = Engine(
            self.cache.run, max_seqs=config.max_num_seqs, budget=config.max_num_batched_tokens,
            block_size=config.block_size, blocks=config.num_blocks, longest=config.max_model_len,
        )  # fmt: skip
        self.log = self.cache.log
        self.outputs: list[Output] = []

    def submit(self, request: Generation) -> None:
        """Send a request. A refusal is an output, not an exception."""
        try:
            self.engine.add(request.name, request.prompt, request.max_tokens, request.stop)
        except ValueError as refusal:
            self.outputs.append(Output(request.name, end="refused", text=str(refusal)))

    def step(self) -> tuple[list[Output], bool]:
        """Run one iteration; return what is new, and whether work is left."""
        self.outputs += [Output(name, (token,), end) for name, token, end in self.engine.step()]
        outputs, self.outputs = self.outputs, []
        return outputs, self.engine.busy

    def abort(self, name: str) -> None:
        """Take a request back. The engine says nothing about its end, so the adapter does."""
        if self.engine.abort(name):
            self.outputs.append(Output(name, end="abort"))

    def gauges(self) -> dict[str, float]:
        """Return what the engine says about itself."""
        free = len(self.engine.free)
        return {"running": len(self.engine.running), "waiting": len(self.engine.waiting),
                "used_blocks": self.blocks - free, "free_blocks": free}  # fmt: skip

    def close(self) -> None:
        """End the engine: this one has no thread and no process."""


class Example:
    """The target: who it is, what it claims, and how to open the engine."""

    info = TargetInfo("example", "1.0", "example_adapter:Example", claims=CLAIMS, discipline="continuous")
    engine = Opened
