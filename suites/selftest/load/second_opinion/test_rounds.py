"""The comparison with other load generators measures both sides, and says what is missing."""

from __future__ import annotations

import sys
import time
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import pytest

from batchproof.load.second_opinion import loadgen, rounds
from batchproof.load.second_opinion.opinion import ToolMissing
from batchproof.targets.protocol import Request, TargetInfo


class Sleeper:
    """A target and its deployment: it serves one request at a time, a millisecond each."""

    info = TargetInfo("sleeper", "1", "here")

    def deploy(self, _config: Any) -> Sleeper:
        """Start the thread that sleeps."""
        self.pool = ThreadPoolExecutor(1)
        return self

    def submit(self, _request: Request) -> Future[Any]:
        """Sleep."""
        return self.pool.submit(time.sleep, 0.001)

    def close(self) -> None:
        """End it."""
        self.pool.shutdown()


def test_the_comparison_measures_both_sides(monkeypatch: pytest.MonkeyPatch) -> None:
    """LoadGen and our generator run briefly on the same target: every scenario has figures from both."""
    try:
        loadgen.module()
    except ToolMissing as missing:
        pytest.skip(str(missing))
    monkeypatch.setattr(rounds, "ATTEMPTS", 1)
    said: list[str] = []

    pairs = rounds.in_process(Sleeper(), 1, 0.3, said.append)

    assert [pair.name for pair in pairs] == [f"sleeper: LoadGen {one}" for one in ("Server", "SingleStream", "Offline")]
    assert all(pair.ours.throughput > 0 and pair.theirs.throughput > 0 for pair in pairs)
    assert [pair.theirs.clock for pair in pairs] == ["schedule", "send", "send"]
    assert len(said) == 3


def test_a_missing_tool_is_reported_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without LoadGen there is nothing to compare, and the message says how to install it."""
    monkeypatch.setitem(sys.modules, "mlperf_loadgen", None)
    said: list[str] = []

    assert rounds.in_process(Sleeper(), 3, 0.1, said.append) == []
    assert said == ["skipped: MLPerf LoadGen is not installed: pip install 'batchproof[opinions]'"]
