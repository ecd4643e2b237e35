"""report.html of a comparison of two sides: the answers, and the pairs that they rest on, derived from ab.jsonl."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from batchproof.reports.ab_markdown import sentence
from batchproof.reports.formats.ab import AbReport, read
from batchproof.reports.formats.jsonl import Line
from batchproof.reports.markdown import circumstances
from batchproof.reports.plots.ab import charts
from batchproof.reports.plots.page import DOCUMENT, host, laid_out, pictures, whole
from batchproof.reports.wording import line
from batchproof.stats.change import FASTER, INVALID, SAME, SLOWER, UNPROVEN

TONES: Mapping[str, str] = {SLOWER: "fail", FASTER: "pass", SAME: "pass", UNPROVEN: "warn", INVALID: "warn"}


def verdict(report: AbReport) -> tuple[str, str]:
    """Return the answers in one sentence, the worst first, and how it is coloured."""
    found = [str(one["answer"]) for one in report.answers]
    first = next((word for word in (SLOWER, INVALID, UNPROVEN, FASTER, SAME) if word in found), "")
    names = [str(one["question"]) for one in report.answers if one["answer"] == first]
    told = (  # the first that applies
        (report.truncated, "NO RESULT: the comparison is truncated", "warn"),
        (first == SLOWER, f"SLOWER: {', '.join(names)}", "fail"),
        (report.footer and not report.footer["complete"], "NO RESULT: the comparison ended early", "warn"),
        (not first, "NO RESULT: nothing was answered", "warn"),
    )
    return next(
        ((said, tone) for applies, said, tone in told if applies), (f"{first}: {', '.join(names)}", TONES.get(first, ""))
    )


def to_html(report: AbReport) -> str:
    """Return the page. Without matplotlib it has no charts, and says so."""
    header = report.header
    drawn, notes = pictures(charts(report))
    said, tone = verdict(report)
    rows = [
        {"name": line(one["question"]), "anchor": "", "word": one["answer"], "tone": TONES.get(one["answer"], ""),
         "headline": line(sentence(one)), "seconds": f"{one['seconds']:.0f}"}
        for one in report.answers
    ]  # fmt: skip
    lost = [f"{one['load']} pair {one['number'] + 1}: {line(one['dropped'])}" for one in report.pairs if one["dropped"]]
    about = f"for at most {header['seconds']:g} s, seed {header['seed']}, under load: {header['work']}; on {host(header)}"
    missing = ", ".join(report.missing)
    return whole(
        f"{header['new']['target']} against {header['base']['target']}",
        head="figure",
        sentence=said,
        tone=tone,
        about=about,
        warning=f"Not answered: {missing}." if missing else "",
        note=" ".join(notes),
        rows=rows,
        sections=[
            _section("answers", "New against base", drawn.get("answers", []), tables=[_sides(header)]),
            _section("pairs", "The pairs", drawn.get("pairs", []), reasons=lost, why="These pairs do not count:"),
        ],
        facts=[(name, line(value)) for name, value in circumstances(header, report.footer).items()],
    )


def write(folder: str | Path) -> Path:
    """Read ab.jsonl in a folder and write report.html next to it; ReportError as in `read`, OSError."""
    path = Path(folder) / DOCUMENT
    path.write_text(to_html(read(folder)), encoding="utf-8", newline="\n")
    return path


def _section(anchor: str, title: str, drawn: list[dict[str, Any]], **more: Any) -> dict[str, Any]:
    plain = {"word": "", "tone": "", "headline": "", "reasons": [], "why": "", "tables": []}
    return {**plain, "anchor": anchor, "title": title, "charts": drawn, **more}


def _sides(header: Line) -> dict[str, Any]:
    rows = []
    for name in ("base", "new"):
        side = header[name]
        config = ", ".join(f"{key} {value}" for key, value in side["config"].items() if value)
        rows.append(
            [name, side["target"], side["version"], side["python"], f"{side['revision']} {side['commit'][:12]}", config]
        )
    heads = ["side", "target", "version", "Python", "revision", "configuration"]
    return laid_out({"title": "The two sides", "heads": heads, "rows": rows})
