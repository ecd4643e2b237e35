"""The whole report in one sentence, which never claims more than was judged."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import takewhile

from batchproof.reports.formats.report import Report
from batchproof.reports.wording import count, listed

KEPT = ("PASS", "KNOWN", "OBSERVED")  # the sentence counts known issues, and a reader can look them up


def headline(report: Report) -> str:
    """Return the verdict in words, `NOT CONFORMANT: 1 of 31 judged MUST rules fails`.

    A failed MUST decides, whatever else happened. Only a complete report can say CONFORMANT, and it says to which profiles:
    to those whose MUST rules have all been judged, and "in part" to those of which only some have been judged.
    """
    found = [result["verdict"] for result in report.results if result["level"] == "MUST"]
    failed, errors, unclear, known, holds = map(found.count, ("FAIL", "ERROR", "INCONCLUSIVE", "KNOWN", "PASS"))
    rules = count(len(found), "MUST rule")
    judged = count(failed + known + holds, "judged MUST rule")
    got = f"{len(report.results)} of {count(len(report.header['rules']), 'rule')} with a result"
    footer = report.footer or {"complete": False, "exit_status": 0}
    words = (  # the first that applies
        (failed, f"NOT CONFORMANT: {failed} of {judged} {'fails' if failed == 1 else 'fail'}"),
        (report.truncated, f"NO VERDICT: the report is truncated, {got}"),
        (not footer["complete"], f"NO VERDICT: the run ended early, {got}"),
        (errors, f"NO VERDICT: {errors} of {rules} could not be judged"),
        (unclear, f"INCONCLUSIVE: the host was too noisy to judge {unclear} of {rules}"),
        (footer["exit_status"], f"NO VERDICT: no MUST rule failed, but the exit status is {footer['exit_status']}"),
        (not holds, "NO VERDICT: no MUST rule was judged to hold"),
    )
    return next((text for applies, text in words if applies), f"CONFORMANT {_to_what(report, known)}")


def ending(report: Report) -> str:
    """Return how the headline begins, in lower case: `conformant`, `not conformant`, `no verdict` or `inconclusive`."""
    return " ".join(takewhile(str.isupper, headline(report).split())).rstrip(":").lower()


def scope(report: Report) -> str:
    """Return which rules were selected, in words."""
    return f"profile {report.header['profile']}" if report.header["profile"] else "all profiles"


def _to_what(report: Report, known: int) -> str:
    """Return the profiles that are kept as a whole, those that are kept in part, and the number of known issues."""
    whole, part = _profiles(report)
    extent = f"to {listed(whole)}" if whole else "in part"
    but = f", except for {count(known, 'known issue')}" if known else ""
    if not part:
        return extent + but
    return f"{extent}{but}; in part to {listed(part)}" if whole else f"{extent} to {listed(part)}{but}"


def _profiles(report: Report) -> tuple[Sequence[str], Sequence[str]]:
    """Return the profiles with every MUST rule kept, and those with only some kept, in the order of the catalogue."""
    kept = [result["profile"] for result in report.results if result["level"] == "MUST" and result["verdict"] in KEPT]
    rules = report.header["must_rules"]
    whole = [profile for profile, number in rules.items() if 0 < number == kept.count(profile)]
    return whole, [profile for profile in rules if profile in kept and profile not in whole]
