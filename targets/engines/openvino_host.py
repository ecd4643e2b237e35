"""Runs OpenVINO GenAI's ContinuousBatchingPipeline one `step()` at a time. Copied into its interpreter: see `host.py`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import openvino
import openvino_genai
from engine_host import CannotHave, Host, serve
from openvino_genai import GenerationFinishReason, GenerationStatus
from openvino_witness import Look, write

BLOCK = 32  # tokens in a KV block on a CPU, which cannot be configured
EXACT = {"KV_CACHE_PRECISION": "f32", "INFERENCE_PRECISION_HINT": "f32", "INFERENCE_NUM_THREADS": 1}
REASONS = {GenerationFinishReason.STOP: "stop", GenerationFinishReason.LENGTH: "length"}
STATUSES = {GenerationStatus.CANCEL: "abort", GenerationStatus.STOP: "abort", GenerationStatus.IGNORED: "error"}


class Sent:
    """A request under way: its handle, and the samples that have not ended."""

    def __init__(self, name: str, handle: Any, samples: int) -> None:
        self.name, self.handle, self.open = name, handle, set(range(samples))


class OpenVinoHost(Host):
    """Each engine is a new pipeline."""

    name, version = "openvino", openvino_genai.__version__

    def __init__(self) -> None:
        super().__init__()
        self.model = write(Path(__file__).with_name("model"))
        self.pipe: Any = None
        Look.tell = self.told

    def start(self, config: dict[str, Any]) -> None:
        """Open a pipeline."""
        if config["policy"] != "fcfs":
            raise CannotHave("priorities of requests")
        if config["block_size"] != BLOCK:
            raise CannotHave(f"KV blocks of any size but {BLOCK} tokens")
        self.stop()
        wanted = openvino_genai.SchedulerConfig()
        wanted.max_num_seqs = config["max_num_seqs"]
        wanted.max_num_batched_tokens = config["max_num_batched_tokens"]
        wanted.num_kv_blocks = config["num_blocks"]
        wanted.dynamic_split_fuse = config["chunked_prefill"]
        wanted.enable_prefix_caching = config["prefix_cache"]
        properties = {**EXACT, "extensions": [Look]}
        self.pipe = openvino_genai.ContinuousBatchingPipeline(self.model, wanted, "CPU", properties)
        self.blocks = config["num_blocks"]
        self.sent: list[Sent] = []
        self.ids: dict[str, int] = {}
        self.number = 0

    def submit(self, request: dict[str, Any]) -> None:
        """Add a request; equal names get equal IDs."""
        asked = openvino_genai.GenerationConfig()
        asked.max_new_tokens = request["max_tokens"]
        asked.stop_token_ids = set(request["stop"])
        if request["samples"] > 1:
            asked.do_sample, asked.top_k, asked.num_return_sequences = True, 1, request["samples"]
        name = request["name"]
        number = self.ids.setdefault(name, len(self.ids))
        prompt = openvino.Tensor(np.array([request["prompt"]], np.int64).reshape(1, -1))
        self.sent.append(Sent(name, self.pipe.add_request(number, prompt, asked), request["samples"]))

    def step(self) -> bool:
        """Run an iteration, and read every handle."""
        self.pipe.step()
        for one in self.sent:
            self.read(one)
        self.sent = [one for one in self.sent if one.open]
        return bool(self.pipe.has_non_finished_requests())

    def read(self, one: Sent) -> None:
        """Report what a handle has. A sample ends with its finish reason, or else with the handle's status."""
        while one.handle.can_read():
            for sample, found in one.handle.read().items():
                end = REASONS.get(found.finish_reason, "")
                if found.generated_ids or end:
                    self.put(one.name, found.generated_ids, end, sample)
                if end:
                    one.open.discard(sample)
        status = one.handle.get_status()
        if end := STATUSES.get(status, ""):
            for sample in sorted(one.open):
                self.put(one.name, (), end, sample, status.name)
            one.open.clear()

    def abort(self, name: str) -> None:
        """Cancel the requests with this name."""
        for one in self.sent:
            if one.name == name:
                one.handle.cancel()

    def gauges(self) -> dict[str, float]:
        """Return the pipeline's metrics."""
        said = self.pipe.get_metrics()
        used = round(said.cache_usage * self.blocks / 100)
        return {"running": said.scheduled_requests, "waiting": said.requests - said.scheduled_requests,
                "used_blocks": used, "free_blocks": self.blocks - used}  # fmt: skip

    def stop(self) -> None:
        """End the pipeline."""
        self.pipe = None
        self.sent = []

    def told(self, enter_ns: int, exit_ns: int, rows: list[Any]) -> None:
        """Report an iteration that the model has seen."""
        self.number += 1
        self.line(self.number, enter_ns, exit_ns, rows)


if __name__ == "__main__":
    serve(OpenVinoHost())
