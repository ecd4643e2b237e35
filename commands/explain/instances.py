"""How many instances a model has, which depends on the host's GPUs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from batchproof.fixtures.judging.checkers.config.common import enum_name
from batchproof.targets.triton.completion import backend_of

if TYPE_CHECKING:
    from tritonclient.grpc.model_config_pb2 import ModelConfig

TWO_ON_THE_CPU = ("onnxruntime", "tensorflow")  # the backends that have two instances there where no count is given


@dataclass
class Instances:
    """Those that serve. fixed: on every host. each: on each GPU. instead: in place of `each`, where there may be no GPU.

    passive: whether there are others, which are loaded and serve nothing.
    """

    fixed: int = 0
    each: int = 0
    instead: int = 0
    passive: bool = False

    @property
    def none(self) -> bool:
        """Whether none serves."""
        return not (self.fixed or self.each)

    @property
    def fewest(self) -> int:
        """How many there are at least, on a host with one GPU if that is fewer."""
        return self.fixed + (min(self.each, self.instead) if self.instead else self.each)

    def __str__(self) -> str:
        """Return it in words, such as `1 instance (with GPUs: 1 on each)`."""
        if self.none:
            return "no instance that serves"
        return self._serving() + ", besides passive ones, which serve nothing" * self.passive

    def _serving(self) -> str:
        if self.instead:
            more = f", and {self.fixed} more" * bool(self.fixed)
            return f"{_counted(self.fixed + self.instead)} (with GPUs: {self.each} on each{more})"
        words = [_counted(self.fixed)] * bool(self.fixed) + [f"{_counted(self.each)} on each GPU"] * bool(self.each)
        return " and ".join(words)


def instances(config: ModelConfig) -> Instances:
    """Return what the instance groups ask for; the server adds a group where there is none, and a count where that is 0."""
    on_cpu = 2 if backend_of(config) in TWO_ON_THE_CPU else 1
    found = Instances()
    for group in config.instance_group or (type(config)().instance_group.add(),):
        kind, count = enum_name(group, "kind"), max(0, group.count)
        if group.passive:
            found.passive = True
            continue
        if group.gpus:
            found.fixed += (count or 1) * len(group.gpus)
        elif kind == "KIND_GPU":
            found.each += count or 1
        elif kind == "KIND_AUTO":
            found.each += count or 1
            found.instead += count or on_cpu
        else:
            found.fixed += count or (on_cpu if kind == "KIND_CPU" else 1)
    return found


def _counted(count: int) -> str:
    return f"{count} instance{'s' * (count != 1)}"
