"""`batchproof lab spread` where it cannot run."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from typer.testing import CliRunner

from batchproof.cli import app

if TYPE_CHECKING:
    import pytest


def test_without_root_it_is_skipped_with_a_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing was measured, and nothing is wrong."""
    monkeypatch.setattr(os, "geteuid", lambda: 1000)

    result = CliRunner().invoke(app, ["lab", "spread"])

    assert (result.exit_code, result.stderr) == (5, "batchproof: skipped: it needs root, to make network namespaces\n")


def test_without_locust_it_is_misuse(monkeypatch: pytest.MonkeyPatch) -> None:
    """The message says what to install."""
    monkeypatch.setattr("batchproof.load.spread.lab.in_a_network.find_spec", lambda _: None)

    result = CliRunner().invoke(app, ["lab", "spread"])

    assert (result.exit_code, "pip install 'batchproof[spread]'" in result.stderr) == (2, True)
