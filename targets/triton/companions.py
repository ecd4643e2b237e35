"""What a model needs around its `config.pbtxt` before it loads: the models of an ensemble's steps, and label files."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from batchproof.targets.triton.loader import BACKEND

if TYPE_CHECKING:
    from tritonclient.grpc.model_config_pb2 import ModelConfig


def labels(proto: ModelConfig) -> dict[str, bytes]:
    """Return the label files that the configuration names, as far as they are plain names in the model's own folder."""
    named = {one.label_filename for one in proto.output}
    return {name: b"label\n" for name in sorted(named) if is_plain(name) and name != "config.pbtxt"}


def is_plain(name: str) -> bool:
    """Return whether this can be a file's or a folder's name."""
    return bool(name) and not {"/", "\0"} & set(name) and name not in (".", "..") and len(name.encode()) < 256


def companions(proto: ModelConfig, folder: str) -> Iterator[tuple[str, str]]:
    """Yield a model for each that an ensemble's steps name: name, config.pbtxt, with the tensors that the steps map.

    Tensors that the steps connect have one type and shape: those of the ensemble's own tensor, or FP32 of any shape.
    """
    from tritonclient.grpc import model_config_pb2 as pb

    if not proto.HasField("ensemble_scheduling"):
        return
    steps = [step for step in proto.ensemble_scheduling.step if is_plain(step.model_name) and step.model_name != folder]
    links = _links(steps)
    like = {_root(links, one.name): one for one in (*proto.input, *proto.output)}
    for name in dict.fromkeys(step.model_name for step in steps):
        made = pb.ModelConfig(name=name, backend=BACKEND, max_batch_size=max(proto.max_batch_size, 0))
        made.version_policy.all.SetInParent()
        for word in ("input", "output"):
            for own in _mapped(steps, name, word):
                one = like.get(_root(links, (name, word, own)))
                tensor = getattr(made, word).add(name=own, data_type=pb.TYPE_FP32, dims=[-1])
                if one is not None:
                    # The server compares an ensemble's own shape after the reshape.
                    tensor.data_type, tensor.dims[:] = one.data_type, one.reshape.shape or one.dims
        for tensor in made.input:
            tensor.optional = True  # another step may leave it out
        yield name, str(made)


def _mapped(steps: Sequence[Any], model: str, word: str) -> list[str]:
    """Return the tensors of a model that the steps map: its inputs or its outputs."""
    return sorted({own for step in steps if step.model_name == model for own in getattr(step, f"{word}_map") if own})


def _links(steps: Sequence[Any]) -> dict[Hashable, Hashable]:
    """Connect each tensor of a model with the ensemble's tensors that it is mapped to."""
    links: dict[Hashable, Hashable] = {}
    for step in steps:
        for word in ("input", "output"):
            for own, outer in getattr(step, f"{word}_map").items():
                links[_root(links, (step.model_name, word, own))] = _root(links, outer)
    return links


def _root(links: Mapping[Hashable, Hashable], one: Hashable) -> Hashable:
    while one in links and links[one] != one:
        one = links[one]
    return one
