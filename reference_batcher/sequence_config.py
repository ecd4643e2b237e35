"""What a batcher of sequences is asked to do: `sequence_batching` in Triton's `config.pbtxt`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .errors import ConfigError

DIRECT, OLDEST = "direct", "oldest"
KINDS = ("START", "END", "READY", "CORRID")
FLAGS = {"TYPE_INT32": "int32_false_true", "TYPE_FP32": "fp32_false_true", "TYPE_BOOL": "bool_false_true"}
IDS = ("TYPE_UINT64", "TYPE_INT64", "TYPE_UINT32", "TYPE_INT32", "TYPE_STRING")
LONGEST_ID = 128  # bytes of one that is a string
_US = 1_000


@dataclass(frozen=True)
class StateSpec:
    """A tensor that the batcher keeps for each sequence between its requests (`State`).

    dims: its shape without the batch dimension. one_buffer: the model may write the new value over the old one
    (`use_same_buffer_for_input_output`). initial: what each of its elements begins as (`initial_state`); None: zeros
    here, and whatever was in memory on Triton.
    """

    input_name: str
    output_name: str
    data_type: str
    dims: tuple[int, ...]
    one_buffer: bool = False
    initial: int | None = None


@dataclass(frozen=True)
class SequenceBatching:
    """How sequences are batched. Delay, preferred sizes and order are fields of `BatcherConfig`.

    strategy: `direct`, where a sequence keeps its place in the batch, or `oldest`, where a dynamic batcher picks from the
    next requests of the candidates. max_sequence_idle_ns: a sequence without a request for longer than this is over.
    minimum_slot_utilization: the share of an instance's slots that is worth a run before the delay is over; 0: any
    (`direct`). max_candidate_sequences: how many sequences an instance has at a time; 0: max_batch_size (`oldest`).
    flag_type: of the control inputs START, END and READY. id_type: of the control input CORRID. controls: those of the four
    that the model gets. state: the implicit state.
    """

    strategy: str = DIRECT
    max_sequence_idle_ns: int = 1_000_000_000
    minimum_slot_utilization: float = 0.0
    max_candidate_sequences: int = 0
    flag_type: str = "TYPE_INT32"
    id_type: str = "TYPE_UINT64"
    controls: tuple[str, ...] = KINDS
    state: tuple[StateSpec, ...] = ()

    def __post_init__(self) -> None:
        """Refuse what no batcher can follow; ConfigError names the field."""
        for name, value, allowed in (
            ("strategy", self.strategy, (DIRECT, OLDEST)),
            ("flag_type", self.flag_type, tuple(FLAGS)),
            ("id_type", self.id_type, IDS),
            *(("controls", kind, KINDS) for kind in self.controls),
        ):
            if value not in allowed:
                raise ConfigError(f"sequence: {name} is one of {', '.join(allowed)}, not {value}")
        if not 0 <= self.minimum_slot_utilization <= 1:
            raise ConfigError(f"sequence: minimum_slot_utilization is from 0 to 1, not {self.minimum_slot_utilization}")
        if self.max_sequence_idle_ns <= 0 or self.max_sequence_idle_ns % _US:
            raise ConfigError(
                "sequence: max_sequence_idle_ns is a whole number of microseconds above 0, "
                f"not {self.max_sequence_idle_ns} ns"
            )
        if self.max_candidate_sequences < 0:
            raise ConfigError(f"sequence: max_candidate_sequences must be at least 0, not {self.max_candidate_sequences}")

    def slots(self, max_batch_size: int) -> int:
        """Return how many sequences one instance has at a time."""
        return (self.max_candidate_sequences if self.strategy == OLDEST else 0) or max_batch_size

    def id_problem(self, id_: int | str) -> str:
        """Return why the model cannot be told this correlation ID; "" if it can, or is not told any."""
        if "CORRID" not in self.controls:
            return ""
        if isinstance(id_, str) != (self.id_type == "TYPE_STRING"):
            return f"is a {'string' if isinstance(id_, str) else 'number'}, and the model's have {self.id_type}"
        if isinstance(id_, str):
            return f"has more than {LONGEST_ID} bytes" if len(id_.encode()) > LONGEST_ID else ""
        signed, bits = not self.id_type.startswith("TYPE_U"), int(self.id_type[-2:])
        least, most = (-(1 << bits - 1), (1 << bits - 1) - 1) if signed else (0, (1 << bits) - 1)
        return "" if least <= id_ <= most else f"does not fit into {self.id_type}"

    @property
    def pads(self) -> bool:
        """Whether a place in a batch belongs to a sequence, so that the model also sees places without a request."""
        return self.strategy == DIRECT

    @classmethod
    def of(cls, data: Mapping[str, Any]) -> SequenceBatching:
        """Read JSON data: the fields by name. ConfigError or TypeError if it is not such data."""
        state = tuple(StateSpec(**{**spec, "dims": tuple(spec["dims"])}) for spec in data.get("state", ()))
        return cls(**{**data, "controls": tuple(data.get("controls", KINDS)), "state": state})


def write(sequence: SequenceBatching, config: Any, proto: Any) -> None:
    """Write Triton's `sequence_batching` of a `BatcherConfig` into a `ModelConfig`."""
    from tritonclient.grpc import model_config_pb2 as pb

    batching = proto.sequence_batching
    batching.max_sequence_idle_microseconds = sequence.max_sequence_idle_ns // _US
    for kind in sequence.controls:
        control = batching.control_input.add(name=kind).control.add(kind=f"CONTROL_SEQUENCE_{kind}")
        if kind == "CORRID":
            control.data_type = pb.DataType.Value(sequence.id_type)
        else:
            getattr(control, FLAGS[sequence.flag_type]).extend((0, 1))
    if sequence.strategy == DIRECT:
        batching.direct.SetInParent()
        batching.direct.max_queue_delay_microseconds = config.max_queue_delay_ns // _US
        batching.direct.minimum_slot_utilization = sequence.minimum_slot_utilization
    else:
        batching.oldest.max_candidate_sequences = sequence.slots(config.max_batch_size)
        batching.oldest.preferred_batch_size.extend(config.preferred_batch_size)
        batching.oldest.max_queue_delay_microseconds = config.max_queue_delay_ns // _US
        batching.oldest.preserve_ordering = config.preserve_ordering
    for spec in sequence.state:
        state = batching.state.add(input_name=spec.input_name, output_name=spec.output_name, dims=spec.dims)
        state.data_type = pb.DataType.Value(spec.data_type)
        state.use_same_buffer_for_input_output = spec.one_buffer
        if spec.initial is not None:
            begins = state.initial_state.add(name=f"{spec.input_name}_{spec.initial}", dims=spec.dims)
            begins.data_type = state.data_type
            if spec.initial:
                begins.data_file = begins.name
            else:
                begins.zero_data = True


def read(batching: Any) -> dict[str, Any]:
    """Return the fields of a `BatcherConfig` that Triton's `sequence_batching` holds, as far as this batcher knows them."""
    from tritonclient.grpc import model_config_pb2 as pb

    oldest = batching.WhichOneof("strategy_choice") == OLDEST
    part = batching.oldest if oldest else batching.direct
    controls, types = [], {"flag_type": "TYPE_INT32", "id_type": "TYPE_UINT64"}
    for control in (one for tensor in batching.control_input for one in tensor.control):
        kind = control.Kind.Name(control.kind).removeprefix("CONTROL_SEQUENCE_")
        controls.append(kind)
        if kind == "CORRID":
            types["id_type"] = pb.DataType.Name(control.data_type)
        else:
            types["flag_type"] = next((type_ for type_, field in FLAGS.items() if getattr(control, field)), "TYPE_INT32")
    sequence = SequenceBatching(
        strategy=OLDEST if oldest else DIRECT,
        max_sequence_idle_ns=batching.max_sequence_idle_microseconds * _US or 1_000_000_000,
        minimum_slot_utilization=0.0 if oldest else part.minimum_slot_utilization,
        max_candidate_sequences=part.max_candidate_sequences if oldest else 0,
        controls=tuple(controls),
        state=tuple(_state(one) for one in batching.state),
        **types,
    )
    found = {"sequence": sequence, "max_queue_delay_ns": part.max_queue_delay_microseconds * _US}
    if oldest:
        found |= {"preferred_batch_size": tuple(part.preferred_batch_size), "preserve_ordering": part.preserve_ordering}
    return found


def _state(one: Any) -> StateSpec:
    from tritonclient.grpc import model_config_pb2 as pb

    type_, initial = pb.DataType.Name(one.data_type), None
    for begins in one.initial_state:
        number = begins.data_file.rpartition("_")[2]
        initial = int(number) if number.isdigit() else 0
    return StateSpec(
        one.input_name, one.output_name, type_, tuple(one.dims), one.use_same_buffer_for_input_output, initial
    )


def initial_states(sequence: SequenceBatching) -> dict[str, bytes]:
    """Return the files that `initial_state` names, in the model's folder: path, content."""
    import numpy as np

    files = {}
    for spec in sequence.state:
        if spec.initial:
            values = np.full(spec.dims, spec.initial, dtype=spec.data_type.removeprefix("TYPE_").lower())
            files[f"initial_state/{spec.input_name}_{spec.initial}"] = values.tobytes()
    return files
