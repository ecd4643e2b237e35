"""The result of tuning an engine, as tables and as figures."""

from __future__ import annotations

from batchproof.bench.engines.tuning.tuning import EngineTuning
from batchproof.bench.tables.table import Cell, Table, percent
from batchproof.reports.figure_names import figure
from batchproof.reports.figures import Figure


def tables(found: EngineTuning) -> tuple[Table, ...]:
    """Return the predicted grid, and what was verified."""
    predicted: list[list[Cell]] = [
        [one.config.max_num_seqs, one.config.max_num_batched_tokens, round(one.rate, 1), one.fails or None]
        for one in found.forecasts
    ]
    verified: list[list[Cell]] = [
        [
            one.config.max_num_seqs,
            one.config.max_num_batched_tokens,
            round(one.rate, 1),
            one.verdict,
            percent(one.kept),
            percent(one.predicted),
            one.requests,
        ]
        for one in found.tried
    ]
    heads = ("rows", "tokens", "requests/s")
    note = f"99 % of the requests meet the objective: {found.objective}."
    return (
        Table("Predicted", (*heads, "lost first"), predicted, note),
        Table("Verified on the engine", (*heads, "verdict", "kept %", "simulated %", "n"), verified),
    )


def figures(found: EngineTuning) -> tuple[Figure, ...]:
    """Return the rate that was shown to meet the objective, if any."""
    best = found.chosen
    return () if best is None else (figure("tune.requests_per_s", best.rate, n=best.requests, work=found.work),)
