"""The models that are next to a configuration: what `lint` compares the steps of an ensemble with."""

from __future__ import annotations

import ast
import os
import re
import warnings
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from batchproof.fixtures.judging.checkers.config.common import Beside, Neighbour
from batchproof.fixtures.judging.checkers.config.model import OTHER_BACKENDS, TELLING
from batchproof.fixtures.judging.checkers.config.samples import files_of
from batchproof.fixtures.judging.pbtxt import parse
from batchproof.targets.triton.completion import PLATFORMS, backend_of

if TYPE_CHECKING:
    from tritonclient.grpc.model_config_pb2 import ModelConfig

CONFIG, MODEL = "config.pbtxt", "model.py"
# Triton's own backends: if the model's file has another type or shape for a tensor than the configuration, they refuse the
# model. A backend of somebody else may do anything.
KEEPING = OTHER_BACKENDS | set(PLATFORMS)
# Backends that take inputs and outputs from the configuration alone once it lists both. Others may complete them from the
# model's file, and Python's from the model's code.
AS_LISTED = ("onnxruntime", "pytorch")
# The names under which a backend looks for the model's file, if the configuration does not name it.
NAMES = {
    "onnxruntime": ("model.onnx",),
    "openvino": ("model.xml",),
    "python": ("model.py", "model.pyc"),
    "pytorch": ("model.pt", "model.py"),
    "tensorrt": ("model.plan",),
}
PLANS = (".plan", ".engine", ".trt")  # ends of names of one kind of file
COMPLETES = b"auto_complete_config"
LONGEST = 1 << 20  # bytes of code that are parsed
# A class that is imported, or that has a base, may complete the configuration in a file that is not read.
WHOLE = re.compile(rb"^class\s+TritonPythonModel\s*(?:\(\s*(?:object)?\s*\)\s*)?:", re.MULTILINE)


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
        codes = _codes(config.config, list(versions.values()), read)
        as_listed = _as_listed(config.config, codes)
        completes = bool(codes) and all(may_complete(code) for code in codes)
        keeps = as_listed or _keeps(config.config)
        file = _file(versions.values())
        files = _files(folder, config.config) if versions else {}
        astray = _astray(config.config, list(versions.values()))
        return Neighbour(config.config, frozenset(versions), as_listed, keeps, completes=completes, file=file, files=files,
                         astray=astray)  # fmt: skip

    @cache
    def is_served() -> bool:
        """Return whether this is a folder from which a server serves: the ensemble has a version, and is not alone."""
        if not any(one.name.isdecimal() and one.is_dir() for one in path.parent.iterdir()):
            return False
        return any((one / CONFIG).is_file() for one in repository.iterdir() if one != path.parent and one.is_dir())

    return find


def _keeps(config: ModelConfig) -> bool:
    """Return whether the server keeps what the configuration says of each tensor that it lists."""
    return backend_of(config) in KEEPING


def _file(versions: Iterable[Path]) -> str:
    """Return the name of the model's file if it is the only one from which the server can guess a backend."""
    try:
        names = {file.name for one in versions for file in one.iterdir() if file.name in TELLING}
    except OSError:
        return ""
    return names.pop() if len(names) == 1 else ""


def _astray(config: ModelConfig, versions: list[Path]) -> tuple[str, str] | None:
    """Return a file of the model's kind, and the name that its backend looks for, if no version has a file of that name."""
    names = NAMES.get(backend_of(config), ())
    if config.default_model_filename:
        names = (config.default_model_filename,)
    if not names or config.cc_model_filenames:
        return None
    kind = Path(names[0]).suffix
    kinds = PLANS if kind in PLANS else (kind,)
    found = ""
    try:
        for one in sorted(versions):
            if any(os.path.lexists(f"{one}/{name}") for name in names):
                return None
            alike = sorted(file.name for file in one.iterdir() if file.suffix and file.suffix in kinds)
            found = found or (f"{one.name}/{alike[0]}" if alike else "")
    except (OSError, ValueError):
        return None
    return (found, names[0]) if found else None


def _files(folder: Path, config: ModelConfig) -> dict[str, int | None]:
    """Return the length of each file that the configuration names, in bytes; None if it is not in the model's folder."""
    return {name: _length(f"{folder}/{name}") for name, *_ in files_of(config)}


def _length(file: str) -> int | None:
    try:
        return os.path.getsize(file) if os.path.isfile(file) else None  # noqa: PTH113, PTH202 - the name may be anything
    except (OSError, ValueError):
        return None


def _codes(config: ModelConfig, versions: list[Path], read: Callable[[Path], bytes]) -> list[bytes]:
    """Return the Python file of each version of a model on Python's backend, if every one of them can be read."""
    if backend_of(config) != "python":
        return []
    try:
        return [read(one / (config.default_model_filename or MODEL)) for one in versions]
    except (OSError, ValueError):
        return []


def _as_listed(config: ModelConfig, codes: list[bytes]) -> bool:
    """Return whether the server completes nothing of this configuration. codes: those of a Python model."""
    if config.HasField("ensemble_scheduling"):
        return True
    if backend_of(config) != "python":
        return bool(config.input and config.output) and backend_of(config) in AS_LISTED
    return bool(codes) and all(WHOLE.search(code) and not may_complete(code) for code in codes)


def may_complete(code: bytes) -> bool:
    """Return whether the code names the function that completes a configuration, and not only in a comment or a docstring.

    Code that this Python does not read counts by its text.
    """
    if COMPLETES not in code or len(code) > LONGEST:
        return COMPLETES in code
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what the code's author should know, and not who lints the configuration
            tree = ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return True
    said = {id(one.value) for one in ast.walk(tree) if isinstance(one, ast.Expr)}  # docstrings are expressions
    word = COMPLETES.decode()
    return any(word in _words(one) for one in ast.walk(tree) if id(one) not in said)


def _words(node: ast.AST) -> str:
    """Return the names, and the text, that a node of the code has."""
    values = (getattr(node, field, "") for field in ("name", "asname", "attr", "id", "arg", "value"))
    return " ".join(one for one in values if isinstance(one, str))
