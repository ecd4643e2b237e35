"""`BatcherConfig`: what a batcher is asked to do, read from and written to Triton's `config.pbtxt`.

Field names and units are Triton's (`model_config.proto`), except that durations are integers of nanoseconds.
Parsing and printing are protobuf's own (`tritonclient.grpc.model_config_pb2`, `google.protobuf.text_format`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, dataclass, field, fields
from typing import TYPE_CHECKING, Any

from . import sequence_config
from .errors import ConfigError
from .sequence_config import SequenceBatching, StateSpec
from .strategies import problem

if TYPE_CHECKING:
    from tritonclient.grpc.model_config_pb2 import ModelConfig

_US = 1_000
REJECT, DELAY = "REJECT", "DELAY"
STRATEGY = "batch_strategy"  # the parameter of a model in which our strategy library finds the strategy's name
NOT_WITH_SEQUENCES = frozenset({
    "priorities", "max_queue_size", "timeout_delay", "timeout_override", "response_cache", "ragged", "optional_inputs",
    "custom_batching",
})  # fmt: skip


@dataclass(frozen=True)
class TensorSpec:
    """One input or output: its name, Triton data type (`TYPE_INT64`) and shape without the batch dimension (-1: any).

    optional: a request may leave it out. ragged: requests whose shapes differ here may share a batch
    (`allow_ragged_batch`); the model gets a list of tensors, one for each request.
    """

    name: str
    data_type: str
    dims: tuple[int, ...]
    optional: bool = False
    ragged: bool = False


@dataclass(frozen=True)
class QueuePolicy:
    """How long a request may wait, and how many may wait (`ModelQueuePolicy`).

    queue_timeout_ns: a request is late when it has waited longer than this without being in a batch; 0: it is never late.
    timeout_action: what happens to a late request: REJECT (refused) or DELAY (served after all others of its level).
    allow_timeout_override: a request may bring a shorter timeout of its own.
    max_queue_size: how many requests of one level may wait; 0: any number.
    """

    queue_timeout_ns: int = 0
    timeout_action: str = REJECT
    allow_timeout_override: bool = False
    max_queue_size: int = 0

    def timeout_ns(self, asked_ns: int) -> int:
        """Return the timeout of a request that asks for `asked_ns` (0: it asks for none); 0: it is never late."""
        if self.allow_timeout_override and 0 < asked_ns < self.queue_timeout_ns:
            return asked_ns
        return self.queue_timeout_ns


@dataclass(frozen=True)
class BatcherConfig:
    """The dynamic part of a model's configuration.

    max_batch_size: how many rows a batch may hold, at least 1.
    max_queue_delay_ns: how long the oldest request may wait for company; whole microseconds.
    instances: how many batches may run at once.
    queue_timeout_ns, timeout_action, allow_timeout_override, max_queue_size: the default `QueuePolicy`.
    preferred_batch_size: numbers of rows at which a batch leaves without waiting for more.
    preserve_ordering: requests are answered in the order in which they entered batches, however fast the instances are.
    priority_levels: how many levels there are, of which 1 is the most urgent; 0: there are none.
    default_priority_level: the level of a request that names none.
    priority_queue_policy: (level, policy) for each level that does not have the default policy.
    response_cache: a request whose inputs were answered before is answered without an execution.
    sequence: requests form sequences, which share batches as this says; None: they do not.
    strategy: the batching strategy that decides who joins a batch, by its name in `strategies`; empty: there is none.
    """

    name: str = "model"
    max_batch_size: int = 8
    max_queue_delay_ns: int = 0
    instances: int = 1
    queue_timeout_ns: int = 0
    timeout_action: str = REJECT
    allow_timeout_override: bool = False
    max_queue_size: int = 0
    preferred_batch_size: tuple[int, ...] = ()
    preserve_ordering: bool = False
    priority_levels: int = 0
    default_priority_level: int = 0
    priority_queue_policy: tuple[tuple[int, QueuePolicy], ...] = ()
    response_cache: bool = False
    sequence: SequenceBatching | None = None
    strategy: str = ""
    inputs: tuple[TensorSpec, ...] = ()
    outputs: tuple[TensorSpec, ...] = ()
    backend: str = "python"
    parameters: Mapping[str, str] = field(default_factory=dict, hash=False)

    def __post_init__(self) -> None:
        """Refuse a configuration that no batcher can follow; ConfigError names the field."""
        for name, least in _LEAST.items():
            if getattr(self, name) < least:
                raise ConfigError(f"{name} must be at least {least}, not {getattr(self, name)}")
        for name, value in (("max_queue_delay_ns", self.max_queue_delay_ns), *self._timeouts()):
            if value % _US:
                raise ConfigError(f"{name} must be a whole number of microseconds, not {value} ns")
        for size in self.preferred_batch_size:
            if not 1 <= size <= self.max_batch_size:
                raise ConfigError(f"preferred_batch_size must be in range [1, {self.max_batch_size}], not {size}")
        self._check_together()
        for policy in (self.default_queue_policy, *dict(self.priority_queue_policy).values()):
            if policy.timeout_action not in (REJECT, DELAY):
                raise ConfigError(f"timeout_action is REJECT or DELAY, not {policy.timeout_action}")
            if self.preserve_ordering and policy.timeout_action == DELAY and policy.queue_timeout_ns:
                raise ConfigError("timeout_action DELAY changes the order of requests: not with preserve_ordering")

    def _check_together(self) -> None:
        levels = self.priority_levels
        if self.strategy and (wrong := problem(self.strategy)):
            raise ConfigError(wrong)
        if self.sequence is not None and (more := sorted(NOT_WITH_SEQUENCES & set(self.features()))):
            raise ConfigError(f"sequences have no {', '.join(more)}")
        if levels and not 1 <= self.default_priority_level <= levels:
            raise ConfigError(f"default_priority_level must be in range [1, {levels}], not {self.default_priority_level}")
        if levels > 1 and self.preserve_ordering:
            raise ConfigError("priority_levels change the order of requests: only one with preserve_ordering")
        for level, _ in self.priority_queue_policy:
            if not 1 <= level <= levels:
                raise ConfigError(f"priority_queue_policy must name a level in range [1, {levels}], not {level}")

    def _timeouts(self) -> list[tuple[str, int]]:
        policies = (self.default_queue_policy, *dict(self.priority_queue_policy).values())
        return [("queue_timeout_ns", policy.queue_timeout_ns) for policy in policies]

    @property
    def default_queue_policy(self) -> QueuePolicy:
        """The policy of each level that has none of its own."""
        return QueuePolicy(self.queue_timeout_ns, self.timeout_action, self.allow_timeout_override, self.max_queue_size)

    def policy(self, level: int) -> QueuePolicy:
        """Return the policy of a priority level."""
        return dict(self.priority_queue_policy).get(level, self.default_queue_policy)

    def level(self, priority: int) -> int:
        """Return the level of a request with this priority; the default one if it is unknown, and 0 without levels."""
        if not self.priority_levels:
            return 0
        return priority if 1 <= priority <= self.priority_levels else self.default_priority_level

    def features(self) -> tuple[str, ...]:
        """Return the claims that the features need which it uses, beyond a size, a delay, instances and a queue timeout."""
        ragged = any(spec.ragged for spec in self.inputs)
        optional = any(spec.optional for spec in self.inputs)
        policies = [policy for _, policy in self.priority_queue_policy]
        asked = {
            "preferred_sizes": bool(self.preferred_batch_size),
            "ordering": self.preserve_ordering,
            "priorities": bool(self.priority_levels),
            "max_queue_size": bool(self.max_queue_size) or any(one.max_queue_size for one in policies),
            "timeout_delay": DELAY in (self.timeout_action, *(one.timeout_action for one in policies)),
            "timeout_override": self.allow_timeout_override or any(one.allow_timeout_override for one in policies),
            "response_cache": self.response_cache,
            "custom_batching": bool(self.strategy),
            "ragged": ragged,
            "optional_inputs": optional,
            "shapes": any(-1 in spec.dims for spec in self.inputs),
            "sequences": self.sequence is not None,
            "sequence_state": self.sequence is not None and bool(self.sequence.state),
            "sequence_state=several": self.sequence is not None and len(self.sequence.state) > 1,
        }
        return tuple(name for name, wanted in asked.items() if wanted)

    def facts(self) -> dict[str, Any]:
        """Return JSON data: the four numbers that every batcher has, and each other field that does not have its default."""
        always = ("max_batch_size", "max_queue_delay_ns", "instances", "queue_timeout_ns")
        data: dict[str, Any] = {name: getattr(self, name) for name in always}
        for one in fields(self):
            value = getattr(self, one.name)
            if one.name in always or one.name in ("name", "outputs", "backend", "parameters"):
                continue
            if one.default is MISSING or value != one.default:
                data[one.name] = _plain(value)
        return data

    @classmethod
    def from_facts(cls, data: Mapping[str, Any]) -> BatcherConfig:
        """Read what `facts` returned; ConfigError names a field that is unknown or has the wrong type."""
        values = dict(data)
        if unknown := set(values) - {one.name for one in fields(cls)}:
            raise ConfigError(f"unknown fields of a configuration: {', '.join(sorted(unknown))}")
        try:
            if "preferred_batch_size" in values:
                values["preferred_batch_size"] = tuple(values["preferred_batch_size"])
            if "priority_queue_policy" in values:
                pairs = values["priority_queue_policy"]
                values["priority_queue_policy"] = tuple((level, QueuePolicy(**policy)) for level, policy in pairs)
            if values.get("sequence") is not None:
                values["sequence"] = SequenceBatching.of(values["sequence"])
            if "inputs" in values:
                values["inputs"] = tuple(TensorSpec(**{**spec, "dims": tuple(spec["dims"])}) for spec in values["inputs"])
            return cls(**values)
        except (TypeError, KeyError, AttributeError) as error:
            raise ConfigError(f"not a configuration: {error}") from None

    def to_proto(self) -> ModelConfig:
        """Return the configuration as Triton's own message."""
        from tritonclient.grpc import model_config_pb2 as pb

        proto = pb.ModelConfig(name=self.name, backend=self.backend, max_batch_size=self.max_batch_size)
        for spec in self.inputs:
            proto.input.add(
                name=spec.name,
                data_type=pb.DataType.Value(spec.data_type),
                dims=spec.dims,
                optional=spec.optional,
                allow_ragged_batch=spec.ragged,
            )
        for spec in self.outputs:
            proto.output.add(name=spec.name, data_type=pb.DataType.Value(spec.data_type), dims=spec.dims)
        proto.instance_group.add(kind=pb.ModelInstanceGroup.KIND_CPU, count=self.instances)
        for key, value in self.parameters.items():
            proto.parameters[key].string_value = value
        if self.sequence is not None:
            sequence_config.write(self.sequence, self, proto)
            return proto
        batching = proto.dynamic_batching
        batching.max_queue_delay_microseconds = self.max_queue_delay_ns // _US
        batching.preferred_batch_size.extend(self.preferred_batch_size)
        batching.preserve_ordering = self.preserve_ordering
        batching.priority_levels = self.priority_levels
        batching.default_priority_level = self.default_priority_level
        if self.default_queue_policy != QueuePolicy():
            _to_policy(self.default_queue_policy, batching.default_queue_policy)
        for level, policy in self.priority_queue_policy:
            _to_policy(policy, batching.priority_queue_policy[level])
        if self.response_cache:
            proto.response_cache.enable = True
        if self.strategy:
            proto.parameters[STRATEGY].string_value = self.strategy
        return proto

    def to_pbtxt(self) -> str:
        """Return the text of `config.pbtxt`."""
        from google.protobuf import text_format

        return str(text_format.MessageToString(self.to_proto()))

    @classmethod
    def from_proto(cls, proto: ModelConfig) -> BatcherConfig:
        """Read Triton's message, as far as this batcher knows its fields; ConfigError if it has no batcher."""
        parameters = {key: value.string_value for key, value in proto.parameters.items()}
        if proto.HasField("sequence_batching"):
            own = sequence_config.read(proto.sequence_batching)
        elif proto.HasField("dynamic_batching"):
            own = _from_dynamic(proto)
        else:
            raise ConfigError(f"model '{proto.name}' has no dynamic_batching and no sequence_batching")
        return cls(
            name=proto.name,
            max_batch_size=proto.max_batch_size,
            instances=sum(group.count or 1 for group in proto.instance_group) or 1,
            **own,
            inputs=_specs(proto.input),
            outputs=_specs(proto.output),
            backend=proto.backend,
            strategy=parameters.pop(STRATEGY, ""),
            parameters=parameters,
        )

    @classmethod
    def from_pbtxt(cls, text: str) -> BatcherConfig:
        """Read `config.pbtxt`; ConfigError says where the text is wrong."""
        return cls.from_proto(parse_pbtxt(text))


_LEAST = {
    "max_batch_size": 1,
    "instances": 1,
    "max_queue_delay_ns": 0,
    "queue_timeout_ns": 0,
    "max_queue_size": 0,
    "priority_levels": 0,
}


def parse_pbtxt(text: str) -> ModelConfig:
    """Parse the text of a `config.pbtxt`; ConfigError gives the line and the column of the first mistake."""
    from google.protobuf import text_format
    from tritonclient.grpc import model_config_pb2 as pb

    try:
        return text_format.Parse(text, pb.ModelConfig())
    except text_format.ParseError as error:
        raise ConfigError(f"not a model configuration: {error}") from None


def _from_dynamic(proto: ModelConfig) -> dict[str, Any]:
    batching = proto.dynamic_batching
    levels = batching.priority_queue_policy
    return {
        "max_queue_delay_ns": batching.max_queue_delay_microseconds * _US,
        **vars(_from_policy(batching.default_queue_policy)),
        "preferred_batch_size": tuple(batching.preferred_batch_size),
        "preserve_ordering": batching.preserve_ordering,
        "priority_levels": batching.priority_levels,
        "default_priority_level": batching.default_priority_level,
        "priority_queue_policy": tuple((level, _from_policy(levels[level])) for level in sorted(levels)),
        "response_cache": proto.response_cache.enable,
    }


def _to_policy(policy: QueuePolicy, into: Any) -> None:
    into.SetInParent()
    into.timeout_action = into.TimeoutAction.Value(policy.timeout_action)
    into.default_timeout_microseconds = policy.queue_timeout_ns // _US
    into.allow_timeout_override = policy.allow_timeout_override
    into.max_queue_size = policy.max_queue_size


def _from_policy(policy: Any) -> QueuePolicy:
    return QueuePolicy(
        queue_timeout_ns=policy.default_timeout_microseconds * _US,
        timeout_action=policy.TimeoutAction.Name(policy.timeout_action),
        allow_timeout_override=policy.allow_timeout_override,
        max_queue_size=policy.max_queue_size,
    )


def _specs(tensors: Any) -> tuple[TensorSpec, ...]:
    from tritonclient.grpc import model_config_pb2 as pb

    return tuple(
        TensorSpec(
            one.name,
            pb.DataType.Name(one.data_type),
            tuple(one.dims),
            getattr(one, "optional", False),
            getattr(one, "allow_ragged_batch", False),
        )
        for one in tensors
    )


def _plain(value: Any) -> Any:
    """Return a value as JSON has it."""
    if isinstance(value, tuple):
        return [_plain(one) for one in value]
    if isinstance(value, (TensorSpec, QueuePolicy, SequenceBatching, StateSpec)):
        return {key: _plain(one) for key, one in vars(value).items()}
    return value
