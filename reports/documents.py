"""Everything that is derived from a report, and where it is written."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from batchproof.reports.alerts import to_sarif
from batchproof.reports.causes import causes
from batchproof.reports.formats.report import FORMAT, Report
from batchproof.reports.headline import headline
from batchproof.reports.junit import to_junit
from batchproof.reports.markdown import to_markdown
from batchproof.reports.matrix import combine, matrix

PAGE = "report.html"
__all__ = ["PAGE", "combine", "matrix", "to_json", "to_junit", "to_markdown", "to_sarif", "write_all", "write_page"]


def to_json(report: Report) -> dict[str, Any]:
    """Return the report as one JSON object, for machines; evidence and pictures stay where they are, in `report.jsonl`."""
    return {
        "format": FORMAT,
        "headline": headline(report),
        "truncated": report.truncated,
        "counts": report.counts,
        "missing": list(report.missing),
        "follows": causes(report.results),
        "header": dict(report.header),
        "results": [dict(result) for result in report.results],
        "attempts": [{key: one[key] for key in one if key not in ("evidence", "lanes")} for one in report.attempts],
        "footer": dict(report.footer) if report.footer else None,
    }


def write_all(report: Report, folder: str | Path) -> list[Path]:
    """Write what is derived from a report into its folder; OSError if a file cannot be written.

    All texts are made before the first is written, so a failure to make one of them leaves the old files as they are.
    """
    from batchproof.reports.html.report import to_html  # its templates are slow to import, and only needed at the end

    texts = {
        "report.json": json.dumps(to_json(report), indent=2) + "\n",
        "junit.xml": to_junit(report),
        "report.sarif": to_sarif(report) + "\n",
        "summary.md": to_markdown(report),
        PAGE: to_html(report),
    }
    paths = [Path(folder) / name for name in texts]
    for path, text in zip(paths, texts.values(), strict=True):
        path.write_text(text, encoding="utf-8", newline="\n")
    return paths


def write_page(report: Report, folder: str | Path) -> None:
    """Write only the page; OSError if that is impossible."""
    from batchproof.reports.html.report import to_html

    (Path(folder) / PAGE).write_text(to_html(report), encoding="utf-8", newline="\n")
