"""Runs for the tests."""

from __future__ import annotations

from typing import Any

from batchproof.reports.figures import Figure
from batchproof.reports.history import Commit, Host, Run
from batchproof.reports.history.store import opened
from batchproof.reports.history.writing import add

HOST = Host({"machine": "x86_64", "cpus": 2, "kernel": "6.1"})
OTHER = Host({"machine": "aarch64", "cpus": 8})
START = 1_700_000_000
EACH = 25  # runs of a writer


def sha(number: int) -> str:
    """Return the hash of a commit."""
    return f"{number:040x}"


def run(number: int = 0, value: float = 100.0, **more: Any) -> Run:
    """Return the run of commit `number`, an hour after the one before, with two figures."""
    at = START + 3600 * number
    figures = (Figure("sweep.best_rows_per_s[work=mlp]", value, "rows/s", "higher", value - 1, value + 2, 8),
               Figure("open.p99_ns[load=0.6]", 2e6 + number, "ns", "lower", None, None, 900))  # fmt: skip
    given = {"when": at + 60, "kind": "bench", "origin": "batchproof 2026.11.0", "target": "reference", "version": "1.0",
             "form": "bench quick", "host": HOST, "figures": figures, "commit": Commit(sha(number), at, branch="main"),
             "about": {"command": "batchproof bench"}}  # fmt: skip
    return Run(**{**given, **more})


def write(where: str, first: int) -> None:
    """Add runs to a history, and one more again and again. A process of its own does this, and imports it by its name."""
    with opened(where, create=True) as store:
        for number in range(first, first + EACH):
            list(add(store, [run(number, target=f"t{number % 3}"), run(10_000)]))
