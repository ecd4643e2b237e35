"""What the model of a sequence batcher gets besides its inputs, and the state that is kept between two runs.

The controls are inputs of shape [1] with the names START, END, READY and CORRID. With the strategy `direct`, a slot without
a request is filled as far as the last one that has a request: with the inputs of another request, READY false and no
correlation ID. The state of a slot is the initial one when a sequence starts there; after a run that failed it is as before.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .decisions import Entry
from .execution import Tree
from .sequence_config import SequenceBatching, StateSpec

NUMPY = {"TYPE_STRING": "object", "TYPE_FP16": "float16", "TYPE_FP32": "float32", "TYPE_FP64": "float64"}


def dtype_of(data_type: str) -> np.dtype[Any]:
    """Return numpy's type for one of Triton's."""
    return np.dtype(NUMPY.get(data_type, data_type.removeprefix("TYPE_").lower()))


class SequenceInputs:
    """The controls and states of one model. Slots are numbered for each instance."""

    def __init__(self, sequence: SequenceBatching) -> None:
        self._sequence = sequence
        self._flag, self._id = dtype_of(sequence.flag_type), dtype_of(sequence.id_type)
        self._text = sequence.id_type == "TYPE_STRING"
        self._states: dict[tuple[int, int], dict[str, Any]] = {}

    def places(self, slots: Sequence[int]) -> list[int]:
        """Return for each place of the batch the number of its request, or -1 if it has none."""
        if not self._sequence.pads:
            return list(range(len(slots)))
        places = [-1] * (max(slots) + 1)
        for number, slot in enumerate(slots):
            places[slot] = number
        return places

    def trees(self, instance: int, batch: Sequence[Entry], slots: Sequence[int]) -> list[Tree]:
        """Return the inputs of each place of a batch, which are a dict of tensors."""
        trees = []
        for number in self.places(slots):
            entry = batch[max(number, 0)]
            ready = number >= 0
            own = dict(entry.item.inputs)
            own.update(self._controls(entry, ready=ready))
            for spec in self._sequence.state:
                known = self.state(instance, slots[number], entry, spec) if ready else _initial(spec)
                own[spec.input_name] = _like(known, entry.item.inputs)
            trees.append(own)
        return trees

    def state(self, instance: int, slot: int, entry: Entry, spec: StateSpec) -> Any:
        """Return the state with which a request runs: [1, *dims]."""
        if entry.start:
            self._states.pop((instance, slot), None)  # of the sequence before it: a run that fails must not bring it back
        return self._states.get((instance, slot), {}).get(spec.output_name, _initial(spec))

    def parts(self, instance: int, batch: Sequence[Entry], slots: Sequence[int], places: Sequence[Tree]) -> list[Tree]:
        """Return each request's own outputs, given those of each place, and keep the states that are among them."""
        mine: list[Tree] = [None] * len(batch)
        for number, outputs in zip(self.places(slots), places, strict=True):
            if number < 0:
                continue
            mine[number] = self._without_states(outputs, (instance, slots[number])) if self._sequence.state else outputs
        return mine

    def _without_states(self, outputs: Tree, slot: tuple[int, int]) -> Tree:
        names = [spec.output_name for spec in self._sequence.state]
        self._states[slot] = {name: outputs[name] for name in names}
        return {name: values for name, values in outputs.items() if name not in names}

    def _controls(self, entry: Entry, *, ready: bool) -> dict[str, Any]:
        flags = {"START": ready and entry.start, "END": ready and entry.end, "READY": ready}
        nobody = "" if self._text else 0
        values: dict[str, Any] = {kind: np.array([[flag]], dtype=self._flag) for kind, flag in flags.items()}
        values["CORRID"] = np.array([[entry.sequence if ready else nobody]], dtype=self._id)
        return {kind: _like(values[kind], entry.item.inputs) for kind in self._sequence.controls}


def _initial(spec: StateSpec) -> Any:
    if spec.data_type == "TYPE_STRING":
        return np.full((1, *spec.dims), "", dtype=object)
    return np.full((1, *(max(size, 0) for size in spec.dims)), spec.initial or 0, dtype=dtype_of(spec.data_type))


def _like(values: Any, inputs: Tree) -> Any:
    """Return an array as the kind of tensor that the request itself has."""
    first = next(iter(inputs.values()))
    if type(first).__module__.startswith("torch") and isinstance(values, np.ndarray) and values.dtype != object:
        import torch

        return torch.from_numpy(values)
    return values
