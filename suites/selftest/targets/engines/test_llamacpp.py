"""The adapter for llama.cpp: what it claims, that its weights say what the client computes, and its server's answers."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from batchproof import targets
from batchproof.reference_batcher.continuous import EngineConfig
from batchproof.suites.selftest.targets.engines import interpreter, needs
from batchproof.targets import witness
from batchproof.targets.claims import problems
from batchproof.targets.engines import Generation, Output
from batchproof.targets.engines.llamacpp import CLAIMS, LlamaCppTarget
from batchproof.targets.protocol import TargetError, Unsupported
from batchproof.targets.witness import graph_language as language

LONGEST = 128


def test_the_claims_are_claims():
    """Each claim exists, and has a value that it can have."""
    assert problems(CLAIMS) == []


def test_an_interpreter_without_llamacpp_is_named_with_the_way_to_install_it():
    """The message says what to do."""
    with pytest.raises(TargetError, match=r"does not have xllamacpp.*batchproof\[llamacpp\]"):
        targets.resolve(f"llamacpp?python={sys.executable}")


@pytest.fixture(scope="module")
def model() -> Iterator[tuple[ModuleType, dict[str, Any]]]:
    """Yield the module of the model, and its weights for short contexts."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "batchproof_witness", witness)
        from batchproof.targets.engines import llamacpp_witness

        yield llamacpp_witness, llamacpp_witness.weights(LONGEST)


def normed(entry: np.ndarray, weights: dict[str, Any], name: str) -> np.ndarray:
    """Return a layer norm of GPT-2, [..., width], in float32."""
    centred = entry - entry.mean(-1, keepdims=True)
    spread = np.sqrt((centred * centred).mean(-1, keepdims=True) + np.float32(1e-5))
    return centred / spread * weights[f"{name}.weight"] + weights[f"{name}.bias"]


def next_token(model: tuple[ModuleType, dict[str, Any]], context: tuple[int, ...], order: list[int] | None = None) -> int:
    """Return the next token as a GPT-2 computes it, in float32. order: the places from which the KV cache is read."""
    shape, weights = model
    count, width, heads = len(context), shape.WIDTH, shape.HEADS
    entries = weights["token_embd.weight"][list(context)] + weights["position_embd.weight"][:count]
    both = normed(entries, weights, "blk.0.attn_norm") @ weights["blk.0.attn_qkv.weight"].T + weights["blk.0.attn_qkv.bias"]
    query, key, value = both.reshape(count, 3, heads, width // heads).transpose(1, 2, 0, 3)
    read = list(range(count)) if order is None else order
    scores = np.einsum("hd,hnd->hn", query[:, -1], key[:, read]) / np.float32(np.sqrt(width // heads))
    seen = np.exp(scores - scores.max(1, keepdims=True))
    found = np.einsum("hn,hnd->hd", seen / seen.sum(1, keepdims=True), value[:, read]).reshape(width)
    entry = entries[-1] + found @ weights["blk.0.attn_output.weight"].T
    for name in ("blk.0", "blk.1"):
        hidden = normed(entry, weights, f"{name}.ffn_norm") @ weights[f"{name}.ffn_up.weight"].T
        hidden = hidden + weights[f"{name}.ffn_up.bias"]
        with np.errstate(over="ignore"):
            active = hidden / (1 + np.exp(-1.702 * hidden))  # as good as GELU where the weights use it: far from zero
        entry = entry + active @ weights[f"{name}.ffn_down.weight"].T + weights[f"{name}.ffn_down.bias"]
    return int(np.argmax(normed(entry, weights, "output_norm") @ weights["output.weight"].T))


@pytest.mark.parametrize("length", [1, 2, 5, 32, 33, 64, 100, LONGEST])
def test_the_weights_say_what_the_client_computes(model: tuple[ModuleType, dict[str, Any]], length: int):
    """From the shortest prompt to the longest context, for several requests."""
    for serial in (1, 300, 70_000):
        prompt = language.prompt(serial, length)
        assert next_token(model, prompt) == language.next_token(prompt)


def test_the_weights_notice_an_entry_that_is_read_from_another_place(model: tuple[ModuleType, dict[str, Any]]):
    """A missing entry, one that is read twice, and a neighbour's; another order of the right ones changes nothing."""
    prompt = language.prompt(9, 70)
    places = list(range(70))

    for wrong in ([*places[:40], *places[41:]], [*places, 50], [*places[:30], 31, *places[31:]]):
        assert next_token(model, prompt, wrong) != language.next_token(prompt)
    assert next_token(model, prompt, [0, *places[:0:-1]]) == language.next_token(prompt)


@pytest.fixture(scope="module")
def target() -> Iterator[LlamaCppTarget]:
    """Yield the target in the interpreter that the environment names."""
    found = LlamaCppTarget(interpreter("llamacpp"))
    yield found
    found.close()


def run(target: LlamaCppTarget, config: EngineConfig, *requests: Generation) -> dict:
    """Return each request's text and ends, by name and sample."""
    engine = target.engine(config)
    for request in requests:
        engine.submit(request)
    outputs: list[Output] = []
    busy = True
    while busy:
        found, busy = engine.step()
        outputs += found
    keys = {(one.name, one.sample) for one in outputs}
    return {
        key: (
            tuple(token for one in outputs if (one.name, one.sample) == key for token in one.tokens),
            [one.end for one in outputs if (one.name, one.sample) == key and one.end],
        )
        for key in keys
    }


@needs("llamacpp")
def test_the_servers_texts_are_the_clients(target: LlamaCppTarget):
    """More requests than slots, prompts in chunks, samples, and a stop token."""
    requests = [Generation(f"r{one}", one, language.prompt(one, 10 + 9 * one), 12) for one in range(1, 7)]
    several = Generation("n", 20, language.prompt(20, 30), 5, samples=2)
    text = language.continuation(language.prompt(21, 30), 6)
    stopped = Generation("s", 21, language.prompt(21, 30), 20, stop=(text[3],))
    found = run(target, EngineConfig(max_num_batched_tokens=32), *requests, several, stopped)

    assert found.pop(("s", 0)) == (text[:4], ["stop"])
    assert found == {
        **{(one.name, 0): (language.continuation(one.prompt, 12), ["length"]) for one in requests},
        **{("n", sample): (language.continuation(several.prompt, 5), ["length"]) for sample in range(2)},
    }


@needs("llamacpp")
def test_the_longest_text_is_what_was_asked_for(target: LlamaCppTarget):
    """A text ends there; a prompt that leaves no room is refused, in the server's words."""
    over = Generation("over", 1, language.prompt(1, 90), 20)
    long = Generation("long", 2, language.prompt(2, 100), 20)
    found = run(target, EngineConfig(max_model_len=100), over, long)

    assert found == {("over", 0): (language.continuation(over.prompt, 10), ["length"]), ("long", 0): ((), ["refused"])}


@needs("llamacpp")
def test_what_it_does_not_have_is_unsupported(target: LlamaCppTarget):
    """Priorities, whole prompts, and a cache that slots share."""
    for config in (EngineConfig(policy="priority"), EngineConfig(chunked_prefill=False), EngineConfig(num_blocks=4)):
        with pytest.raises(Unsupported):
            target.engine(config)


@needs("llamacpp")
def test_a_client_that_leaves_takes_its_request_back(target: LlamaCppTarget):
    """The server is idle soon after, and serves the next request."""
    engine = target.engine(EngineConfig(max_num_seqs=1))
    engine.submit(Generation("gone", 1, language.prompt(1, 20), 200))
    engine.submit(next_ := Generation("next", 2, language.prompt(2, 20), 3))
    engine.abort("gone")
    outputs: list[Output] = []
    while not any(one.name == "next" and one.end for one in outputs):
        outputs += engine.step()[0]

    assert tuple(token for one in outputs if one.name == "next" for token in one.tokens) == language.continuation(
        next_.prompt, 3
    )
    assert engine.gauges()["running"] == 0
