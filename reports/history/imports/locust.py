"""Locust: the file `PREFIX_stats.csv` of `--csv PREFIX` (written by 2.47.0).

https://docs.locust.io/en/stable/retrieving-stats.html. Its percentiles are rounded: to a millisecond below 100 ms, and to
two digits above. A request that failed counts with the others.
"""

from __future__ import annotations

from batchproof.reports.history.imports.source import Figures, Found, Source, as_number

NAME = "Locust"
HEADS = "Type,Name,Request Count,Failure Count,"
PERCENTILES = {"p50_ns": "50%", "p95_ns": "95%", "p99_ns": "99%", "mean_ns": "Average Response Time"}


def fits(source: Source) -> bool:
    """Return whether a file is of this kind."""
    return source.first_line().startswith(HEADS)


def read(source: Source) -> list[Found]:
    """Return the run in a file: each kind of request, and all of them (Locust's line Aggregated)."""
    figures = Figures("locust")
    for row in source.rows():
        count = as_number(row.get("Request Count"))
        if not count:
            continue
        request = f"{row.get('Type', '')} {row.get('Name', '')}".strip()
        where = {"request": request}
        figures.add("requests_per_s", row.get("Requests/s"), "requests/s", "higher", where, n=count)
        for name, head in PERCENTILES.items():
            figures.add(name, row.get(head), "ns", "lower", where, times=1e6, n=count)
        failed = as_number(row.get("Failure Count"))
        figures.add("failed", None if failed is None else failed / count, "1", "lower", where, n=count)
    return [Found(NAME, NAME, figures.all())]
