"""Shows what the server of llama.cpp does when it is asked for no tokens (docs/stacks/llamacpp.md).

    python llamacpp_engine.py

Needs `pip install xllamacpp gguf`; nothing is downloaded. The model is a small Llama with random weights, made here.
"""

import http.client
import json
import pathlib
import tempfile

import gguf
import numpy as np
import xllamacpp

WIDTH, WORDS = 64, 300
RANDOM = np.random.default_rng(1)


def model() -> str:
    """Return the path of the model."""
    path = pathlib.Path(tempfile.mkdtemp()) / "model.gguf"
    file = gguf.GGUFWriter(path, "llama")
    file.add_context_length(256)
    file.add_embedding_length(WIDTH)
    file.add_feed_forward_length(WIDTH)
    file.add_block_count(1)
    file.add_head_count(2)
    file.add_layer_norm_rms_eps(1e-5)
    file.add_rope_dimension_count(WIDTH // 2)
    file.add_tokenizer_model("llama")
    file.add_token_list([f"<{word}>" for word in range(WORDS)])
    file.add_token_scores([0.0] * WORDS)
    file.add_token_types([gguf.TokenType.NORMAL] * WORDS)
    file.add_add_bos_token(False)
    square = ("attn_q", "attn_k", "attn_v", "attn_output", "ffn_gate", "ffn_up", "ffn_down")
    shapes = {f"blk.0.{name}": (WIDTH, WIDTH) for name in square} | dict.fromkeys(("token_embd", "output"), (WORDS, WIDTH))
    for name, shape in shapes.items():
        file.add_tensor(f"{name}.weight", RANDOM.normal(0, 0.3, shape).astype(np.float32))
    for name in ("blk.0.attn_norm", "blk.0.ffn_norm", "output_norm"):
        file.add_tensor(f"{name}.weight", np.ones(WIDTH, np.float32))
    file.write_header_to_file()
    file.write_kv_data_to_file()
    file.write_tensors_to_file()
    file.close()
    return str(path)


asked = xllamacpp.CommonParams()
asked.model.path = model()
asked.hostnames, asked.port = ["127.0.0.1"], 0
asked.verbosity = -1
server = xllamacpp.Server(asked)
for count in (2, 1, 0):
    body = json.dumps({"prompt": list(range(20, 40)), "n_predict": count, "return_tokens": True, "temperature": 0})
    line = http.client.HTTPConnection(server.listening_address.partition("//")[2])
    line.request("POST", "/completion", body)
    said = json.load(line.getresponse())
    print(f"  n_predict {count}: {len(said['tokens'])} tokens, {said['stop_type']}")
