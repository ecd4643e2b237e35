"""The whole report in one sentence, which never claims more than was judged."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile

from batchproof.reports.causes import causes
from batchproof.reports.formats.jsonl import Line
from batchproof.reports.formats.report import Report
from batchproof.reports.wording import count, listed

NOTHING = 5  # the exit status of a run in which nothing was judged to hold
KEPT = ("PASS", "KNOWN", "OBSERVED")  # the sentence counts known issues, and a reader can look them up


def headline(report: Report) -> str:
    """Return the verdict in words, `NOT CONFORMANT: 1 of 31 judged MUST rules fails`.

    A failed MUST decides, whatever else happened, and what would fail if it were claimed is counted too. Only a complete
    report can say CONFORMANT, and it says to which profiles: to those whose MUST rules have all been judged, to those of
    which the others ask for what the target cannot have ("without"), and "in part" to those of which only some have been
    judged.
    """
    explained = causes(report.results)
    musts = [result for result in report.results if result["level"] == "MUST"]
    found = [result["verdict"] for result in musts]
    would = sum(result.get("told") == "fail" for result in musts)
    follow = sum(result["verdict"] == "FAIL" and result["rule"] in explained for result in musts)
    basic = f" ({follow} of them {'follows from another' if follow == 1 else 'follow from others'})" if follow else ""
    more = f"; {would} more would fail if {'it' if would == 1 else 'they'} were claimed" if would else ""
    failed, errors, unclear, known, holds = map(found.count, ("FAIL", "ERROR", "INCONCLUSIVE", "KNOWN", "PASS"))
    rules = count(failed + errors + unclear + known + holds, "MUST rule")
    judged = count(failed + known + holds, "judged MUST rule")
    got = f"{len(report.results)} of {count(len(report.header['rules']), 'rule')} with a result"
    footer = report.footer or {"complete": False, "exit_status": 0}
    words = (  # the first that applies
        (failed, f"NOT CONFORMANT: {failed} of {judged} {'fails' if failed == 1 else 'fail'}{basic}{more}"),
        (report.truncated, f"NO VERDICT: the report is truncated, {got}"),
        (not footer["complete"], f"NO VERDICT: the run ended early, {got}"),
        (errors, f"NO VERDICT: {errors} of {rules} could not be judged"),
        (unclear, f"INCONCLUSIVE: {_open(musts, unclear, rules)}"),
        (footer["exit_status"] == NOTHING, "NO VERDICT: no rule was judged to hold"),
        (footer["exit_status"], f"NO VERDICT: no MUST rule failed, but the exit status is {footer['exit_status']}"),
        (not holds, "NO VERDICT: no MUST rule was judged to hold"),
    )
    return next((text for applies, text in words if applies), f"CONFORMANT {_to_what(report, known)}")


def _open(musts: Sequence[Line], unclear: int, rules: str) -> str:
    """Return why MUST rules stayed INCONCLUSIVE. Where what a rule needs never occurred, the target may be why as well."""
    never = sum(one["verdict"] == "INCONCLUSIVE" and one["actual"].startswith("VACUOUS") for one in musts)
    noisy = f"the host was too noisy to judge {unclear - never} of {rules}" if never < unclear else ""
    less = f"what {never} {'more' if noisy else f'of {rules}'} {'needs' if never == 1 else 'need'} never occurred"
    cause = "because of a busy host or of the target's design"
    return "; ".join(filter(None, (noisy, f"{less}, {cause}" if never else "")))


def ending(report: Report) -> str:
    """Return how the headline begins, in lower case: `conformant`, `not conformant`, `no verdict` or `inconclusive`."""
    return " ".join(takewhile(str.isupper, headline(report).split())).rstrip(":").lower()


def scope(report: Report) -> str:
    """Return which rules were selected, in words."""
    return f"profile {report.header['profile']}" if report.header["profile"] else "all profiles"


@dataclass(frozen=True)
class Extent:
    """To what a report conforms, if it does: profiles as a whole, as far as the target can have them, and in part.

    lacking: a profile, and what the target cannot have of it: `("CORE", "a queue delay")`.
    """

    whole: tuple[str, ...]
    lacking: tuple[tuple[str, str], ...]
    part: tuple[str, ...]


def extent(report: Report) -> Extent:
    """Return the profiles that are kept, those that are kept as far as the target can have them, and those kept in part."""
    musts = [result for result in report.results if result["level"] == "MUST"]
    whole: list[str] = []
    lacking: list[tuple[str, str]] = []
    part: list[str] = []
    for profile, number in report.header["must_rules"].items():
        mine = [result for result in musts if result["profile"] == profile]
        kept = sum(result["verdict"] in KEPT for result in mine)
        lacks = [result["without"] for result in mine if result["verdict"] not in KEPT and result.get("without")]
        if kept and kept == number:
            whole.append(profile)
        elif kept and kept + len(lacks) == number:
            lacking.append((profile, _alternatives(lacks)))
        elif kept:
            part.append(profile)
    return Extent(tuple(whole), tuple(lacking), tuple(part))


def _to_what(report: Report, known: int) -> str:
    """Return the profiles that are kept as far as the target can have them, those kept in part, and the known issues."""
    found = extent(report)
    lacking = (f"to {profile} without {lack}" for profile, lack in found.lacking)
    said = "; ".join([*lacking, *([f"to {listed(found.whole)}"] if found.whole else [])])
    but = f", except for {count(known, 'known issue')}" if known else ""
    if said:
        return f"{said}{but}; in part to {listed(found.part)}" if found.part else said + but
    return f"in part to {listed(found.part)}{but}" if found.part else f"in part{but}"


def _alternatives(lacks: list[str]) -> str:
    """Return each lack once, joined by "or". Without a queue delay, there is no queue delay of 0 either."""
    each = list(dict.fromkeys(lacks))
    return listed([one for one in each if not any(one.startswith(f"{other} ") for other in each)], "or")
