"""The charts of a bench as files: a PNG and an SVG for each, for papers and pull requests."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from batchproof.reports.formats.jsonl import ReportFolderError
from batchproof.reports.plots.chart import Chart
from batchproof.reports.plots.drawing import to_png, to_svg


def write(charts: Iterable[Chart], folder: Path) -> tuple[Path, ...]:
    """Write each chart as NAME.svg and NAME.png into a folder, which is made if it is not there; return the files.

    ReportFolderError if that cannot be written; Undrawable without matplotlib.
    """
    written: list[Path] = []
    for chart in charts:
        svg, png = to_svg(chart), to_png(chart)
        base = folder / file_name(chart.name)
        try:
            folder.mkdir(parents=True, exist_ok=True)
            base.with_name(f"{base.name}.svg").write_text(svg, encoding="utf-8", newline="\n")
            base.with_name(f"{base.name}.png").write_bytes(png)
        except OSError as error:
            why = f"{error.strerror}; choose another folder"
            raise ReportFolderError(f"the charts cannot be written to {folder}: {why}") from None
        written += [base.with_name(f"{base.name}.{kind}") for kind in ("svg", "png")]
    return tuple(written)


def file_name(name: str) -> str:
    """Return the name of a chart as that of a file on any system."""
    return re.sub(r"[^A-Za-z0-9_.-]+", "-", name).strip("-.")[:80] or "chart"
