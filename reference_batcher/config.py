"""`BatcherConfig`: what a batcher is told to do, read from and written to Triton's `config.pbtxt`.

Field names and units are Triton's (`model_config.proto`), except that durations are integers of nanoseconds.
Parsing and printing are protobuf's own (`tritonclient.grpc.model_config_pb2`, `google.protobuf.text_format`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tritonclient.grpc.model_config_pb2 import ModelConfig

_US = 1_000


class ConfigError(ValueError):
    """The text is no model configuration, or holds something that this batcher cannot be told."""


@dataclass(frozen=True)
class TensorSpec:
    """One input or output: its name, Triton data type (`TYPE_INT64`) and shape without the batch dimension."""

    name: str
    data_type: str
    dims: tuple[int, ...]


@dataclass(frozen=True)
class BatcherConfig:
    """The dynamic part of a model's configuration.

    max_batch_size: rows a batch may hold, at least 1.
    max_queue_delay_ns: how long the oldest request may wait for company; whole microseconds.
    instances: how many batches may run at once.
    queue_timeout_ns: a request that is older than this before its batch is formed is refused; 0 means never.
    """

    name: str = "model"
    max_batch_size: int = 8
    max_queue_delay_ns: int = 0
    instances: int = 1
    queue_timeout_ns: int = 0
    inputs: tuple[TensorSpec, ...] = ()
    outputs: tuple[TensorSpec, ...] = ()
    backend: str = "python"
    parameters: Mapping[str, str] = field(default_factory=dict, hash=False)

    def __post_init__(self) -> None:
        """Refuse what no batcher can do; ConfigError names the field."""
        for name, least in (("max_batch_size", 1), ("instances", 1), ("max_queue_delay_ns", 0), ("queue_timeout_ns", 0)):
            if getattr(self, name) < least:
                raise ConfigError(f"{name} must be at least {least}, not {getattr(self, name)}")
        for name in ("max_queue_delay_ns", "queue_timeout_ns"):
            if getattr(self, name) % _US:
                raise ConfigError(f"{name} must be a whole number of microseconds, not {getattr(self, name)} ns")

    def to_proto(self) -> ModelConfig:
        """Return the configuration as Triton's own message."""
        from tritonclient.grpc import model_config_pb2 as pb

        proto = pb.ModelConfig(name=self.name, backend=self.backend, max_batch_size=self.max_batch_size)
        for specs, into in ((self.inputs, proto.input), (self.outputs, proto.output)):
            for spec in specs:
                into.add(name=spec.name, data_type=pb.DataType.Value(spec.data_type), dims=spec.dims)
        proto.instance_group.add(kind=pb.ModelInstanceGroup.KIND_CPU, count=self.instances)
        proto.dynamic_batching.max_queue_delay_microseconds = self.max_queue_delay_ns // _US
        if self.queue_timeout_ns:
            proto.dynamic_batching.default_queue_policy.default_timeout_microseconds = self.queue_timeout_ns // _US
        for key, value in self.parameters.items():
            proto.parameters[key].string_value = value
        return proto

    def to_pbtxt(self) -> str:
        """Return the text of `config.pbtxt`."""
        from google.protobuf import text_format

        return str(text_format.MessageToString(self.to_proto()))

    @classmethod
    def from_proto(cls, proto: ModelConfig) -> BatcherConfig:
        """Take from Triton's message what this batcher knows; ConfigError if it has no `dynamic_batching`."""
        from tritonclient.grpc import model_config_pb2 as pb

        if not proto.HasField("dynamic_batching"):
            raise ConfigError(f"model '{proto.name}' has no dynamic_batching")
        batching = proto.dynamic_batching

        def specs(tensors: Any) -> tuple[TensorSpec, ...]:
            return tuple(TensorSpec(t.name, pb.DataType.Name(t.data_type), tuple(t.dims)) for t in tensors)

        return cls(
            name=proto.name,
            max_batch_size=proto.max_batch_size,
            max_queue_delay_ns=batching.max_queue_delay_microseconds * _US,
            instances=sum(group.count or 1 for group in proto.instance_group) or 1,
            queue_timeout_ns=batching.default_queue_policy.default_timeout_microseconds * _US,
            inputs=specs(proto.input),
            outputs=specs(proto.output),
            backend=proto.backend,
            parameters={key: value.string_value for key, value in proto.parameters.items()},
        )

    @classmethod
    def from_pbtxt(cls, text: str) -> BatcherConfig:
        """Read `config.pbtxt`; ConfigError says where the text is wrong."""
        return cls.from_proto(parse_pbtxt(text))


def parse_pbtxt(text: str) -> ModelConfig:
    """Parse the text of a `config.pbtxt`; ConfigError carries line and column of the first mistake."""
    from google.protobuf import text_format
    from tritonclient.grpc import model_config_pb2 as pb

    try:
        return text_format.Parse(text, pb.ModelConfig())
    except text_format.ParseError as error:
        raise ConfigError(f"not a model configuration: {error}") from None
