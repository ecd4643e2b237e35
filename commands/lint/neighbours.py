"""The models that are next to a configuration: what `lint` compares the steps of an ensemble with."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from batchproof.fixtures.judging.checkers.config.common import Beside, Neighbour
from batchproof.fixtures.judging.checkers.config.model import OTHER_BACKENDS, PLATFORMS
from batchproof.fixtures.judging.pbtxt import parse

if TYPE_CHECKING:
    from tritonclient.grpc.model_config_pb2 import ModelConfig

CONFIG, MODEL = "config.pbtxt", "model.py"
# Triton's own backends: if the model's file has another type or shape for a tensor than the configuration, they refuse the
# model. A backend of somebody else may do anything.
KEEPING = OTHER_BACKENDS | set(PLATFORMS)
# Backends that take inputs and outputs from the configuration alone once it lists both. Others may complete them from the
# model's file, and Python's from the model's code.
AS_LISTED = ("onnxruntime", "pytorch")
IMPLY = {platform: backend for backend, platforms in PLATFORMS.items() for platform in platforms}
COMPLETES = b"auto_complete_config"


def neighbours(path: Path, read: Callable[[Path], bytes], release: tuple[int, int] | None) -> Beside:
    """Return how to find the models next to the configuration at this path. Unreadable files are treated as unknown."""
    repository = path.parent.parent

    @cache
    def find(name: str) -> Neighbour:
        if not name or "/" in name or "\0" in name or name in (".", ".."):
            return Neighbour()
        folder = repository / name
        try:
            if not folder.is_dir():
                return Neighbour(absent=is_served())
            config = parse(read(folder / CONFIG).decode("utf-8", "surrogateescape"), release)
            versions = {int(one.name): one for one in folder.iterdir() if one.name.isdecimal() and one.is_dir()}
        except (OSError, ValueError):
            return Neighbour()
        if config.mistakes:
            return Neighbour()
        as_listed = _as_listed(config.config, list(versions.values()), read)
        return Neighbour(config.config, frozenset(versions), as_listed, as_listed or _keeps(config.config))

    @cache
    def is_served() -> bool:
        """Return whether this is a folder from which a server serves: the ensemble has a version, and is not alone."""
        if not any(one.name.isdecimal() and one.is_dir() for one in path.parent.iterdir()):
            return False
        return any((one / CONFIG).is_file() for one in repository.iterdir() if one != path.parent and one.is_dir())

    return find


def _keeps(config: ModelConfig) -> bool:
    """Return whether the server keeps what the configuration says of each tensor that it lists."""
    return (config.backend or IMPLY.get(config.platform, "")) in KEEPING


def _as_listed(config: ModelConfig, versions: list[Path], read: Callable[[Path], bytes]) -> bool:
    """Return whether the server completes nothing of this configuration."""
    if config.HasField("ensemble_scheduling"):
        return True
    if not (config.input and config.output):
        return False
    backend = config.backend or IMPLY.get(config.platform, "")
    if backend != "python":
        return backend in AS_LISTED
    models = [one / (config.default_model_filename or MODEL) for one in versions]
    try:
        return bool(models) and all(COMPLETES not in read(one) for one in models)
    except (OSError, ValueError):
        return False
