"""`batchproof check --replay BUNDLE`: judge saved evidence again, offline, with the checkers of this version."""

from __future__ import annotations

from pathlib import Path

from batchproof.exit_status import ExitStatus, refuse
from batchproof.fixtures.evidence.kinds import Evidence, from_json
from batchproof.fixtures.judging.accused import accused
from batchproof.fixtures.judging.catalogue import rules
from batchproof.fixtures.judging.judge import judged, starved
from batchproof.fixtures.judging.verdicts import Verdict
from batchproof.fixtures.reporter import shown
from batchproof.reports import failure
from batchproof.reports.formats import bundle


def replay(path: Path) -> ExitStatus:
    """Print the judgement, and return the exit status.

    FAIL and ERROR are FAILED, INCONCLUSIVE stays INCONCLUSIVE, and a file that is not a bundle is MISUSE.
    """
    try:
        recorded, evidence = load(path)
    except bundle.BundleError as error:
        return refuse(error)
    rule = rules()[recorded.rule]
    judgement = starved(judged(rule.id, evidence), evidence)
    then = recorded.judgement["verdict"]
    line = {
        "rule": rule.id,
        "level": rule.level,
        "title": rule.title,
        "verdict": str(judgement.verdict),
        "expected": judgement.expected,
        "actual": judgement.actual,
        "reason": judgement.note,
        "link": "",
        "bundle": str(path),
        "hints": list(rule.if_it_fails),
        "attempts": 1,
        "seconds": 0.0,
    }
    attempt = {
        "rule": rule.id,
        "attempt": 1,
        "verdict": line["verdict"],
        "expected": judgement.expected,
        "actual": judgement.actual,
        "note": judgement.note,
        "seconds": 0.0,
        "config": recorded.config,
        "seed": recorded.seed,
        **shown(evidence, accused(judgement, evidence), judgement.at),
    }
    print(failure.text(line, [attempt], {"target": recorded.target, "seed": recorded.seed}))
    print(f"\njudged again offline: {judgement.verdict} (when it was recorded: {then})")
    if judgement.verdict in (Verdict.FAIL, Verdict.ERROR):
        return ExitStatus.FAILED
    return ExitStatus.INCONCLUSIVE if judgement.verdict is Verdict.INCONCLUSIVE else ExitStatus.FINE


def load(path: Path) -> tuple[bundle.Bundle, Evidence]:
    """Read a bundle and its evidence; BundleError says what is wrong with it."""
    found = bundle.read(path)
    if found.rule not in rules():
        raise bundle.BundleError(f"{path} is about the rule {found.rule}, which this version of Batchproof does not know")
    try:
        return found, from_json(found.kind, dict(found.evidence))
    except ValueError as error:
        raise bundle.BundleError(f"{path}: {error}") from None
