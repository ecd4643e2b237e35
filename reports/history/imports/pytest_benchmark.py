"""pytest-benchmark: the file of `--benchmark-json`, or of `--benchmark-save` (written by 5.3.1).

https://pytest-benchmark.readthedocs.io/en/latest/usage.html
"""

from __future__ import annotations

import re
from typing import Any

from batchproof.reports.history.imports.source import Figures, Found, Source, as_list, as_mapping, as_seconds
from batchproof.reports.history.run import Commit, HistoryError, seconds_of

NAME = "pytest-benchmark"
STATISTICS = ("mean", "median", "min")


def fits(source: Source) -> bool:
    """Return whether a file is of this kind."""
    return "benchmarks" in as_mapping(source.data) and "machine_info" in source.data


def read(source: Source) -> list[Found]:
    """Return the run in a file. The data of single rounds is not used, and its `stddev` makes no interval: rounds depend."""
    data, figures = as_mapping(source.data), Figures("pytest_benchmark")
    for one in map(as_mapping, as_list(data.get("benchmarks"))):
        stats, test = as_mapping(one.get("stats")), one.get("fullname") or one.get("name") or ""
        for word in STATISTICS:
            figures.add(f"{word}_ns", stats.get(word), "ns", "lower", {"test": test}, times=1e9, n=stats.get("rounds"))
    about = as_mapping(data.get("commit_info"))
    when = as_seconds(data.get("datetime"))
    origin = f"{NAME} {data.get('version', '')}".strip()
    project = about.get("project")
    target = project if isinstance(project, str) else ""
    return [Found(origin, NAME, figures.all(), when, _commit(about), target, host=_host(as_mapping(data["machine_info"])))]


def _commit(about: Any) -> Commit | None:
    """Return the commit; None for `unversioned`, or if its time is not known."""
    branch = str(about.get("branch") or "")
    branch = "" if re.match(r"\(", branch) else branch  # (unknown), (detached head)
    try:
        return Commit(str(about.get("id")), seconds_of(about["time"]), dirty=bool(about.get("dirty")), branch=branch)
    except (HistoryError, ValueError, TypeError, KeyError, AttributeError, OverflowError):
        return None


def _host(about: Any) -> dict[str, Any]:
    """Return what is known of the machine, but not its name."""
    cpu = as_mapping(about.get("cpu"))
    facts = {"machine": about.get("machine"), "cpu": cpu.get("brand_raw"), "cpus": cpu.get("count"),
             "kernel": about.get("release"), "python": about.get("python_version")}  # fmt: skip
    return {key: value for key, value in facts.items() if isinstance(value, str | int)}
