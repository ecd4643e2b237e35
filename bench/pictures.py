"""The pages and pictures that a bench leaves next to its lines."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

from batchproof.reports import ab_markdown, bench_markdown, read_bench
from batchproof.reports.formats import ab
from batchproof.reports.plots import ab as ab_charts
from batchproof.reports.plots import ab_page, files, page
from batchproof.reports.plots.catalogue import charts

NEEDS = "--plots needs the module 'matplotlib': pip install 'batchproof[plots]'"


def cannot_draw(plots: Path | None) -> str:
    """Return why the charts that are asked for could not be drawn in the end; empty if they can, or nobody asks."""
    if plots is None:
        return ""
    if plots.exists() and not plots.is_dir():
        return f"--plots {plots}: this is a file; name a folder"
    return "" if find_spec("matplotlib") else NEEDS


def left_by(folder: Path, plots: Path | None) -> Iterator[str]:
    """Write bench.md and report.html, and the charts as files where that was asked for; yield what was written, in words.

    ReportError, ReportFolderError and OSError as the writers have them.
    """
    yield str(bench_markdown.write(folder))
    yield str(page.write(folder))
    if plots is not None:
        written = files.write(charts(read_bench(folder), folder).charts, plots)
        yield f"{len(written)} files with charts in {plots}"


def left_by_ab(folder: Path, plots: Path | None = None) -> Iterator[str]:
    """Write ab.md and report.html, and the charts as files where that was asked for; the rest is as in `left_by`."""
    yield str(ab_markdown.write(folder))
    yield str(ab_page.write(folder))
    if plots is not None:
        written = files.write(ab_charts.charts(ab.read(folder)), plots)
        yield f"{len(written)} files with charts in {plots}"
