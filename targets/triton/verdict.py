"""The server's verdict on a `config.pbtxt`, kept apart from what only its surroundings explain.

A machine without GPUs, a model file that is not there and a model of an ensemble that is not there are not mistakes of the
configuration. Where the server complains of one of these, what it asks for is put in place or the line is neutralised, and
the configuration is loaded again; the verdict says what was changed.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from batchproof.reference_batcher.config import parse_pbtxt
from batchproof.reference_batcher.errors import ConfigError
from batchproof.targets.triton.companions import companions, labels
from batchproof.targets.triton.completed import COMPLETED, GAP, complete
from batchproof.targets.triton.loader import BACKEND, ENDED, LOADED, REFUSED, SILENT, Answer, ConfigurationServer

if TYPE_CHECKING:
    from tritonclient.grpc.model_config_pb2 import ModelConfig

TENSORRT = "tensorrt"
ACCEPTED, UNTOLD = "accepted", "cannot tell"
_NAME = re.compile(rb"^\s*name\s*:\s*[\"']([^\"'\n]*)[\"']", re.MULTILINE)
_FOLDER = re.compile(r"unexpected directory name '.*' for model '.*', directory name must equal model name", re.DOTALL)
_NO_GPU = re.compile(
    r"has kind KIND_GPU but no GPUs are available|has kind KIND_CPU but specifies one or more GPUs"
    r"|specifies invalid or unsupported gpu id \d+\. GPUs with at least .* are: $"
)
_NO_BACKEND = re.compile(r"Could not determine backend for model|unable to find backend library for backend")
_NO_PLATFORM = re.compile(r"unexpected 'platform' and 'backend' pair, got:, tensorflow")
_NO_AGENT = re.compile(r"unable to find '.*' for repo agent")
_OF_TENSORRT = re.compile(r"only supported for (?:the )?TensorRT")
# Words about what is missing around the configuration, for which there is no stand-in.
_SURROUNDINGS = re.compile(
    r"for repo agent|No such file|failed to open|cannot be the name of a folder|unable to find backend library"
    r"|atching (?:strategy|library)|contains models that are not available|unexpected directory name"
    r"|unable to load shared library|whose required version"
)
_OF_A_FILE = re.compile(r"missing required input|unexpected shape for input")  # the model's file may have other tensors
MOST_VERSIONS = 16


@dataclass(frozen=True)
class Verdict:
    """accepted, refused, ended (the server ends), silent, or cannot tell; the server's words; what was changed before."""

    server: str
    words: str = ""
    changed: tuple[str, ...] = ()
    folder_differs: bool = False


def verdict(server: ConfigurationServer, folder: str, config: bytes) -> Verdict:
    """Return what the server says of this config.pbtxt in a model folder of this name."""
    proto = _parsed(config)
    changed: list[str] = []
    differs = False
    while True:
        others = dict(companions(proto, folder)) if proto is not None else {}
        needed = labels(proto) if proto is not None else {}
        answer = server.ask(folder, config, versions=_versions(proto), files=needed, others=others)
        if others and "ensemble steps" not in changed:
            changed.append("ensemble steps")
        if answer.how == LOADED:
            return Verdict(ACCEPTED, "", tuple(changed), differs)
        if answer.how == ENDED and proto is not None:
            answer = _confirmed(folder, proto, others, answer)
            changed.append("Python's backend")
            if answer.how == LOADED:
                return Verdict(ACCEPTED, "", tuple(changed), differs)
        if answer.how in (ENDED, SILENT):
            return Verdict(answer.how, answer.words.partition(";")[0], tuple(changed), differs)
        if not differs and _FOLDER.search(answer.words):
            name = proto.name if proto is not None else named(config)
            folder, differs = name, True
            continue
        edit = next((what for words, what in _EDITS if words.search(answer.words) and what not in changed), None)
        if edit is None or proto is None or not _edit(edit, proto):
            around = (
                _no_folder(proto, answer.words)
                or _SURROUNDINGS.search(answer.words)
                or (edit and proto is None)
                or (others and not _is_text(config))
                or (COMPLETED in changed and _OF_A_FILE.search(answer.words))
            )
            told = UNTOLD if around else REFUSED
            return Verdict(told, answer.words, tuple(changed), differs)
        changed.append(edit)
        config = str(proto).encode()


def _confirmed(folder: str, proto: ModelConfig, others: Mapping[str, str], ended: Answer) -> Answer:
    """Load what ended the server once more, with the real Python backend: an empty one may end what a real one survives."""
    proto = type(proto).FromString(proto.SerializeToString())
    if not proto.HasField("ensemble_scheduling"):
        proto.backend, proto.platform = "python", ""
    server = ConfigurationServer(python=True)
    try:
        answer = server.ask(folder, str(proto).encode(), versions=_versions(proto), files=labels(proto), others=others)
    finally:
        server.close()
    return ended if answer.how == ENDED else answer


_EDITS = (
    (_NO_GPU, "GPUs"),
    (_NO_BACKEND, "backend"),
    (_OF_TENSORRT, "backend"),
    (_NO_PLATFORM, "platform"),
    (_NO_AGENT, "repository agents"),
    (GAP, COMPLETED),
)


def _edit(what: str, proto: ModelConfig) -> bool:
    """Neutralise what only this machine lacks; False if there is nothing to neutralise."""
    if what == COMPLETED:
        return complete(proto)
    if what == "backend":
        # Guessed from the model's name or files, and it has the file of a Python model here.
        if not proto.backend and not proto.platform:
            proto.backend = TENSORRT if _may_be_tensorrt(proto) else BACKEND
            return True
        return False
    if what == "repository agents":
        proto.ClearField("model_repository_agents")
        return True
    if what == "platform":
        # Guessed from the file in the version folder, unless the configuration names another.
        if proto.default_model_filename:
            return False
        proto.platform = "tensorflow_savedmodel"
        return True
    done = False
    for group in proto.instance_group:
        kind = group.Kind.Name(group.kind) if group.kind in group.Kind.values() else ""
        if min(group.gpus, default=0) >= 0 and (kind == "KIND_GPU" or (kind == "KIND_AUTO" and group.gpus)):
            group.kind = group.KIND_CPU
            group.ClearField("gpus")
            done = True
    return done


def _may_be_tensorrt(proto: ModelConfig) -> bool:
    """Return whether it has what the server takes from TensorRT models alone, and its file may be one of those."""
    tensors = (*proto.input, *proto.output)
    return proto.default_model_filename in ("", "model.plan") and (
        any(one.profile for one in proto.instance_group)
        or any(one.is_shape_tensor or one.is_non_linear_format_io for one in tensors)
    )


def _parsed(config: bytes) -> ModelConfig | None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # protobuf's own, of an escape that it does not know
            return parse_pbtxt(config.decode("utf-8", "replace"))
    except (ConfigError, RecursionError):
        return None


def _no_folder(proto: ModelConfig | None, words: str) -> bool:
    """Return whether the server misses the folder of a version that the configuration names."""
    return "at least one version must be available" in words and bool(proto and proto.version_policy.specific.versions)


def _is_text(config: bytes) -> bool:
    """Return whether it is UTF-8: no stand-in can have a tensor whose name is not."""
    try:
        config.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def named(config: bytes) -> str:
    """Return the name that the text gives the model, even where it does not parse; an empty string if none."""
    found = _NAME.search(config)
    return found[1].decode("utf-8", "replace") if found else ""


def _versions(proto: ModelConfig | None) -> tuple[int, ...]:
    """Return the versions that the configuration asks for, and 1: whether their folders exist is not its mistake.

    A version is a positive number, as Triton documents. It loads a folder called 0 or -2, too, but may never unload that.
    """
    asked = {1}
    if proto is not None:
        asked |= set(proto.version_policy.specific.versions)
        asked |= {step.model_version for step in proto.ensemble_scheduling.step}
    return tuple(sorted(version for version in asked if version > 0))[:MOST_VERSIONS]
