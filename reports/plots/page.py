"""report.html of a bench: what it says, its charts and tables, and the host, derived from bench.jsonl and its samples."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from markupsafe import Markup

from batchproof.reports.formats.bench import BenchReport, read
from batchproof.reports.formats.jsonl import Line
from batchproof.reports.html.page import asset, page, render
from batchproof.reports.markdown import circumstances
from batchproof.reports.plots.catalogue import charts
from batchproof.reports.plots.chart import Chart, Heat
from batchproof.reports.plots.colours import dark_style
from batchproof.reports.plots.drawing import Undrawable, to_svg
from batchproof.reports.wording import host_in_words, line, listed, number

DOCUMENT = "report.html"
TONES = {"PASS": "pass", "FAIL": "fail", "ERROR": "fail", "INVALID": "warn", "PARTLY": "warn", "INCONCLUSIVE": "warn"}
_WORDS = re.compile(r"[^A-Za-z0-9]+")
DOUBTS = ("INCONCLUSIVE", "INVALID", "PARTLY")


def sentence(report: BenchReport) -> tuple[str, str]:
    """Return how the bench ended in one sentence, which never claims more than was measured, and its word for colours."""
    words = {one["measurement"]: one["word"] for one in report.measurements}
    failed = [name for name, word in words.items() if word in ("FAIL", "ERROR")]
    doubtful = [f"{name} ({word})" for name, word in words.items() if word in DOUBTS]
    passed = [name for name, word in words.items() if word == "PASS"]
    count = f"{len(words)} of {len(report.header['measurements'])} measurements have a line"
    footer = report.footer or {"complete": True, "reason": ""}
    keeps = f"{'passes its threshold' if len(passed) == 1 else 'pass their thresholds'}"
    told = (  # the first that applies
        (failed, f"FAILED: {_listed(failed)}", "FAIL"),
        (report.truncated, f"NO RESULT: the bench is truncated; {count}", "INVALID"),
        (not footer["complete"], f"NO RESULT: the bench ended early, {footer['reason']}; {count}", "INVALID"),
        (doubtful, f"NOT DECIDED: {_listed(doubtful)}", "INCONCLUSIVE"),
        (not set(words.values()) - {"SKIPPED"}, "NOTHING MEASURED: every measurement was skipped", "INVALID"),
        (passed, f"MEASURED: {_listed(passed)} {keeps}", "PASS"),
    )
    plain = ("MEASURED: nothing had a threshold to pass", "")
    return next(((said, word) for applies, said, word in told if applies), plain)


def _listed(words: Sequence[str]) -> str:
    return listed(words) if words else ""


def to_html(report: BenchReport, folder: Path) -> str:
    """Return the page. folder: of the bench, for its samples. Without matplotlib it has no charts, and says so."""
    found = charts(report, folder)
    drawn, notes = pictures(found.charts)
    said, word = sentence(report)
    form = "quick form" if report.header["quick"] else "full form"
    about = f"{form}, seed {report.header['seed']}, under load: {', '.join(report.header['works'])}"
    missing = ", ".join(report.missing)
    parts = [_part(one, drawn.get(one["measurement"], [])) for one in report.measurements]
    return whole(
        f"Bench of {report.target}",
        head="measurement",
        sentence=said,
        tone=TONES.get(word, ""),
        about=f"{about}; on {host(report.header)}",
        warning=f"Not measured: {missing}." if missing else "",
        note=" ".join([*notes, *found.left_out]),
        rows=parts,
        sections=[part for part in parts if part["anchor"]],
        facts=_facts(report),
    )


def whole(title: str, **values: Any) -> str:
    """Return a page with charts; values: as its template has them."""
    package = __package__ or ""
    style = f"{asset('charts.css', package)}\n{dark_style()}"
    return page(title, render("bench.html", package, title=title, **values), style=style)


def pictures(found: Iterable[Chart]) -> tuple[dict[str, list[dict[str, Any]]], list[str]]:
    """Return charts as a page shows them, by their measurement; without matplotlib none, and what to install."""
    drawn: dict[str, list[dict[str, Any]]] = {}
    try:
        for chart in found:
            drawn.setdefault(chart.measurement, []).append(_drawn(chart))
    except Undrawable as why:
        return {}, [f"This page has no charts: {why}."]
    return drawn, []


def host(header: Line) -> str:
    """Return what is known of the host, in a line."""
    return host_in_words(header["host"])


def write(folder: str | Path) -> Path:
    """Read bench.jsonl in a folder and write report.html next to it; ReportError as in `read`, OSError."""
    path = Path(folder) / DOCUMENT
    path.write_text(to_html(read(folder), Path(folder)), encoding="utf-8", newline="\n")
    return path


def _drawn(chart: Chart) -> dict[str, Any]:
    panels = [Markup(to_svg(chart, at, alone=False)) for at in range(len(chart.panels))]  # noqa: S704 - of our own drawing
    grid = any(isinstance(panel, Heat) for panel in chart.panels)
    return {"title": line(chart.title), "says": line(chart.says), "notes": chart.notes, "panels": panels, "grid": grid}


def _part(one: Line, drawn: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    why = "Not all of it is valid:" if one["word"] == "PARTLY" else "No result, because it is INVALID:"
    return {
        "name": line(one["measurement"]),
        "anchor": "" if one["word"] == "SKIPPED" else f"m-{_WORDS.sub('-', str(one['measurement']))}",
        "word": one["word"],
        "tone": TONES.get(one["word"], ""),
        "title": f"{line(one['measurement'])}: {line(one['question'])}",
        "headline": line(one["headline"]),
        "seconds": f"{one['seconds']:.1f}",
        "reasons": [line(reason) for reason in one["reasons"]],
        "why": "Why:" if one["valid"] else why,
        "charts": drawn,
        "tables": [laid_out(shown) for shown in one["tables"] if shown["rows"]],
    }


def laid_out(shown: Mapping[str, Any]) -> dict[str, Any]:
    """Return a table of the schema as the page shows it."""
    right = [any(_is_number(row[at]) for row in shown["rows"]) for at in range(len(shown["heads"]))]
    rows = [["-" if value is None else number(value) for value in row] for row in shown["rows"]]
    heads = [line(head) for head in shown["heads"]]
    return {"title": line(shown["title"]), "heads": heads, "rows": rows, "right": right, "note": line(shown.get("note", ""))}


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _facts(report: BenchReport) -> list[tuple[str, str]]:
    about = {"target": report.target, "reached": report.header["target"]["reached"]}
    found = about | circumstances(report.header, report.footer)
    return [(name, line(value)) for name, value in found.items()]
