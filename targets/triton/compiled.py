"""Libraries of our own, in C: compiled here, by the system's compiler, when they are needed."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from functools import cache
from importlib.resources import as_file, files
from pathlib import Path

from batchproof.host.scratch import scratch
from batchproof.targets.protocol import TargetError
from batchproof.targets.witness.probe import COLUMNS, FAILURE, HOLD_LIMIT_NS, INFO, NO_NUMBER, VERSION, VOLUME

STATE_BACKEND = "batchproof_state"  # in a model's version folder, Triton finds a backend's library by this name
STATE_LIBRARY = f"libtriton_{STATE_BACKEND}.so"


def compiler() -> str:
    """Return the path of the C compiler, or an empty string."""
    return shutil.which("cc") or shutil.which("gcc") or ""


def compile_library(source: str, what: str, into: Path, *options: str) -> None:
    """Compile one of this folder's sources into a shared library; TargetError says why `what` cannot be compiled."""
    if not compiler():
        raise TargetError(f"{what} needs a C compiler, and there is no cc: install gcc")
    with as_file(files("batchproof.targets.triton") / source) as path:
        command = [compiler(), "-O1", "-shared", "-fPIC", *options, "-o", str(into), str(path)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise TargetError(f"{what} does not compile: {done.stderr[-500:]}")


@cache
def state_witness() -> bytes:
    """Return the library of the witness for models whose state the server keeps."""
    columns = {"SERIAL": "serial", "HOLD": "hold", "WORK_NS": "work_ns", "ROW_WORK_NS": "row_work_ns", "FAIL": "fail"}
    given = {name: COLUMNS.index(column) for name, column in columns.items()}
    given |= {"COLUMNS": len(COLUMNS), "INFO": len(INFO), "VERSION": VERSION, "HOLD_LIMIT_NS": HOLD_LIMIT_NS}
    given["NO_NUMBER"] = NO_NUMBER
    texts = {"FAILURE": FAILURE, "STATE_IN": "STATE", "STATE_OUT": "STATE_AFTER"}
    texts |= {"SECOND_IN": "SECOND", "SECOND_OUT": "SECOND_AFTER"}
    options = [f"-D{name}=({value})" for name, value in given.items()]
    options += [f'-D{name}="{text}"' for name, text in texts.items()]
    with tempfile.TemporaryDirectory(prefix=scratch()) as folder:
        library = Path(folder) / STATE_LIBRARY
        compile_library("state_witness.c", "the witness of models with implicit state", library, *options)
        return library.read_bytes()


@cache
def strategy_library() -> bytes:
    """Return the library of our batching strategies."""
    with tempfile.TemporaryDirectory(prefix=scratch()) as folder:
        library = Path(folder) / "batchstrategy.so"
        compile_library("strategy.c", "a batching strategy for Triton", library, f"-DVOLUME={VOLUME}")
        return library.read_bytes()
