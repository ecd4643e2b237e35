"""A language model as an OpenVINO graph: computes `graph_language` with the engine's own attention, and reads its KV cache.

This file is copied into other interpreters: it needs numpy, OpenVINO and `batchproof_witness`.

Each KV entry is a value of eight numbers: what it adds to the six sums, the token, and the position. All keys are zero, so
attention weighs all entries equally: the sums are its mean times the number of entries. `Look` gets the tables that the
scheduler hands to attention, and the cache after attention has written it; it changes nothing.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import openvino
from batchproof_witness import graph_language as language
from batchproof_witness.paged import Iteration, rows_read
from openvino import Op
from openvino import opset13 as ops

HEAD = 16  # numbers in an entry: the last ones stay zero
TOKEN, PLACE = language.DIGITS, language.DIGITS + 1
PERIOD = language.TEXT  # of the numbers that positions add
NEVER = -1e6  # the score of a token that is never generated
SHARP = 16.0  # the lead of the best score: sampling takes no other
INPUTS = ("input_ids", "attention_mask", "position_ids")
TABLES = ("past_lens", "subsequence_begins", "block_indices", "block_indices_begins")  # paged attention's names for them

Row = list[Any]


class Look(Op):
    """Passes its first input on, and reports the iteration to `Look.tell`: (enter_ns, exit_ns, rows)."""

    tell: Callable[[int, int, list[Row]], None] = staticmethod(lambda *_: None)

    def __init__(self, inputs: Any = None) -> None:
        super().__init__(self, inputs)

    def validate_and_infer_types(self) -> None:
        """Declare the output to be like the first input."""
        self.set_output_type(0, self.get_input_element_type(0), self.get_input_partial_shape(0))

    def clone_with_new_inputs(self, inputs: Any) -> Look:
        """Return this operation with other inputs."""
        return Look(inputs)

    def visit_attributes(self, visitor: Any) -> bool:  # noqa: ARG002 - as OpenVINO calls it
        """Declare no attributes."""
        return True

    def has_evaluate(self) -> bool:
        """Declare that `evaluate` exists."""
        return True

    def evaluate(self, outputs: Any, inputs: Any) -> bool:
        """Run it."""
        enter_ns = time.monotonic_ns()
        outputs[0].shape = inputs[0].shape
        outputs[0].data[:] = inputs[0].data
        Look.tell(enter_ns, time.monotonic_ns(), rows_of(*(one.data for one in inputs[1:])))
        return True


def rows_of(ids: Any, positions: Any, past: Any, begins: Any, blocks: Any, block_begins: Any, cache: Any) -> list[Row]:
    """Return each row's line in the log (`graph_language.row`).

    ids, positions: [new], of all rows in order. past, begins, blocks, block_begins: the scheduler's tables. cache: the
    values [blocks, 1, slots in a block, HEAD] after attention has written the new ones.
    """
    lengths = (past + np.diff(begins)).tolist()
    tables = np.split(blocks, block_begins[1:-1])
    now = Iteration(np.ravel(ids), np.ravel(positions), (), begins, lengths, tables)
    return [row for row, _ in rows_read(cache[:, 0, :, TOKEN : PLACE + 1], now, language.row)]


def build() -> Any:
    """Return the model in the form that the engine reads: stateful, with the input names that it expects."""
    ids, mask, places = (_input(name, (-1, -1), openvino.Type.i64) for name in INPUTS)
    beam = _input("beam_idx", (-1,), openvino.Type.i32)
    row = ops.add(ops.multiply(ops.floor_mod(places, _int(language.CLASSES)), _int(language.VOCABULARY)), ids)
    shift = ops.add(_table(PLACE_TABLE, ops.floor_mod(places, _int(PERIOD))), _place(places))
    value = _heads(ops.add(_table(TOKEN_TABLE, row), shift))
    zero = ops.multiply(value, _float(0))
    seen = ops.multiply(ops.convert(ops.equal(mask, _int(0)), "f32"), _float(-65504))
    sinks: list[Any] = []
    keys, values = (_kept(one, name, beam, sinks) for one, name in ((zero, "key"), (value, "value")))
    found = ops.scaled_dot_product_attention(zero, keys, values, ops.unsqueeze(seen, _int([1, 2])))
    found = ops.reshape(ops.transpose(found, _int([0, 2, 1, 3])), _int([0, 0, HEAD]), special_zero=True)
    count = ops.unsqueeze(ops.convert(ops.add(places, _int(1)), "f32"), _int(-1))
    sums = ops.floor(ops.add(ops.multiply(found, count), _float(0.5)))
    digits = ops.floor_mod(sums, _float(language.RADIX))
    tables = [_input(name, (-1,), openvino.Type.i32) for name in TABLES]
    cache = _input("value_cache.0", (-1, -1, -1, -1), openvino.Type.dynamic)
    looked = Look([digits, ids, places, *tables, cache]).output(0)
    logits = ops.result(ops.add(ops.matmul(looked, _const(SCORES), transpose_a=False, transpose_b=True), _const(BIAS)))
    logits.output(0).set_names({"logits"})
    return openvino.Model([logits], sinks, [ids, mask, places, beam, *tables, cache], "witness")


def write(folder: Path) -> Path:
    """Write the model and the files that the engine expects alongside it; return the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    openvino.save_model(build(), folder / "openvino_model.xml", compress_to_fp16=False)
    (folder / "config.json").write_text('{"model_type": "llama"}', encoding="utf-8")
    defaults = {"eos_token_id": language.END_OF_TEXT}
    (folder / "generation_config.json").write_text(json.dumps(defaults), encoding="utf-8")
    return folder


def _weights() -> tuple[Any, Any, Any, Any]:
    """Return what tokens add [CLASSES * VOCABULARY, HEAD], what positions add [PERIOD, HEAD], the scores' weights and bias.

    The score of a token is the negative square of its distance from the digits, without the terms that all scores share.
    """
    tokens = np.zeros((language.CLASSES, language.VOCABULARY, HEAD), np.float32)
    places = np.zeros((PERIOD, HEAD), np.float32)
    scores = np.zeros((language.VOCABULARY, HEAD), np.float32)
    bias = np.full(language.VOCABULARY, NEVER, np.float32)
    weights = np.array([language.weight(token) for token in range(language.VOCABULARY)])
    shifts = np.array([language.shift(place) for place in range(PERIOD)])
    for kind, mixed in enumerate(language.MIXED):
        sources, factors = np.array(mixed).T
        tokens[kind, :, : language.DIGITS] = weights[:, sources] * factors
        places[kind :: language.CLASSES, : language.DIGITS] = shifts[kind :: language.CLASSES, sources] * factors
    tokens[:, :, TOKEN] = np.arange(language.VOCABULARY)
    digits = np.array([language.digits(number) for number in range(language.TEXT)])
    scores[language.FIRST : language.NAMES, : language.DIGITS] = 2 * SHARP * digits
    bias[language.FIRST : language.NAMES] = -SHARP * (digits * digits).sum(1)
    return tokens.reshape(-1, HEAD), places, scores, bias


TOKEN_TABLE, PLACE_TABLE, SCORES, BIAS = _weights()


def _input(name: str, shape: Sequence[int], kind: Any) -> Any:
    node = ops.parameter(list(shape), kind, name=name)
    node.output(0).set_names({name})
    return node


def _const(array: Any) -> Any:
    return ops.constant(array)


def _int(number: Any) -> Any:
    return ops.constant(np.asarray(number, np.int64))


def _float(number: float) -> Any:
    return ops.constant(np.float32(number))


def _table(table: Any, index: Any) -> Any:
    return ops.gather(_const(table), index, _int(0))


def _place(places: Any) -> Any:
    """Return the position itself, in its column."""
    column = np.zeros(HEAD, np.float32)
    column[PLACE] = 1
    return ops.multiply(ops.unsqueeze(ops.convert(places, "f32"), _int(-1)), _const(column))


def _heads(entry: Any) -> Any:
    """Return [batch, new, HEAD] as one head: [batch, 1, new, HEAD]."""
    return ops.transpose(ops.reshape(entry, _int([0, 0, 1, HEAD]), special_zero=True), _int([0, 2, 1, 3]))


def _kept(new: Any, name: str, beam: Any, sinks: list[Any]) -> Any:
    """Return all earlier entries and the new ones, in the form that the engine converts to paged attention."""
    variable = f"past_key_values.0.keypresent.0.{name}"
    batch = ops.gather(ops.shape_of(beam), _int([0]), _int(0))
    nothing = ops.broadcast(_float(0), ops.concat([batch, _int([1, 0, HEAD])], 0))
    before = ops.read_value(nothing, variable, openvino.Type.f32, openvino.PartialShape([-1, 1, -1, HEAD]))
    everything = ops.concat([ops.gather(before, beam, _int(0)), new], 2)
    sinks.append(ops.assign(everything, variable))
    return everything
