"""What is found out about an engine first: the limit that no scheduler can exceed, and what its iterations take."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from batchproof.bench.engines.asked import WORKS
from batchproof.bench.engines.calibration import limit, pace_of
from batchproof.load.generation.demand import Demand
from batchproof.load.schedule import Schedule
from batchproof.reference_batcher.continuous import EngineConfig

MS = 1_000_000
WORK = WORKS["accelerator"]


def asked(prompts: list[int], texts: list[int]) -> Demand:
    """Return requests with these lengths."""
    columns = (np.array(one, np.int64) for one in (prompts, texts))
    return Demand(Schedule(np.zeros(len(texts), np.int64), "by hand", 1), *columns, np.zeros(len(texts), np.int32))


def test_rows_or_tokens_limit_the_iterations() -> None:
    """4 texts of 8 tokens on 2 rows need 16 iterations; a prompt of 100 tokens with a budget of 10 needs at least 10."""
    config = EngineConfig(2, 10, 16, 64, 512)
    rows, tokens = limit(asked([1] * 4, [8] * 4), config, WORK), limit(asked([100], [1]), config, WORK)

    assert rows == pytest.approx(32 / (16 * 0.01 + 32 * 0.00005))
    assert tokens == pytest.approx(1 / (10 * 0.01 + 100 * 0.00005))
    assert limit(asked([1], [1]), config, WORKS["bare"]) is None


def lines(*each: tuple[int, int, int]) -> list[dict[str, Any]]:
    """Return the witness's lines of iterations: rows, new tokens of the first row, and the time until the next one."""
    found, now = [], 0
    for rows, first, took in (*each, (1, 1, 0)):
        found.append({"enter_ns": now, "rows": [[1, 0, first if row == 0 else 1, 0, []] for row in range(rows)]})
        now += took
    return found


def test_what_an_engine_adds_to_the_device() -> None:
    """1 ms an iteration, 0.1 ms a row and 0.01 ms a token besides 10 ms and 0.05 ms a token."""

    def took(rows: int, tokens: int) -> int:
        return 11 * MS + rows * MS // 10 + tokens * (MS // 20 + MS // 100)

    lone = lines((1, 40, took(1, 40)), (1, 1, took(1, 1)), (1, 1, took(1, 1)))
    full = lines(*[(8, 1, took(8, 8))] * 5, (8, 33, took(8, 40)))
    pace = pace_of(WORK, lone, full)

    assert pace is not None
    assert (pace.base_ns, pace.token_ns, pace.row_ns) == pytest.approx((11 * MS, 0.06 * MS, 0.1 * MS))
    assert pace.takes_ns(8, 8) == took(8, 8)


def test_without_lines_nothing_is_known() -> None:
    """An engine whose iterations nobody sees has no pace."""
    assert pace_of(WORK, [], lines((1, 1, MS))) is None
