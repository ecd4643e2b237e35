"""A configuration completed as a model's backend might: the empty stand-in has no model file to complete it from."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from batchproof.targets.triton.completion import adds_tensors, fills_tensors, sets_batch_size

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tritonclient.grpc.model_config_pb2 import ModelConfig

COMPLETED = "completed"  # in a record: what was changed
GAP = re.compile(
    r"must specify '(data_type|dims)'|cannot have empty reshape for non-batching model"
    r"|unknown source input name|unknown target output name"
)
ANY, IMAGE = [-1], [-1, -1, -1]


def complete(config: ModelConfig) -> bool:
    """Write what the backend adds, or may add, wherever the server would miss it; False if there is nothing."""
    before = config.SerializeToString(deterministic=True)
    if fills_tensors(config) is not False:
        for tensor in (*config.input, *config.output):
            tensor.data_type = tensor.data_type or 11  # TYPE_FP32
            if not tensor.dims:
                tensor.dims[:] = _dims(tensor)
    if sets_batch_size(config) is not False and any(_is_scalar(one) for one in (*config.input, *config.output)):
        config.max_batch_size = 1
    batch = (*config.batch_input, *config.batch_output)
    _add(config, "input", [name for one in batch for name in one.source_input])
    _add(config, "output", [name for one in config.batch_output for name in one.target_name])
    return bool(config.SerializeToString(deterministic=True) != before)


def _dims(tensor: Any) -> Sequence[int]:
    """Return a shape that the other fields of the tensor allow."""
    if tensor.HasField("reshape"):
        return list(tensor.reshape.shape) or [1]
    return IMAGE if getattr(tensor, "format", 0) or tensor.is_non_linear_format_io else ANY


def _is_scalar(tensor: Any) -> bool:
    return bool(tensor.HasField("reshape")) and not tensor.reshape.shape


def _add(config: ModelConfig, word: str, names: Sequence[str]) -> None:
    tensors = getattr(config, word)
    known = {tensor.name for tensor in tensors}
    if adds_tensors(config, word) is False:
        return
    for name in dict.fromkeys(name for name in names if name and name not in known):
        tensors.add(name=name, data_type=11, dims=ANY)
