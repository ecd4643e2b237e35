"""Readers of what other tools write, one module for each tool. A file is recognised by what is in it, not by its name."""

from __future__ import annotations

import csv
from types import MappingProxyType, ModuleType

from batchproof.reports.history.imports import genai_perf, google_benchmark, loadgen, locust, perf_analyzer, pytest_benchmark
from batchproof.reports.history.imports.source import Found, NotImported, Source

# The last is the least particular about what it takes for its own.
TOOLS = MappingProxyType(
    {
        "pytest-benchmark": pytest_benchmark,
        "google-benchmark": google_benchmark,
        "perf_analyzer": perf_analyzer,
        "loadgen": loadgen,
        "locust": locust,
        "genai-perf": genai_perf,
    }
)


NOT_WHOLE = "it is not JSON, although it begins so; is it whole?"


def found_in(source: Source) -> list[Found]:
    """Return the runs in a foreign file; NotImported says why there are none."""
    tool = _tool(source)
    try:
        found: list[Found] = tool.read(source)
    except (LookupError, TypeError, ValueError, AttributeError, OverflowError, RecursionError, csv.Error) as error:
        what = f"it looks like a file of {tool.NAME}, and cannot be read as one ({type(error).__name__}: {error})"
        raise NotImported(f"{source.path}: {what}") from None
    if not any(one.figures for one in found):
        raise NotImported(f"{source.path}: it is a file of {tool.NAME} without a single figure")
    return [one for one in found if one.figures]


def _tool(source: Source) -> ModuleType:
    for tool in TOOLS.values():
        if tool.fits(source):
            return tool
    if not source.text.strip():
        raise NotImported(f"{source.path}: it is empty")
    why = "no reader knows such a file"
    if source.data is None and source.first_line()[:1] in ("{", "["):
        lines = source.lines_of_json()
        why = "it is a file of JSON Lines, and no reader knows such records" if lines else NOT_WHOLE
    raise NotImported(f"{source.path}: {why} (known are {', '.join(TOOLS)} and exports of a history)")
