"""`batchproof check --replay BUNDLE`: judge saved evidence again, offline, with the checkers of this version."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

from batchproof.exit_status import ExitStatus, refuse
from batchproof.fixtures.evidence.kinds import Evidence, from_json
from batchproof.fixtures.judging.catalogue import rules
from batchproof.fixtures.judging.judge import judged
from batchproof.fixtures.judging.verdicts import Verdict
from batchproof.fixtures.reporter import shown
from batchproof.reports import failure
from batchproof.reports.writing import FORMAT

LARGEST = 256 << 20  # a bundle is data from elsewhere: do not let it unpack into all memory


class BundleError(Exception):
    """The file is no bundle of ours."""


def replay(path: Path) -> ExitStatus:
    """Print the judgement. FAIL and ERROR are FAILED, INCONCLUSIVE is itself, and a file that is not a bundle is MISUSE."""
    try:
        bundle, evidence = load(path)
    except BundleError as error:
        return refuse(error)
    rule = rules()[bundle["rule"]]
    judgement = judged(rule.id, evidence)
    then = bundle["judgement"]["verdict"]
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
        "config": bundle["config"],
        "seed": bundle["seed"],
        **shown(evidence),
    }
    print(failure.text(line, [attempt], {"target": bundle["target"], "seed": bundle["seed"]}))
    print(f"\njudged again offline: {judgement.verdict} (when it was recorded: {then})")
    if judgement.verdict in (Verdict.FAIL, Verdict.ERROR):
        return ExitStatus.FAILED
    return ExitStatus.INCONCLUSIVE if judgement.verdict is Verdict.INCONCLUSIVE else ExitStatus.FINE


def load(path: Path) -> tuple[dict[str, Any], Evidence]:
    """Read a bundle; BundleError says what is wrong with it."""
    try:
        with zipfile.ZipFile(path) as archive:
            if archive.getinfo("bundle.json").file_size > LARGEST:
                raise BundleError(f"{path} is too large for a bundle")
            bundle: Any = json.loads(archive.read("bundle.json"))
    except OSError as error:
        raise BundleError(f"cannot read {path}: {error.strerror}") from None
    except (zipfile.BadZipFile, KeyError, ValueError):
        raise BundleError(f"{path} is no replay bundle (a zip with bundle.json, from reports/.../bundles)") from None
    needed = {"format", "rule", "kind", "evidence", "target", "seed", "config", "judgement"}
    if not isinstance(bundle, dict) or not needed <= set(bundle):
        raise BundleError(f"{path} is no replay bundle: bundle.json lacks fields")
    if bundle["format"] != FORMAT:
        raise BundleError(f"{path} has format {bundle['format']}, and this version reads {FORMAT}")
    if bundle["rule"] not in rules():
        raise BundleError(f"{path} is about the rule {bundle['rule']}, which this version does not know")
    try:
        return bundle, from_json(bundle["kind"], bundle["evidence"])
    except ValueError as error:
        raise BundleError(f"{path}: {error}") from None
