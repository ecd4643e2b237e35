"""The cost of a million inferences is arithmetic on the curve."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import pytest

from batchproof.bench.calibration import calibrated
from batchproof.bench.measurement import Price
from batchproof.bench.measurements import cost
from batchproof.bench.oracle.curve import Curve
from batchproof.bench.oracle.theory import md1_percentile_ns
from batchproof.load.workload import MS, WORKS, Skipped

if TYPE_CHECKING:
    from collections.abc import Callable

    from batchproof.bench.measurement import Bench

ACCELERATOR = WORKS["accelerator"]
BASE_NS, ROW_NS = ACCELERATOR.base_ns, ACCELERATOR.row_ns


def test_cost_is_arithmetic(bench: Callable[..., Bench], monkeypatch: pytest.MonkeyPatch) -> None:
    """At 3.60 an hour, a million inferences at 1000/s cost 1, and each batch size costs the price over its rate."""
    monkeypatch.setattr(cost, "REQUESTS", (4000, 4000))  # there is no noise that more would average out
    assert cost.per_million(3.6, 1000) == pytest.approx(1.0)
    assert cost.per_million(3.6, 0) is None
    priced = bench(price=Price(3.6, "USD"))
    one = cost.measure(priced, partial(calibrated, priced)).facts()["works"]["accelerator"]

    for batch in one["batches"]:
        assert batch["cost"] == pytest.approx((BASE_NS + ROW_NS * batch["rows"]) / batch["rows"] / 1e6)
    assert "USD a million at 128 rows" in one["says"]
    costs = [slo["cost"] for slo in one["slos"]]
    assert costs == sorted(costs, reverse=True)


def test_the_rate_under_an_slo_is_that_of_theory() -> None:
    """One request at a time is M/D/1.

    at the rate found, theory's p99 equals the limit to within the noise of one simulation.
    """
    service_ns, slo_ns = 2 * MS, 10 * MS

    rate = cost.highest_rate(Curve((1,), (service_ns,)), 1, slo_ns, seed=3, requests=100_000)

    assert md1_percentile_ns(rate, service_ns, 99) == pytest.approx(slo_ns, rel=0.06)


def test_without_a_price_there_is_no_cost(bench: Callable[..., Bench]) -> None:
    """The result says which option gives the price."""
    one = bench()
    with pytest.raises(Skipped, match="--price-per-hour"):
        cost.measure(one, partial(calibrated, one))
