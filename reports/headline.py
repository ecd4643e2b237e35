"""The whole report in one sentence, which never claims more than was judged."""

from __future__ import annotations

from batchproof.reports.reading import Report
from batchproof.reports.wording import count


def headline(report: Report) -> str:
    """Return the verdict in words, `Not conformant: 1 of 31 MUST rules failed`; the part before the colon stands alone.

    A failed MUST decides whatever else happened; nothing but a complete report can say conformant.
    """
    found = [result["verdict"] for result in report.results if result["level"] == "MUST"]
    failed, errors, unclear, known, holds = map(found.count, ("FAIL", "ERROR", "INCONCLUSIVE", "KNOWN", "PASS"))
    rules = count(len(found), "MUST rule")
    got = f"{len(report.results)} of {count(len(report.header['rules']), 'rule')} with a result"
    footer = report.footer or {"complete": False, "exit_status": 0}
    words = (  # the first that applies
        (failed, f"Not conformant: {failed} of {rules} failed"),
        (report.truncated, f"No verdict: the report is truncated, {got}"),
        (not footer["complete"], f"No verdict: the run ended early, {got}"),
        (errors, f"No verdict: {errors} of {rules} could not be judged"),
        (unclear, f"Undecided: the host was too noisy to judge {unclear} of {rules}"),
        (footer["exit_status"], f"No verdict: no MUST rule failed, but the exit status is {footer['exit_status']}"),
        (not holds, "No verdict: no MUST rule was judged to hold"),
        (
            known,
            f"Conformant but for {count(known, 'known issue')}: every other judged MUST rule holds, {holds} in all",
        ),
    )
    otherwise = f"Conformant: every judged MUST rule holds, {holds} in all"
    return next((text for applies, text in words if applies), otherwise)


def scope(report: Report) -> str:
    """Return which rules were selected, in words."""
    return f"profile {report.header['profile']}" if report.header["profile"] else "all profiles"
