"""What tuning found, as figures."""

from __future__ import annotations

from typing import Any

from batchproof.bench.tune.tune import Tuning
from batchproof.reports.figure_names import figure
from batchproof.reports.figures import Figure


def figures(found: Tuning) -> tuple[Figure, ...]:
    """Return the rate that was shown to meet the objective, and the latency at it. There are none if none was shown."""
    best, goal = found.chosen, found.objective.goal
    if best is None:
        return ()
    about: dict[str, Any] = {
        "work": found.objective.work.name,
        "traffic": found.objective.traffic.pattern.rpartition("/")[2],
        "budget": f"{goal.budget_ns / 1e6:g}ms",
    }
    rate = figure("tune.rows_per_s", best.rate, n=best.requests, **about)
    if best.p99_ns is None:
        return (rate,)
    return rate, figure("tune.p99_ns", best.p99_ns, n=best.requests, **about)
