"""SGLang's scheduler in this process, one iteration at a time. This file is copied into SGLang's interpreter.

An iteration is the body of the scheduler's own `event_loop_normal`. Requests are the messages that its tokenizer manager
would send, after that manager's checks of lengths; the scheduler's messages are taken before they reach the socket.
"""

from __future__ import annotations

import os
from array import array
from pathlib import Path
from typing import Any

import sglang_witness
import torch
from batchproof_witness.device import DEVICE
from engine_host import CannotHave
from sglang.srt.managers.io_struct import AbortReq, BatchTokenIDOutput, TokenizedGenerateReqInput
from sglang.srt.managers.scheduler import Scheduler
from sglang.srt.managers.scheduler_components.output_sender import SenderWrapper
from sglang.srt.runtime_context import SpawnRanks, publish
from sglang.srt.sampling.sampling_params import SamplingParams
from sglang.srt.server_args import PortArgs, ServerArgs


def arguments(config: dict[str, Any], folder: Path) -> dict[str, Any]:
    """Return the arguments of SGLang's server for an EngineConfig's facts; all else stays at its default."""
    budget = config["max_num_batched_tokens"]
    if config["chunked_prefill"] and budget % config["block_size"]:
        raise CannotHave("a token budget that is not a multiple of the block size")
    priorities = config["policy"] == "priority"
    return {
        "model_path": sglang_witness.model(folder / "model"), "load_format": "dummy", "device": "cpu", "dtype": "float32",
        "attention_backend": "torch_native", "sampling_backend": "pytorch", "skip_tokenizer_init": True,
        "disable_overlap_schedule": True, "random_seed": 0, "log_level": "warning",
        "max_running_requests": config["max_num_seqs"], "max_prefill_tokens": budget,
        "chunked_prefill_size": budget if config["chunked_prefill"] else -1, "page_size": config["block_size"],
        "max_total_tokens": config["num_blocks"] * config["block_size"], "context_length": config["max_model_len"],
        "disable_radix_cache": not config["prefix_cache"], "schedule_policy": "fcfs",
        "schedule_conservativeness": float(os.environ.get("BATCHPROOF_CONSERVATIVENESS", "1")),
        "enable_priority_scheduling": priorities, "schedule_low_priority_values_first": priorities,
    }  # fmt: skip


class Engine:
    """A scheduler with its worker, pools and radix cache."""

    def __init__(self, config: dict[str, Any], folder: Path) -> None:
        args = ServerArgs(**arguments(config, folder))
        publish(args, role="scheduler", ranks=SpawnRanks(world_rank=0, gpu_id=0))
        self.config, self.sent = config, []
        SenderWrapper.send_output = lambda _, output, *__: self.sent.append(output)
        self.scheduler: Any = Scheduler(args, PortArgs.init_new(args))

    def submit(self, request: dict[str, Any]) -> None:
        """Hand over a request, unless the tokenizer manager would refuse it."""
        prompt, limit, longest = request["prompt"], request["max_tokens"], self.config["max_model_len"]
        if request["samples"] > 1:
            raise CannotHave("several continuations of a prompt, which the tokenizer manager turns into requests")
        if not prompt:
            raise ValueError("input_ids cannot be empty.")
        if len(prompt) >= longest or len(prompt) + limit > longest:
            raise ValueError(f"{len(prompt)} and {limit} tokens exceed the context length of {longest}")
        params = SamplingParams(max_new_tokens=limit, temperature=0.0, stop_token_ids=request["stop"] or None)
        params.normalize(None)
        params.verify(1 << 30)
        priority = request["priority"] if self.config["policy"] == "priority" else None
        self.scheduler.process_input_requests([
            TokenizedGenerateReqInput(
                rid=request["name"], input_text="", input_ids=array("q", prompt), input_embeds=None, mm_inputs=None,
                token_type_ids=None, sampling_params=params, return_logprob=False, logprob_start_len=-1, top_logprobs_num=0,
                token_ids_logprob=None, stream=True, priority=priority,
            )
        ])  # fmt: skip

    @torch.no_grad()
    def step(self) -> bool:
        """Run the body of the scheduler's loop, and return whether work is left."""
        one = self.scheduler
        one.ingest_requests()
        plan = one.get_next_batch_to_run(running_batch=one.running_batch, last_batch=one.last_batch)
        one.running_batch, batch = plan.running_batch, plan.batch_to_run
        one.cur_batch_for_debug = batch
        if batch:
            one.process_batch_result(batch, one.run_batch(batch))
        else:
            one._sched_idled = True  # noqa: SLF001
            one.on_idle()
        one.last_batch = batch
        return not one.is_fully_idle()

    def abort(self, name: str) -> None:
        """Abort a request. The scheduler aborts every request whose ID begins with this name."""
        self.scheduler.process_input_requests([AbortReq(rid=name)])

    def gauges(self) -> dict[str, float]:
        """Return what the scheduler publishes for load balancers. A block kept only for reuse counts as free."""
        loads, size = self.scheduler.load_inquirer.get_loads(), self.config["block_size"]
        used = -(-loads.num_used_tokens // size)
        return {
            "running": loads.num_running_reqs, "waiting": loads.num_waiting_reqs, "used_blocks": used,
            "free_blocks": self.config["num_blocks"] - used,
        }  # fmt: skip

    def device(self, base_ns: int, token_ns: int) -> None:
        """Make each iteration take a set time."""
        DEVICE.set(base_ns, token_ns)

    def news(self) -> tuple[list[list[Any]], list[dict[str, Any]]]:
        """Return what came out ([name, tokens, end, text]) and the witness's lines, and forget them."""
        found = [one for output in self.sent for one in told(output)]
        lines = list(sglang_witness.LINES)
        self.sent.clear()
        sglang_witness.LINES.clear()
        return found, lines


def told(output: Any) -> list[list[Any]]:
    """Return [name, tokens, end, text] of each request in a message from the scheduler."""
    if isinstance(output, BatchTokenIDOutput):
        reasons = [reason or {} for reason in output.finished_reasons]
        return [
            [name, list(tokens), *ending(reason)]
            for name, tokens, reason in zip(output.rids, output.output_ids, reasons, strict=True)
        ]
    if isinstance(output, AbortReq):
        return [[output.rid, [], *ending({"type": "abort", **(output.finished_reason or {})})]]
    return []


def ending(reason: dict[str, Any]) -> tuple[str, str]:
    """Return the end and the engine's message for a finish reason; ("", "") without one.

    An abort with a status is the scheduler's own refusal (4xx, the client's fault) or an error.
    """
    kind, status, text = reason.get("type", ""), reason.get("status_code"), reason.get("message") or ""
    if kind == "abort" and status:
        return ("refused" if int(status) < 500 else "error"), text
    return kind, text
