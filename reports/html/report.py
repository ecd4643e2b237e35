"""report.html: the report of a run as one page, from the sentence down to the timeline of every rule."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from batchproof.reports.causes import causes, followers
from batchproof.reports.formats.jsonl import Line
from batchproof.reports.formats.report import VERDICTS, Report
from batchproof.reports.headline import ending, headline, scope
from batchproof.reports.html import rule_view
from batchproof.reports.html.page import asset, page, render, visible
from batchproof.reports.markdown import circumstances
from batchproof.reports.wording import count, host_in_words

BUDGET = 1_450_000  # bytes of pictures; with 286 rules around them, a page stays below 2 MB
FAMILIES = {
    "PASS": ("good", "✓"),
    "OBSERVED": ("good", "◉"),
    "KNOWN": ("doubt", "≈"),
    "INCONCLUSIVE": ("doubt", "?"),
    "FAIL": ("bad", "✕"),
    "ERROR": ("bad", "!"),
    "SKIPPED": ("none", "\u2013"),
    "UNSUPPORTED": ("none", "∅"),
    "NOT_OBSERVABLE": ("none", "○"),
}
ENDINGS = {"conformant": FAMILIES["PASS"], "not conformant": FAMILIES["FAIL"]}  # else it is in doubt


def to_html(report: Report) -> str:
    """Return the page. It is small enough to be sent: where pictures would make it large, those of passes are left out."""
    family, sign = ENDINGS.get(ending(report), FAMILIES["INCONCLUSIVE"])
    views = _views(report)
    body = render(
        "report.html",
        report=report,
        sentence=headline(report),
        family=family,
        sign=sign,
        scope=scope(report),
        families=FAMILIES,
        warning=_warning(report),
        facts=_facts(report),
        noise=noise(report),
        profiles=profiles(report),
        broken=_roots(report, ("FAIL", "ERROR")),
        undecided=_roots(report, ("INCONCLUSIVE",)),
        known=[result for result in report.results if result["verdict"] == "KNOWN"],
        rules=views,
        levels=_distinct(result["level"] for result in report.results),
        circumstances=_circumstances(report),
    )
    style = "\n".join(asset(name) for name in ("lanes.css", "report.css"))
    script = "\n".join(asset(name) for name in ("lanes.js", "report.js"))
    return page(f"{report.target}: {ending(report)}", body, style=style, script=script)


def noise(report: Report) -> str:
    """Return in a sentence or two how noisy the host was, and what that changed."""
    found = []
    if report.header["target"]["sight"] == "virtual":
        found.append("Time was simulated, so none could matter.")
    elif (heard := (report.footer or {}).get("noise")) is not None:
        many, watched = heard["stalls"], f"of 1 ms or more in {heard['watched_ns'] / 1e9:,.0f} s"
        share = f"{heard['total_ns'] / max(1, heard['watched_ns']):.0%} of the time"
        worst = f"the longest {heard['longest_ns'] / 1e6:,.1f} ms, all together {share}"
        stalls = f"{many:,} {'stall' if many == 1 else 'stalls'}"
        found.append(f"{stalls} {watched}, {worst}." if many else f"No stall {watched}.")
    again = sum(result["attempts"] > 1 for result in report.results)
    were = f"{count(again, 'rule')} {'was' if again == 1 else 'were'}"
    found.append(f"{were} judged more than once." if again else "No rule had to be judged again.")
    return " ".join(found)


def profiles(report: Report) -> list[dict[str, Any]]:
    """Return a row for each profile: its name, how many rules ended with each verdict, and how many MUST rules it has."""
    rows = []
    for name in _distinct(result["profile"] for result in report.results):
        mine = [result for result in report.results if result["profile"] == name]
        found = Counter(result["verdict"] for result in mine)
        parts, start = [], 0.0
        for verdict in VERDICTS:
            if found[verdict]:
                share = 100 * found[verdict] / len(mine)
                place = {"start": f"{start:.3f}%", "share": f"{share:.3f}%"}
                parts.append({"verdict": verdict, "count": found[verdict], **place})
                start += share
        musts = sum(result["level"] == "MUST" for result in mine)
        of = report.header["must_rules"].get(name, musts)
        selected = f"{musts} of {count(of, 'MUST rule')} selected" if of > musts else ""
        rows.append({"name": visible(name), "parts": parts, "selected": selected})
    return rows


def _views(report: Report) -> list[dict[str, Any]]:
    """Return what the page shows of each rule, in the catalogue's order, with pictures for as many as there is room."""
    explained, attempts = causes(report.results), _by_rule(report.attempts)
    results = [result for mine in report.areas().values() for result in mine]
    views = {one["rule"]: rule_view.of(one, attempts.get(one["rule"], ()), report.header, explained) for one in results}
    left = BUDGET
    for result in sorted(results, key=lambda one: -VERDICTS.index(one["verdict"])):
        view = views[result["rule"]]
        left -= len(view["picture"].encode())
        if left < 0 and view["picture"]:
            view["picture"], view["notes"] = "", ("Its picture is left out to keep this page small.",)
    return list(views.values())


def _warning(report: Report) -> str:
    """Return why the report is not whole; empty if it is."""
    if report.footer is None:
        where = "in the middle of a line" if report.cut else "before its footer"
        why = f"Truncated: the report ends {where}, because the run was killed or is still going on."
    elif not report.footer["complete"]:
        why = f"Ended early: {report.footer['reason'] or 'the report gives no reason'}."
    else:
        return ""
    return f"{why} {count(len(report.missing), 'rule')} without a result." if report.missing else why


def _facts(report: Report) -> list[tuple[str, str]]:
    """Return who was judged, and on which host."""
    target, host = report.header["target"], report.header["host"]
    began, _, at = report.header["started"].removesuffix("Z").partition("T")
    ended = report.footer["ended"].removesuffix("Z") if report.footer else "unknown"
    facts = {
        "Target": report.target,
        "Reached": f"{target['reached']} {target['contact']}".strip(),
        "Sight": target["sight"],
        "Rules": f"{count(len(report.header['rules']), 'rule')}, {scope(report)}",
        "Host": host_in_words(host),
        "Time": f"{began} {at} to {ended.removeprefix(f'{began}T').replace('T', ' ')} UTC",
    }
    return [(name, value) for name, value in facts.items() if value]


def _circumstances(report: Report) -> dict[str, Any]:
    """Return all that is known of how it was run."""
    claims = ", ".join(f"{name} = {value}" for name, value in report.header["target"]["claims"].items())
    chosen = {"seed": report.header["seed"], "patience": report.header["patience"], "claims": claims}
    return chosen | circumstances(report.header, report.footer)


def _roots(report: Report, verdicts: Sequence[str]) -> list[dict[str, Any]]:
    """Return what ended so and does not follow from anything else, in this order, with how many rules follow from it."""
    explained, following = causes(report.results), followers(report.results)
    roots = [one for one in report.results if one["verdict"] in verdicts and one["rule"] not in explained]
    roots.sort(key=lambda result: verdicts.index(result["verdict"]))
    return [{**one, "follow": len(following.get(one["rule"], ()))} for one in roots]


def _by_rule(attempts: Sequence[Line]) -> Mapping[str, list[Line]]:
    found: dict[str, list[Line]] = {}
    for attempt in attempts:
        found.setdefault(attempt["rule"], []).append(attempt)
    return found


def _distinct(words: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(words))
