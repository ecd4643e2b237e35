"""The predicted grid, and what was verified, as a person reads them."""

from __future__ import annotations

from batchproof.bench.tables.table import MS, Cell, Table, in_short_ms
from batchproof.bench.tune.search import Forecast
from batchproof.bench.tune.tune import Tuning
from batchproof.bench.tune.verification import Verified

VERIFIED_HEADS = ("batch", "delay ms", "/s", "verdict", "p99 ms", "simulated", "ratio", "over", "n")


def tables(found: Tuning) -> tuple[Table, ...]:
    """Return both tables."""
    budget = f"{found.objective.goal.budget_ns / MS:g} ms"
    heads = ("max_batch", "delay ms", "QPS", "p99 then", f"/s in {budget}", "p99 ms", "mean batch")
    rivals = [found.rival] if found.rival else []
    return (
        Table(f"Predicted, {found.objective.traffic.pattern} traffic", heads, [_forecast(one) for one in found.forecasts]),
        Table("Verified on the target", VERIFIED_HEADS, [_verified(one) for one in (*found.tried, *rivals)]),
    )


def _forecast(one: Forecast) -> list[Cell]:
    return [
        one.config.max_batch_size,
        one.config.max_queue_delay_ns / MS,
        round(one.qps),
        in_short_ms(one.qps_p99_ns),
        round(one.rate),
        in_short_ms(one.p99_ns),
        round(one.batch, 1),
    ]


def _verified(one: Verified) -> list[Cell]:
    return [
        one.config.max_batch_size,
        one.config.max_queue_delay_ns / MS,
        round(one.rate),
        one.verdict,
        in_short_ms(one.p99_ns),
        in_short_ms(one.predicted_ns),
        None if one.ratio is None else round(one.ratio, 3),
        one.over,
        one.requests,
    ]
