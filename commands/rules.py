"""`batchproof rules`: list the catalogue, as lines or as JSON."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict

from batchproof.exit_status import ExitStatus, refuse
from batchproof.fixtures.judging.catalogue import SelectionError, select


def print_rules(patterns: Sequence[str], profile: str, *, as_json: bool) -> ExitStatus:
    """Print the rules that match a pattern and belong to the profile (empty: all); MISUSE if no rule does."""
    try:
        chosen = select(patterns, profile)
    except SelectionError as error:
        return refuse(error)
    if as_json:
        print(json.dumps([asdict(rule) for rule in chosen], indent=2))
    else:
        for rule in chosen:
            print(f"{rule.id:<17} {rule.level:<6} {rule.profile:<13} {rule.evidence:<12} {rule.title}")
    return ExitStatus.FINE
