"""What a stack can claim: one table, and what a set of claims says about what a rule needs.

A *need* is a claim's name (`delay`: the claim is made), or a name with the values that meet it (`queue=shared`,
`delay_anchor=oldest-enqueue|first-dequeue`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches
from typing import Any

from batchproof.targets.claims.claim import Claim, text
from batchproof.targets.claims.engines import ENGINES
from batchproof.targets.claims.features import FEATURES
from batchproof.targets.claims.working import WORKING

CLAIMS: Mapping[str, Claim] = {claim.name: claim for claim in (*WORKING, *FEATURES, *ENGINES)}


def value_of(claims: Mapping[str, Any], name: str) -> Any:
    """Return what is claimed, or the default; KeyError for a claim that does not exist."""
    claim = CLAIMS[name]
    value = claims.get(name, claim.default)
    return claim.true if claim.true and value is True else value


def unmet(claims: Mapping[str, Any], needs: Sequence[str]) -> str | None:
    """Return the first of `needs` that the claims do not meet, or None."""
    return next((need for need in needs if not _meets(claims, need)), None)


def contradicted(claims: Mapping[str, Any], needs: Sequence[str]) -> str | None:
    """Return the first of `needs` that a claim rules out: the stack says that it works in another way. None: there is none.

    A promise that is not made (a value of False where that is the default) rules nothing out: it is only unmet.
    """
    for need in needs:
        claim = CLAIMS[need.partition("=")[0]]
        promises_nothing = claim.default is False and value_of(claims, claim.name) is False
        if not promises_nothing and not _meets(claims, need):
            return need
    return None


def as_claimed(claims: Mapping[str, Any], need: str) -> str:
    """Return what is claimed instead of a need: `queue = each-instance`."""
    name = need.partition("=")[0]
    return f"{name} = {text(value_of(claims, name))}"


def noun_of(need: str) -> str:
    """Return what a stack lacks that does not meet a need: `a queue delay`. Any other word stays as it is."""
    name, _, values = need.partition("=")
    claim = CLAIMS.get(name)
    if claim is None:
        return need
    return claim.noun_of_value if values and claim.noun_of_value else claim.noun


def problems(claims: Mapping[str, Any]) -> list[str]:
    """Return what is wrong with these claims, a sentence each: unknown names, and values that cannot be claimed."""
    return list(_problems(claims))


def _problems(claims: Mapping[str, Any]) -> Iterator[str]:
    for name, value in claims.items():
        if claim := CLAIMS.get(name):
            if not claim.accepts(value):
                yield f"the claim '{name}' is {claim.choices}, not {_shown(value)}"
            continue
        near = get_close_matches(str(name), CLAIMS, 1)
        hint = f"did you mean '{near[0]}'?" if near else f"choose from {', '.join(sorted(CLAIMS))}"
        yield f"unknown claim '{name}': {hint}"


def _meets(claims: Mapping[str, Any], need: str) -> bool:
    name, _, wanted = need.partition("=")
    value = value_of(claims, name)
    if name == "batches_without_delay" and value_of(claims, "delay"):
        return True  # there are batches: the rule is driven with a delay
    if name == "instances" and not wanted:
        return value is True  # a number of them can be set
    return text(value) in wanted.split("|") if wanted else value is not False


def _shown(value: object) -> str:
    return f"'{value}'" if isinstance(value, str) else text(value)
