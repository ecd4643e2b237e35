"""The public surface: what adapter authors, CI authors and users of the reference batcher import, listed once."""

from __future__ import annotations

import ast
import subprocess
import sys
from importlib import import_module
from importlib.resources import files
from pathlib import Path

import pytest

ROOT = Path(str(files("batchproof")))
PUBLIC = {
    "batchproof.targets": (
        "BUILT_IN Deployment Kind Payload Place Refused Request Response Target TargetError TargetInfo Unsupported "
        "Witness WitnessError read_log relay release resolve"
    ),
    "batchproof.targets.kit": (
        "Counted Folder Guarded HttpClient HttpError Interpreter Loop Pool Server V2Grpc V2Http Witnesses cancel "
        "free_port free_ports http_kind http_status listens malformed split_rows until"
    ),
    "batchproof.reference_batcher": (
        "BatchStrategy Batcher BatcherConfig BatcherError Cancelled Closed ConfigError Expired Invalid Oversize QueueFull "
        "QueuePolicy SequenceBatching StateSpec StrategyError TensorSpec"
    ),
    "batchproof.reports": (
        "BenchReport Figure Measured Report ReportError VERDICTS figures_of headline measured read read_bench"
    ),
}
ENGINES = {"batchproof.targets.engines", "batchproof.targets.witness.paged", "batchproof.reference_batcher.continuous"}
KINDS = ("in_process", "asyncio_loop", "http_server", "grpc_v2_server", "sequences", "engine")
ADAPTERS = ("targets/litserve.py", *(f"commands/new/skeleton/{kind}/example_adapter.py" for kind in KINDS))
HEAVY = ("torch", "tritonclient", "litserve", "scipy", "pytest")


@pytest.mark.parametrize("room", PUBLIC)
def test_a_room_exports_what_is_listed(room: str) -> None:
    """The room exports these names and no others, and each of them exists."""
    module = import_module(room)

    assert sorted(module.__all__) == sorted(PUBLIC[room].split())
    assert all(hasattr(module, name) for name in module.__all__)


@pytest.mark.parametrize("path", ADAPTERS)
def test_an_adapter_needs_nothing_else(path: str) -> None:
    """Adapters import the public room of targets and nothing behind it."""
    source = ROOT / path
    if not source.exists():
        pytest.skip("only in a checkout")
    nodes = [node for node in ast.walk(ast.parse(source.read_text(encoding="utf-8"))) if isinstance(node, ast.ImportFrom)]
    behind = {node.module for node in nodes if str(node.module).startswith(("batchproof.targets", "batchproof.reference"))}

    assert behind <= set(PUBLIC) | (ENGINES if "skeleton/engine" in path else set())
    assert "batchproof.targets" in behind


def test_targets_import_light() -> None:
    """An adapter in a server's own environment needs numpy and nothing more."""
    program = f"import sys, batchproof.targets.kit; print(*[name for name in {HEAVY} if name in sys.modules])"

    loaded = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)

    assert loaded.stdout.split() == []
