"""ab.md: what a comparison of two sides says, derived from ab.jsonl alone."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from batchproof.reports.formats.ab import AbReport, read
from batchproof.reports.formats.jsonl import Line
from batchproof.reports.markdown import circumstances, word
from batchproof.reports.wording import cell, count, number, table

DOCUMENT = "ab.md"
BAD = ("SLOWER", "INVALID", "UNPROVEN")
RATES = (
    "SLOWER and FASTER are each wrong in at most 1 of 100 comparisons, over all figures and all looks at them, "
    "unless the host favoured one side for longer than a pair."
)

COLUMNS = (
    "`base` and `new` are the median block of each side, and the change is that within the pairs. "
    "Where the host varies, it need not be the quotient of the two."
)


def sentence(answer: Line) -> str:
    """Return the grounds of an answer without markup: what changed, by how much, and how sure that is."""
    ratio, name = answer["ratio"], answer["question"]
    if answer["answer"] == "INVALID":
        return f"{name}: {answer['why']}"
    of = f"{count(answer['pairs'], 'pair')} in {answer['seconds']:.0f} s"
    if ratio["estimate"] is None or ratio["low"] is None or ratio["high"] is None:
        return f"{name}: {of} prove nothing, because an interval needs more"
    low, high = (_percent(ratio[end]) for end in ("low", "high"))
    return f"{name}: {_percent(ratio['estimate'])} against the base (between {low} and {high}; {of})"


def to_markdown(report: AbReport) -> str:
    """Return the page of a comparison. Nothing that a target said can become markup or HTML in it."""
    header = report.header
    parts = [
        f"# {cell(header['new']['target'])} against {cell(header['base']['target'])}",
        *_warning(report),
        "\n".join(f"- {word(one['answer'], BAD)}: {cell(sentence(one))}" for one in report.answers),
        _figures(report),
        RATES,
        f"Sides that differ by less than {100 * header['margin']:g} % are the SAME.",
        "## The two sides",
        _sides(header),
        "## Pairs that do not count" if any(one["dropped"] for one in report.pairs) else "",
        _dropped(report),
        "## How it was run",
        _run(report),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _warning(report: AbReport) -> Iterator[str]:
    missing = ", ".join(map(cell, report.missing))
    if report.footer is None:
        yield "> **Truncated.** The comparison ends before its footer: it was killed or is still going on."
    elif not report.footer["complete"]:
        why = cell(report.footer["reason"]) or "no reason is given"
        yield f"> **Ended early**: {why}." + (f" Not answered: {missing}." if missing else "")


def _figures(report: AbReport) -> str:
    rows = []
    for one in report.answers:
        scale, unit = (1.0, "rows/s") if one["better"] == "higher" else (1e6, "ms")
        ratio = one["ratio"]
        bounds = (_percent(ratio[end]) if ratio[end] is not None else "-" for end in ("estimate", "low", "high"))
        sides = (number(one[side] / scale) if one[side] is not None else "-" for side in ("base", "new"))
        rows.append([cell(one["question"]), unit, *sides, *bounds, str(one["pairs"]), str(one["dropped"])])
    heads = ("figure", "unit", "base", "new", "change", "at least", "at most", "pairs", "dropped")
    return f"{table(heads, rows, right=heads[2:])}\n\n{COLUMNS}" if rows else ""


def _sides(header: Line) -> str:
    rows = []
    for name in ("base", "new"):
        side = header[name]
        where = side["target"] + (f", revision {side['revision']} ({side['commit'][:12]})" if side["revision"] else "")
        config = ", ".join(f"{key} {value}" for key, value in side["config"].items() if value)
        rows.append([name, cell(where), cell(side["version"]), cell(side["python"]), cell(config)])
    return table(("side", "target", "version", "Python", "configuration"), rows)


def _dropped(report: AbReport) -> str:
    return "\n".join(
        f"- {one['load']} pair {one['number']}: {cell(one['dropped'])}" for one in report.pairs if one["dropped"]
    )


def _run(report: AbReport) -> str:
    header = report.header
    about = {
        "load": f"{header['clients']} clients, {header['requests']} requests a block"
        + (f"; then {header['rate']:.1f} requests/s" if header["rate"] else ""),
        "work": header["work"],
        "seed": header["seed"],
        "requests judged": sum(one[side]["judged"] for one in report.pairs for side in ("base", "new")),
    }
    facts = about | circumstances(header, report.footer)
    return table(("fact", "value"), [(name, cell(value)) for name, value in facts.items()])


def _percent(ratio: float) -> str:
    return f"{round(100 * (ratio - 1), 1) + 0.0:+.1f} %"  # a negative zero becomes zero


def write(folder: str | Path) -> Path:
    """Read `ab.jsonl` in a folder and write ab.md next to it; ReportError as in `read`."""
    text = to_markdown(read(folder))
    path = Path(folder) / DOCUMENT
    path.write_text(text, encoding="utf-8", newline="\n")
    return path
