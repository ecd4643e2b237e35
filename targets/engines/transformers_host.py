"""Continuous batching of transformers in this process, one iteration at a time. Copied into its interpreter: see `host.py`.

Public interfaces used: `init_continuous_batching`, the manager's `warmup` (which makes its batch processor), `add_request`,
`cancel_request` and `output_router.output_queue`. Private ones: the body of the loop that its thread runs
(`_generation_loop_body`), which is called here instead of `start()`; the event that this body waits for when it has nothing
to do; and the thread's handling of an exception (`_handle_critical_error`). Scheduler, cache, preparation of inputs and
handling of outputs are the engine's own, unchanged.
"""

from __future__ import annotations

import gc
import os
import re
from collections.abc import Sequence
from importlib import metadata
from queue import Empty
from typing import Any

from batchproof_witness.device import DEVICE
from engine_host import CannotHave, Host, serve
from transformers import ContinuousBatchingConfig, GenerationConfig
from transformers.generation.continuous_batching import RequestStatus
from transformers_stubs import LOCAL, without_streams
from transformers_witness import Witness

DEVICE_NAME = os.environ.get("BATCHPROOF_DEVICE", "cpu")
ASYNC = os.environ.get("BATCHPROOF_BATCHING") == "async"
STUBS = ASYNC and DEVICE_NAME == "cpu"
CHILD = re.compile(r"(.*)__child#(\d+)")  # the engine's ID for a further continuation


def settings(config: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments of ContinuousBatchingConfig for an EngineConfig's facts.

    Everything else stays at its default, such as the scheduler's `safety_margin`. `max_model_len` has no counterpart: only
    the KV cache limits a text.
    """
    if config["policy"] != "fcfs":
        raise CannotHave("priorities of requests")
    if not config["chunked_prefill"]:
        raise CannotHave("prompts that are always computed in one iteration")
    return {
        "page_size": config["block_size"], "num_blocks": config["num_blocks"],
        "max_batch_tokens": config["max_num_batched_tokens"], "max_requests_per_batch": config["max_num_seqs"],
        "allow_block_sharing": config["prefix_cache"], "use_async_batching": ASYNC, "use_cuda_graph": False, "seed": 0,
        "scheduler_type": os.environ.get("BATCHPROOF_SCHEDULER", "fifo"),
    }  # fmt: skip


def sample_of(name: str) -> tuple[str, int]:
    """Return the name that was submitted, and the number of this continuation."""
    child = CHILD.fullmatch(name)
    return (child[1], int(child[2]) + 1) if child else (name, 0)


def news(before: Sequence[int], now: Sequence[int]) -> Sequence[int]:
    """Return the new tokens; all of them, if the engine has changed the earlier ones."""
    return now[len(before) :] if list(now[: len(before)]) == list(before) else now


class TransformersHost(Host):
    """One manager at a time."""

    name, version = "transformers", metadata.version("transformers") + (LOCAL if STUBS else "")
    pace = DEVICE

    def __init__(self) -> None:
        super().__init__()
        if STUBS:
            without_streams()
        self.manager: Any = None
        gc.freeze()  # closing an engine runs the garbage collector over everything that transformers has imported

    def start(self, config: dict[str, Any]) -> None:
        """Open an engine."""
        model = Witness(self.line).to(DEVICE_NAME)
        generation = GenerationConfig(do_sample=False, eos_token_id=-1)
        batching = ContinuousBatchingConfig(**settings(config))
        self.manager = model.init_continuous_batching(generation, batching)
        self.manager.warmup()
        self.manager.current_batch = 0
        self.bootstrapping = ASYNC  # the first iteration is launched, and nothing is read back yet
        self.said: dict[str, list[int]] = {}
        self.stops: dict[str, set[int]] = {}
        self.samples: dict[str, int] = {}

    def submit(self, request: dict[str, Any]) -> None:
        """Add a request. `num_return_sequences` belongs to the manager; a request takes its value when it is added."""
        if request["priority"]:
            raise CannotHave("priorities of requests")
        name, stop = request["name"], list(request["stop"])
        self.stops[name], self.samples[name] = set(stop), request["samples"]
        self.manager.num_return_sequences = request["samples"]
        taken = self.manager.add_request(
            list(request["prompt"]), name, request["max_tokens"], streaming=True, eos_token_id=stop or None
        )
        if taken is None:
            raise RuntimeError(self.manager.background_thread_status.can_accept_new_requests())

    def step(self) -> bool:
        """Run the body of the engine's loop once."""
        processor = self.manager.batch_processor
        self.manager._wake_up_loop.set()  # noqa: SLF001 - otherwise an iteration without work waits for a tenth of a second
        try:
            go_on = self.manager._generation_loop_body(processor, bootstrapping=self.bootstrapping)  # noqa: SLF001
            self.bootstrapping = self.bootstrapping and go_on
        except Exception as error:
            self.manager._handle_critical_error(error, processor)  # noqa: SLF001 - as the engine's thread does
        self._deliver()
        return bool(processor.has_pending_requests() or self.manager.input_queue.qsize())

    def abort(self, name: str) -> None:
        """Cancel a request and its further continuations, each of which has its own ID."""
        self.manager.cancel_request(name)
        for number in range(self.samples.get(name, 1) - 1):
            self.manager.cancel_request(f"{name}__child#{number}")

    def gauges(self) -> dict[str, float]:
        """Return gauges read from the engine's own tables; it publishes none. A block kept only for reuse counts as free."""
        processor = self.manager.batch_processor
        scheduler, cache = processor.scheduler, processor.cache
        (allocator,) = cache.cache_allocators.values()
        free = len(cache.pool.free_sectors) * allocator.blocks_per_sector
        free += cache.pool.count_free_blocks(allocator.index) + len(allocator.ledger.cached_blocks)
        waiting = len(scheduler.waiting_requests) + self.manager.input_queue.qsize()
        used = allocator.num_blocks - free
        return {"running": len(scheduler.active_requests), "waiting": waiting, "used_blocks": used, "free_blocks": free}

    def stop(self) -> None:
        """Drop the engine."""
        if self.manager is not None:
            self.manager.destroy()
            self.manager = None

    def _deliver(self) -> None:
        """Report what came out. The engine says that a text has ended, but not why; its last token shows that."""
        while True:
            try:
                output = self.manager.output_router.output_queue.get_nowait()
            except Empty:
                return
            name, sample = sample_of(output.request_id)
            tokens = news(self.said.get(output.request_id, []), output.generated_tokens)
            self.said[output.request_id] = list(output.generated_tokens)
            end = ""
            if output.is_finished():
                del self.said[output.request_id]
                stopped = self.stops[name].intersection(output.generated_tokens[-1:])
                end = "error" if output.status == RequestStatus.FAILED else "stop" if stopped else "length"
            self.put(name, tokens, end, sample, output.error or "")


if __name__ == "__main__":
    serve(TransformersHost())
