"""Shows what the Engine of ONNX Runtime GenAI does when its KV cache is full (docs/stacks/onnxruntime-genai.md).

    python onnxruntime_genai_engine.py [stuck | passed]

Needs `pip install onnxruntime-genai onnx onnxruntime-extensions`; nothing is downloaded. The model is made here: an
operation that looks at nothing and always says the token 7.
"""

import json
import os
import pathlib
import sys
import tempfile
from typing import Any

import numpy as np
import onnx
import onnxruntime_extensions as extensions
import onnxruntime_genai as og
from onnx import TensorProto, helper

CACHE = ["num_blocks", "block_size", 1, 16]
INPUTS = {
    "input_ids": (TensorProto.INT64, ["tokens"]), "block_table": (TensorProto.INT32, ["rows", "blocks"]),
    "cumulative_sequence_lengths": (TensorProto.INT32, ["ends"]), "past_sequence_lengths": (TensorProto.INT32, ["rows"]),
    "past_key_values.0.key": (TensorProto.FLOAT, CACHE), "past_key_values.0.value": (TensorProto.FLOAT, CACHE),
}  # fmt: skip
OUTPUTS = {"logits": (TensorProto.FLOAT, ["tokens", 100]), "present.0.key": INPUTS["past_key_values.0.key"],
           "present.0.value": INPUTS["past_key_values.0.value"]}  # fmt: skip
P = extensions.PyOp


@extensions.onnx_op(op_type="Seven", inputs=[P.dt_int64, *[P.dt_int32] * 3, *[P.dt_float] * 2], outputs=[P.dt_float] * 3)
def seven(ids: Any, _table: Any, _ends: Any, _past: Any, keys: Any, values: Any) -> tuple[Any, Any, Any]:
    """Say 7 for each token."""
    return np.eye(100, dtype=np.float32)[np.full(len(ids), 7)], keys, values


def engine(blocks: int, rows: int) -> og.Engine:
    """Return an engine with so many KV blocks of 16 tokens."""
    folder = pathlib.Path(tempfile.mkdtemp())
    infos = [[helper.make_tensor_value_info(name, *one) for name, one in side.items()] for side in (INPUTS, OUTPUTS)]
    node = helper.make_node("Seven", list(INPUTS), list(OUTPUTS), domain="ai.onnx.contrib")
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("ai.onnx.contrib", 1)]
    graph = helper.make_graph([node], "g", *infos)
    onnx.save(helper.make_model(graph, opset_imports=opsets, ir_version=9), folder / "m.onnx")
    decoder = {
        "session_options": {"custom_ops_library": extensions.get_library_path()}, "filename": "m.onnx", "head_size": 16,
        "hidden_size": 16, "num_attention_heads": 1, "num_hidden_layers": 1, "num_key_value_heads": 1,
        "inputs": {**{name: name for name in list(INPUTS)[:4]}, "past_key_names": "past_key_values.%d.key",
                   "past_value_names": "past_key_values.%d.value"},
        "outputs": {"logits": "logits", "present_key_names": "present.%d.key", "present_value_names": "present.%d.value"},
    }  # fmt: skip
    model = {"type": "llama", "vocab_size": 100, "context_length": 128, "eos_token_id": 2, "pad_token_id": 0}
    batching = {"max_batch_size": rows, "block_size": 16, "num_blocks": blocks, "prefix_caching": False}
    config = {"model": {**model, "decoder": decoder}, "search": {"max_length": 128, "past_present_share_buffer": True},
              "engine": {"dynamic_batching": batching}}  # fmt: skip
    (folder / "genai_config.json").write_text(json.dumps(config))
    os.chdir(pathlib.Path(extensions.get_library_path()).parent)  # else it may not be loaded
    return og.Engine(og.Model(str(folder)))


def sent(to: og.Engine, length: int, count: int) -> og.Request:
    """Send a prompt of so many tokens that wants so many more."""
    request = to.create_request()
    options = og.TurnOptions(request)
    options.set_max_generated_tokens(count)
    request.begin_turn(np.full(length, 5, np.int32), options)
    return request


def stuck() -> None:
    """Two requests need 3 of 4 blocks each in the end, and have 2 each after a while."""
    one = engine(blocks=4, rows=4)
    requests = [sent(one, 16, 30) for _ in range(2)]
    events, counts, said = one.create_event_buffer(8), [0, 0], ""
    for _ in range(1000):
        for event in one.run(events):
            if event.request in requests:
                counts[requests.index(event.request)] += 1
            said = f"{event.error_code.name}, pending {one.has_pending_requests()}"
    print(f"  after 1000 iterations: {counts} tokens of 30, the last event is {said}")


def passed() -> None:
    """A prompt of 6 of 8 blocks comes first; small requests keep two places busy."""
    one = engine(blocks=8, rows=4)
    small, events, ended = [sent(one, 40, 6 + place) for place in range(2)], one.create_event_buffer(8), 0
    one.run(events)
    large = sent(one, 96, 4)
    for place in range(1000):
        for event in one.run(events):
            if event.request == large:
                print(f"  the large one begins after {ended} small ones that came later")
                return
            if event.finish_reason != og.FinishReason.NONE:
                event.request.close()
                ended += 1
                small.append(sent(one, 40, 6 + place % 3))
    print(f"  the large one has not begun after 1000 iterations, in which {ended} small ones were served")


CASES = {"stuck": stuck, "passed": passed}
for name in sys.argv[1:] or CASES:
    print(name)
    CASES[name]()
