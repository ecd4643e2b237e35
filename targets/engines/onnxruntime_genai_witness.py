"""The witness of ONNX Runtime GenAI: an operation that keeps its data in the engine's own paged KV cache.

This file travels: it needs numpy, onnx, onnxruntime-extensions, and `batchproof_witness`.

The operation gets what PagedAttention gets in the models that the engine is made for: the new tokens of all rows, the block
table, the rows' lengths and the cache. It writes (token, position) through the block table, and reads each context back.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from batchproof_witness import language
from batchproof_witness.device import DEVICE
from batchproof_witness.paged import Iteration, rows_of
from onnx import TensorProto, helper
from onnxruntime_extensions import PyOp, get_library_path, onnx_op

HEAD = 16
DOMAIN = "ai.onnx.contrib"  # where onnxruntime-extensions puts operations written in Python
ENTRY = ["num_blocks", "block_size", 1, HEAD]
INPUTS = {
    "input_ids": (TensorProto.INT64, ["num_tokens"]),
    "block_table": (TensorProto.INT32, ["batch_size", "max_num_blocks"]),
    "cumulative_sequence_lengths": (TensorProto.INT32, ["batch_size + 1"]),
    "past_sequence_lengths": (TensorProto.INT32, ["batch_size"]),
    "past_key_values.0.key": (TensorProto.FLOAT, ENTRY),
    "past_key_values.0.value": (TensorProto.FLOAT, ENTRY),
}
OUTPUTS = {
    "logits": (TensorProto.FLOAT, ["num_tokens", language.VOCABULARY]),
    "present.0.key": (TensorProto.FLOAT, ENTRY),
    "present.0.value": (TensorProto.FLOAT, ENTRY),
}

Tell = Callable[[int, int, list[list[Any]]], None]


class Told:
    """Who is told about an iteration: (enter_ns, exit_ns, rows)."""

    tell: Tell = staticmethod(lambda *_: None)


@onnx_op(
    op_type="BatchproofWitness",
    inputs=[PyOp.dt_int64, PyOp.dt_int32, PyOp.dt_int32, PyOp.dt_int32, PyOp.dt_float, PyOp.dt_float],
    outputs=[PyOp.dt_float, PyOp.dt_float, PyOp.dt_float],
)
def witness(ids: Any, table: Any, begins: Any, past: Any, keys: Any, values: Any) -> tuple[Any, Any, Any]:
    """Run an iteration: logits [tokens, VOCABULARY], and the cache with the new entries. See `INPUTS`."""
    enter_ns = time.monotonic_ns()
    cache = np.array(keys)
    new = np.diff(begins)
    positions = np.concatenate([np.arange(first, first + count) for first, count in zip(past, new, strict=True)])
    size = cache.shape[1]
    rows = np.repeat(np.arange(len(new)), new)
    slots = table[rows, positions // size] * size + positions % size
    entries = cache[:, :, 0, :2]
    logits, told = np.zeros((len(ids), language.VOCABULARY), np.float32), []
    for last, (row, token) in zip(
        begins[1:], rows_of(entries, Iteration(ids, positions, slots, begins, (past + new).tolist(), table)), strict=True
    ):
        logits[last - 1, token] = 1
        told.append(row)
    DEVICE.pace(enter_ns, len(ids))
    Told.tell(enter_ns, time.monotonic_ns(), told)
    return logits, cache, values


def write(folder: Path, config: dict[str, Any]) -> Path:
    """Write the model and its genai_config.json for an EngineConfig's facts; return the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    inputs = [helper.make_tensor_value_info(name, *one) for name, one in INPUTS.items()]
    outputs = [helper.make_tensor_value_info(name, *one) for name, one in OUTPUTS.items()]
    node = helper.make_node("BatchproofWitness", list(INPUTS), list(OUTPUTS), domain=DOMAIN)
    graph = helper.make_graph([node], "witness", inputs, outputs)
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid(DOMAIN, 1)]
    onnx.save(helper.make_model(graph, opset_imports=opsets, ir_version=9), folder / "model.onnx")
    (folder / "genai_config.json").write_text(json.dumps(described(config)), encoding="utf-8")
    return folder


def described(config: dict[str, Any]) -> dict[str, Any]:
    """Return the model's genai_config.json."""
    decoder = {
        "session_options": {"custom_ops_library": get_library_path(), "intra_op_num_threads": 1},
        "filename": "model.onnx", "head_size": HEAD, "hidden_size": HEAD,
        "num_attention_heads": 1, "num_hidden_layers": 1, "num_key_value_heads": 1,
        "inputs": {
            **{name: name for name in list(INPUTS)[:4]},
            "past_key_names": "past_key_values.%d.key", "past_value_names": "past_key_values.%d.value",
        },
        "outputs": {"logits": "logits", "present_key_names": "present.%d.key", "present_value_names": "present.%d.value"},
    }  # fmt: skip
    longest = config["max_model_len"]
    model = {
        "type": "llama", "vocab_size": language.VOCABULARY, "context_length": longest, "bos_token_id": 1,
        "eos_token_id": language.END_OF_TEXT, "pad_token_id": 0, "decoder": decoder,
    }  # fmt: skip
    batching = {
        "max_batch_size": config["max_num_seqs"], "max_scheduled_tokens": config["max_num_batched_tokens"],
        "block_size": config["block_size"], "num_blocks": config["num_blocks"], "prefix_caching": config["prefix_cache"],
    }  # fmt: skip
    search = {"max_length": longest, "past_present_share_buffer": True, "do_sample": False}
    return {"model": model, "search": search, "engine": {"dynamic_batching": batching}}
