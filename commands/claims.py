"""`batchproof rules --claims`: what a stack can claim, as the page docs/claims.md."""

from __future__ import annotations

from collections.abc import Iterator

from batchproof.exit_status import ExitStatus
from batchproof.fixtures.judging.catalogue import rules
from batchproof.reports.wording import ids_in_words, table
from batchproof.targets.claims import CLAIMS
from batchproof.targets.claims.claim import Claim

HEAD = """\
# Claims

`batchproof rules --claims` prints this page.
`TargetInfo.claims` says how a stack is meant to work and which features it has, as a name with a value.
A claim that is left out has its default, which is the first of its values.
[adapters.md](adapters.md#claims) says what follows from a claim.
"""


def print_claims() -> ExitStatus:
    """Print docs/claims.md."""
    print(markdown())
    return ExitStatus.FINE


def markdown() -> str:
    """Return the page: one line for each claim, then the rules that need it."""
    lines = [[f"`{one.name}`", one.choices, " ".join(filter(None, (one.says, one.changes)))] for one in CLAIMS.values()]
    needing = [[f"`{need}`", ids_in_words(ids)] for one in CLAIMS.values() for need, ids in _needing(one)]
    meaning, needed = table(("claim", "values", "what it says"), lines), table(("need", "rules"), needing)
    return f"{HEAD}\n{meaning}\n\n## What rules need\n\n{needed}"


def _needing(claim: Claim) -> Iterator[tuple[str, list[str]]]:
    """Yield each need of this claim that rules have, with the rules."""
    pairs = [(need, rule.id) for rule in rules().values() for need in rule.needs if need.partition("=")[0] == claim.name]
    for need in dict.fromkeys(need for need, _ in pairs):
        yield need.replace("|", " or "), [rule for one, rule in pairs if one == need]
