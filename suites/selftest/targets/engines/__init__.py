"""Tests of the adapters for engines with continuous batching, without their engines where that is possible."""

from __future__ import annotations

import os

import pytest


def interpreter(engine: str) -> str:
    """Return the interpreter that has an engine, as the environment names it: BATCHPROOF_VLLM_PYTHON."""
    return os.environ.get(f"BATCHPROOF_{engine.upper()}_PYTHON", "")


def needs(engine: str) -> pytest.MarkDecorator:
    """Return the mark of tests that need an engine in an interpreter of its own."""
    name = f"BATCHPROOF_{engine.upper()}_PYTHON"
    return pytest.mark.skipif(not interpreter(engine), reason=f"needs an engine: {name} names no interpreter that has it")
