"""How long the queries of a large history take: one is made, by statements alone, and asked as charts and lists do."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass

from batchproof.reports.figures import Figure
from batchproof.reports.history.queries import Which, all_series, counted, entries, heads, points_of
from batchproof.reports.history.run import HistoryError, Host, Run
from batchproof.reports.history.store import Store, opened
from batchproof.reports.history.writing import add

TIMES = 7  # how often each query is made
CHART = 1000  # points of a chart: more are not told apart on a screen
START, STEP_S = 1_500_000_000, 600


RUNS = """
INSERT INTO runs (id, key, at, measured, added, kind, origin, target, version, form, host_id, commit_sha, commit_at, dirty,
                  branch, about)
WITH RECURSIVE made(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM made WHERE i < :last)
SELECT 1000000 + i, CAST(1000000 + i AS VARCHAR(20)), :start + i * :step, :start + i * :step, 0, 'bench', 'made', 'made',
       '1', 'made', (SELECT id FROM hosts), CAST(1000000 + i AS VARCHAR(20)), :start + i * :step, false, 'main', '{}'
FROM made
"""
POINTS = """
INSERT INTO points (series_id, at, run_id, value, low, high, n, valid)
WITH RECURSIVE made(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM made WHERE i < :last)
SELECT series.id, :start + i * :step, 1000000 + i, 100 + (i * 7919 + series.id * 104729) % 1000 / 250.0, 99, 105, 9, true
FROM made, series ORDER BY series.id, i
"""


@dataclass(frozen=True)
class Query:
    """What is asked, and how long that takes, in ms: the median and the longest. rows: how many it returned."""

    what: str
    rows: int
    median_ms: float
    longest_ms: float


def print_table(store: str, runs: int, figures: int) -> None:
    """Make a history at an address where there is none yet, and print how long its queries take."""
    with opened(store, create=True) as history:
        if counted(history):
            raise HistoryError(f"{history.address.shown} has runs: name a --store that is empty")
        began = time.monotonic()
        fill(history, runs, figures)
        print(f"{runs} runs of {figures} figures, made in {time.monotonic() - began:.0f} s")
    with opened(store) as history:
        for one in measured(history):
            print(f"{one.what:<44}{one.rows:>8} rows  median {one.median_ms:8.1f} ms  longest {one.longest_ms:8.1f} ms")


def fill(history: Store, runs: int, figures: int) -> None:
    """Make runs of one host, an hour apart by their commits, with values that go up and down."""
    from sqlalchemy import text

    found = tuple(Figure(f"made.figure_ns[number={number}]", 100.0, "ns", "lower") for number in range(figures))
    list(add(history, [Run(START, "bench", "made", "made", "1", "made", Host({"machine": "made"}), found)]))
    with history.writing() as connection:
        for statement in (RUNS, POINTS):
            connection.execute(text(statement), {"last": runs - 1, "start": START, "step": STEP_S})


def measured(history: Store) -> list[Query]:
    """Return how long each query takes that lists, charts and gates make."""
    (one, *_) = all_series(history, count=False)
    asked: dict[str, Callable[[], list[object]]] = {
        f"a chart: the newest {CHART} points of a series": lambda: list(points_of(history, one, last=CHART)),
        "all points of a series": lambda: list(points_of(history, one)),
        "all series, without counting their points": lambda: list(all_series(history, count=False)),
        "the newest 20 runs": lambda: list(heads(history, last=20)),
        "one run with its figures": lambda: list(entries(history, last=1)),
        "how many runs of a target there are": lambda: [counted(history, Which(target="made"))],
    }
    return [_timed(what, ask) for what, ask in asked.items()]


def _timed(what: str, ask: Callable[[], list[object]]) -> Query:
    rows, times = ask(), []
    for _ in range(TIMES):
        began = time.perf_counter_ns()
        rows = ask()
        times.append((time.perf_counter_ns() - began) / 1e6)
    return Query(what, len(rows), statistics.median(times), max(times))
