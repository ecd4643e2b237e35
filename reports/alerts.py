"""What of a report needs attention: as annotations of GitHub, and as SARIF for code scanning."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import PurePath

from batchproof.reports import sarif
from batchproof.reports.causes import causes, followers
from batchproof.reports.failure import again
from batchproof.reports.formats.jsonl import Line
from batchproof.reports.formats.report import FILE, Report
from batchproof.reports.headline import ending, headline
from batchproof.reports.wording import line, message
from batchproof.reports.workflow_commands import Level, annotation

BAD = ("FAIL", "ERROR", "INCONCLUSIVE")
_LEVELS: dict[str, Level] = {"MUST": "error", "SHOULD": "warning", "MAY": "notice"}
_BASE = "REPORT"
_SARIF: dict[Level, sarif.Level] = {"error": "error", "warning": "warning", "notice": "note"}


def to_github(report: Report, folder: str | PurePath = "") -> Iterator[str]:
    """Yield a workflow command for each cause that ended badly, the most serious first, and one for the whole report.

    GitHub shows ten errors and ten warnings of a step, so what follows from another failure is counted there. A known
    issue, and what is not claimed, has no line of its own: the sentence at the end counts them.
    """
    explained, following = causes(report.results), followers(report.results)
    roots = [one for one in report.results if one["verdict"] in BAD and one["rule"] not in explained]
    order = list(_LEVELS.values())
    for result in sorted(roots, key=lambda one: order.index(_level(one))):
        title = f"{result['verdict']} {result['rule']}: {line(result['title'])}"
        yield annotation(_level(result), _said(report, result, folder, following.get(result["rule"], ())), title=title)
    yield annotation(_ending(report), line(headline(report)), title=f"Batchproof: {line(report.target)}")


def to_sarif(report: Report) -> str:
    """Return a log of everything that failed or could not be judged; a known issue is in it, and suppressed.

    A batcher has no line of source, so each result is located in the report's folder: at its bundle, or at report.jsonl.
    """
    explained = causes(report.results)
    shown = [one for one in report.results if one["verdict"] in (*BAD, "KNOWN")]
    rules = [sarif.SarifRule(one["rule"], line(one["title"]), _help(one)) for one in shown]
    results = [_result(report, one, explained.get(one["rule"], "")) for one in shown]
    footer = report.footer
    ended = _ending(report)
    notes = [] if ended == "notice" else [sarif.notification(line(headline(report)), _SARIF[ended])]
    invocation: sarif.Fact = {
        "executionSuccessful": bool(footer and footer["complete"]),
        "toolExecutionNotifications": notes,
        "startTimeUtc": report.header["started"],
    }
    if footer:
        invocation |= {"endTimeUtc": footer["ended"], "exitCode": footer["exit_status"]}
    version = line(report.header["batchproof"])
    return sarif.document("batchproof check", version, rules, results, invocation, {_BASE: "the folder of the report"})


def _result(report: Report, result: Line, cause: str) -> sarif.SarifResult:
    level = _SARIF[_level(result)]
    text = _said(report, result, "", ()) + (f"\nfollows from: {cause}" if cause else "")
    more: sarif.Fact = {"properties": {"verdict": result["verdict"], "target": line(report.target)}}
    if result["verdict"] == "INCONCLUSIVE":  # 3.27.9: "insufficient information to decide", for which the level is none
        level, more = "none", {"kind": "open", **more}
    if result["verdict"] == "KNOWN":
        why = " ".join(filter(None, (line(result["reason"]), line(result["link"]))))
        more["suppressions"] = [{"kind": "external", "justification": why}]
    place = sarif.location(result["bundle"] or FILE, base=_BASE)
    return sarif.SarifResult(result["rule"], level, text, place, more)


def _level(result: Line) -> Level:
    """A rule that could not be judged for noise is a warning at most; all else is as serious as its rule."""
    level = _LEVELS[result["level"]]
    return "warning" if result["verdict"] == "INCONCLUSIVE" and level == "error" else level


def _ending(report: Report) -> Level:
    if report.footer is None or not report.footer["complete"]:
        return "error"
    if report.footer["exit_status"] == 0:
        return "notice"
    return "warning" if ending(report) == "inconclusive" else "error"


def _said(report: Report, result: Line, folder: str | PurePath, following: Sequence[Line]) -> str:
    rows = [("expected", message(result["expected"])), ("actual", message(result["actual"]))]
    rows += [("reason", message(result["reason"])), *(("check", message(hint)) for hint in result["hints"])]
    if following:
        rows.append(("what follows from it", ", ".join(line(one["rule"]) for one in following)))
    rows += [("again", command) for command in again(result, report.attempts, report.header, folder)]
    return "\n".join(f"{name}: {text}" for name, text in rows if text)


def _help(result: Line) -> str:
    return " ".join(message(hint) for hint in result["hints"]) or line(result["title"])
