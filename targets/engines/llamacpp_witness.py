"""`graph_language` as the weights of a two-layer GPT-2, for llama.cpp. Copied into other interpreters: needs numpy and gguf.

**Sums.** Each position belongs to one of `HEADS` classes, and each head of the first layer sees only the positions of its
own class, because the keys encode the class. Every head also sees the first position, with a weight so much larger that it
alone determines the softmax's divisor. That position itself adds nothing (`BEGIN`), so a head computes a sum, in units of
exp(-`APART`), not a mean.

**Remainders.** The first feed-forward layer reduces each of these small sums modulo 4 and adds up the remainders, mixed as
in `language.MIXED`; the second one reduces their sum. A remainder is computed by ramps between integers, because GELU is
exact far from zero. All numbers are small enough for float32 to distinguish neighbouring integers by orders of magnitude.

**Norms.** Two elements of each hidden state, +`LARGE` and -`LARGE`, outweigh all others, so a layer norm is a division by a
constant. Weights read differences from a third element that is always zero, so the mean does not matter.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from batchproof_witness import graph_language as language

WIDTH = 256
HEADS = language.CLASSES
HEAD = WIDTH // HEADS
LAYERS = 2
LONGEST = 2048  # tokens in a context: the layers grow with it
LARGE = 1e7
APART = 18.0  # gaps in a head's scores: between the first position and its own class, and between that and all other classes
STEEP = 64.0  # GELU is exact this far from zero, at a quarter of a token
SHARP = 16.0  # the lead of the best score
NEVER = -1e6  # the score of a token that is never generated
EPSILON = 1e-5
RADIX, DIGITS = language.RADIX, language.DIGITS

# The elements of a hidden state. ZERO never changes; the layers write SUMS and what follows.
PLUS, MINUS, ZERO, SINK, OWN = 0, 1, 2, 3, 4
CLASSES = OWN + DIGITS
SUMS = CLASSES + HEADS
TOTALS = SUMS + HEADS * DIGITS
RESULT = TOTALS + DIGITS

Weights = dict[str, Any]


def weights(longest: int) -> Weights:
    """Return the model's tensors by their names in a GGUF file, float32, for contexts of up to `longest` tokens."""
    steps = 2 * (RADIX - 1) * math.ceil(longest / HEADS) // RADIX
    totals = 3 * (RADIX - 1) * HEADS // RADIX
    hidden = math.ceil(HEADS * DIGITS * (2 * steps + 1) / 32) * 32
    scale = np.full(WIDTH, LARGE * math.sqrt(2 / WIDTH), np.float32)
    first = Layer(hidden)
    for head in range(HEADS):
        for digit in range(DIGITS):
            source, factor = language.MIXED[head][digit]
            first.add_remainder(SUMS + head * DIGITS + source, TOTALS + digit, steps, factor)
    second = Layer(hidden)
    for digit in range(DIGITS):
        second.add_remainder(TOTALS + digit, RESULT + digit, totals)
    found = {**_ends(longest), "output_norm.weight": scale, "output_norm.bias": _zeros(WIDTH)}
    for number, layer in enumerate((first, second)):
        attention = _attention() if number == 0 else {name: np.zeros_like(one) for name, one in _attention().items()}
        norms = {f"{place}_norm.{part}": scale if part == "weight" else _zeros(WIDTH)
                 for place in ("attn", "ffn") for part in ("weight", "bias")}  # fmt: skip
        found |= {f"blk.{number}.{name}": one for name, one in {**attention, **norms, **layer.tensors()}.items()}
    return found


class Layer:
    """A feed-forward layer: `down` x GELU(`up` x state + bias) + bias, which is added to the state."""

    def __init__(self, hidden: int) -> None:
        self.up, self.up_bias = _zeros(hidden, WIDTH), _zeros(hidden)
        self.down, self.down_bias = _zeros(WIDTH, hidden), _zeros(WIDTH)
        self._used = 0

    def add_remainder(self, source: int, target: int, steps: int, factor: int = 1) -> None:
        """Add factor * (`source` modulo `RADIX`) to `target`: the source, less `RADIX` for each multiple reached.

        steps: how many multiples it can reach. Each ramp rises from 0 to 1 between a quarter and three quarters of a token.
        """
        self._unit(source, 1.0, target, factor)
        self.down_bias[target] -= factor
        for multiple in range(RADIX, RADIX * steps + 1, RADIX):
            self._unit(source, 0.75 - multiple, target, -2.0 * RADIX * factor)
            self._unit(source, 0.25 - multiple, target, 2.0 * RADIX * factor)

    def tensors(self) -> Weights:
        """Return its tensors."""
        return {"ffn_up.weight": self.up, "ffn_up.bias": self.up_bias,
                "ffn_down.weight": self.down, "ffn_down.bias": self.down_bias}  # fmt: skip

    def _unit(self, source: int, offset: float, target: int, factor: float) -> None:
        """Add factor * max(0, source + offset)."""
        self.up[self._used, source], self.up[self._used, ZERO] = STEEP, -STEEP
        self.up_bias[self._used] = STEEP * offset
        self.down[target, self._used] = factor / STEEP
        self._used += 1


def write(path: Path, longest: int) -> Path:
    """Write the model as a GGUF file, for contexts of up to `longest` tokens. A token's text is `<number>`."""
    import gguf

    tensors = weights(longest)
    file = gguf.GGUFWriter(path, "gpt2")
    file.add_context_length(longest)
    file.add_embedding_length(WIDTH)
    file.add_feed_forward_length(len(tensors["blk.0.ffn_up.bias"]))
    file.add_block_count(LAYERS)
    file.add_head_count(HEADS)
    file.add_layer_norm_eps(EPSILON)
    file.add_tokenizer_model("llama")
    file.add_token_list([f"<{token}>" for token in range(language.VOCABULARY)])
    file.add_token_scores([0.0] * language.VOCABULARY)
    kinds = (gguf.TokenType.CONTROL, gguf.TokenType.NORMAL)
    file.add_token_types([kinds[token >= language.FIRST] for token in range(language.VOCABULARY)])
    file.add_bos_token_id(language.BEGIN)
    file.add_eos_token_id(language.END_OF_TEXT)
    file.add_add_bos_token(False)
    for name, tensor in tensors.items():
        file.add_tensor(name, np.ascontiguousarray(tensor, dtype=np.float32))
    file.write_header_to_file()
    file.write_kv_data_to_file()
    file.write_tensors_to_file()
    file.close()
    return path


def _zeros(*shape: int) -> Any:
    return np.zeros(shape, np.float32)


def _ends(longest: int) -> Weights:
    """Return the embeddings of tokens and positions, and the weights of the next token's scores."""
    tokens, places, scores = (_zeros(rows, WIDTH) for rows in (language.VOCABULARY, longest, language.VOCABULARY))
    tokens[:, PLUS], tokens[:, MINUS] = LARGE, -LARGE
    for token in range(language.VOCABULARY):
        tokens[token, OWN : OWN + DIGITS] = language.weight(token)
    for place in range(longest):
        places[place, OWN : OWN + DIGITS] = language.shift(place)
        places[place, CLASSES + place % HEADS if place else SINK] = 1
    scores[:, PLUS] = NEVER / LARGE
    for number in range(language.TEXT):
        digits = np.array(language.digits(number))
        row = scores[language.FIRST + number]
        row[RESULT : RESULT + DIGITS] = 2 * SHARP * digits
        row[ZERO] = -2 * SHARP * digits.sum()
        row[PLUS] = -SHARP * (digits @ digits) / LARGE
    return {"token_embd.weight": tokens, "position_embd.weight": places, "output.weight": scores}


def _attention() -> Weights:
    """Return the first layer's attention; the second layer's is all zeros."""
    both, bias, out = _zeros(3 * WIDTH, WIDTH), _zeros(3 * WIDTH), _zeros(WIDTH, WIDTH)
    unit = APART * math.sqrt(HEAD)  # attention divides scores by the root
    for head, query in _heads():
        bias[query : query + 2] = 1
        key, value = query + WIDTH, query + 2 * WIDTH
        both[key, CLASSES + head], both[key, ZERO] = unit, -unit
        both[key + 1, SINK], both[key + 1, ZERO] = 2 * unit, -2 * unit
        for digit in range(DIGITS):
            both[value + digit, OWN + digit], both[value + digit, ZERO] = 1, -1
            out[SUMS + head * DIGITS + digit, query + digit] = math.exp(APART)
    return {"attn_qkv.weight": both, "attn_qkv.bias": bias, "attn_output.weight": out, "attn_output.bias": _zeros(WIDTH)}


def _heads() -> Iterator[tuple[int, int]]:
    return ((head, head * HEAD) for head in range(HEADS))
