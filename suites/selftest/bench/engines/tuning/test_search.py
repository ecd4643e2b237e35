"""The highest rate that meets the objective, as simulated."""

from __future__ import annotations

import pytest

from batchproof.bench.engines.asked import Texts
from batchproof.bench.engines.calibration import Pace
from batchproof.bench.engines.serving import config_of
from batchproof.bench.engines.tuning.search import Model, forecasts
from batchproof.load.generation.lengths import Lengths
from batchproof.load.generation.samples import Objective
from batchproof.targets.engines.reference import CLAIMS

MS = 1_000_000
PACE = Pace(10 * MS, MS / 20, 0)
TEXTS = Texts(Lengths(64), Lengths(8), arrivals="constant")


def model(ttft_ms: int, itl_ms: int) -> Model:
    """Return a model of the reference engine with this objective."""
    return Model(TEXTS, PACE, Objective(ttft_ms * MS, itl_ms * MS), 1, requests=200)


def test_more_rows_serve_more() -> None:
    """The best comes first, and of equal ones the smaller."""
    grid = [config_of(CLAIMS, seqs, budget) for seqs in (2, 8) for budget in (256, 512)]
    found = forecasts(model(200, 50), grid, lambda _: None)

    assert [(one.config.max_num_seqs, one.config.max_num_batched_tokens) for one in found] == [
        (8, 256), (8, 512), (2, 256), (2, 512),
    ]  # fmt: skip
    assert found[0].rate > 2 * found[-1].rate


def test_one_row_serves_one_text_after_another() -> None:
    """A text of 8 tokens takes 7 iterations of 10.05 ms and one of 13.2 ms: 12 a second, if they come evenly."""
    (found,) = forecasts(model(15, 50), [config_of(CLAIMS, 1, 256)], lambda _: None)

    assert found.rate == pytest.approx(1000 / (7 * 10.05 + 13.2), rel=0.06)


def test_what_is_lost_first_is_named() -> None:
    """A budget of 512 lets several prompts into one iteration, which is then longer than the gap that is allowed."""
    wide, narrow = (config_of(CLAIMS, 16, budget) for budget in (512, 64))

    assert model(10_000, 12).forecast(wide).fails == "ITL"
    assert model(20, 100).forecast(narrow).fails == "TTFT"


def test_an_objective_that_nothing_keeps() -> None:
    """An iteration takes longer than the gap that is allowed."""
    found = model(1000, 5).forecast(config_of(CLAIMS, 4, 64))

    assert (found.rate, found.fails) == (0.0, "ITL")
