"""What a hunt covered and what never happened, as text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any

from batchproof.commands.hunt.reached import BATCHES, DEEP, ENDS, GROUPS, OLD, Coverage
from batchproof.fixtures.driving.features import FEATURES
from batchproof.fixtures.driving.sequence_features import STEP_FEATURES
from batchproof.fixtures.judging.acceptor import KINDS
from batchproof.fixtures.judging.checkers.sequence.drive import STEP_LAWS
from batchproof.reports.wording import count, hanging, listed
from batchproof.targets.claims import unmet

WORDS = {
    "feature": "features",
    "size": "sizes",
    "instances": "instances",
    "traffic": "traffic",
    "end": "ends",
    "depth": "depths",
    "batch": "batches",
    "age": "histories",
}
SHOWN = 6  # pairs that have never met, of those there are


def table(coverage: Coverage, claims: Mapping[str, Any], lacks: Mapping[str, int]) -> str:
    """Return the table: in how many campaigns each thing came up, and what never did."""
    return "\n".join([*_covered(coverage), *_never(coverage, claims, lacks)])


def _covered(coverage: Coverage) -> Iterator[str]:
    yield "covered, each with the number of campaigns:"
    order = {"depth": DEEP, "end": ENDS, "age": OLD}
    for group in GROUPS:
        found = coverage.alone(group)
        names = [name for name in order.get(group, sorted(found)) if name in found]
        names += [name for name in sorted(found) if name not in names]
        yield from hanging(WORDS[group], ", ".join(f"{name} {found[name]:,}" for name in names))
    kinds = dict.fromkeys((*KINDS, *STEP_LAWS.values()))
    decided = ", ".join(f"{kind} {coverage.decisions[kind]:,}" for kind in kinds if coverage.decisions.get(kind))
    yield from hanging("decisions", decided)
    met = sum(len(point) == 2 for point in coverage.points)
    yield from hanging("pairs", f"{met:,} pairs of these met in one campaign")


def _never(coverage: Coverage, claims: Mapping[str, Any], lacks: Mapping[str, int]) -> Iterator[str]:
    yield "never happened:"
    met = coverage.alone("feature")
    steps = any(name in met for name in STEP_FEATURES[:2])
    claimed = [*STEP_FEATURES] if steps else [one.name for one in FEATURES if not unmet(claims, one.needs)]
    missing = [name for name in claimed if name not in met and name != "shapes"]
    pairs = [pair for pair in combinations(sorted(set(claimed) & set(met)), 2) if not _met(coverage, pair)]
    rows = {
        "features": missing,
        "pairs": [" with ".join(pair) for pair in pairs[:SHOWN]] + [f"and {len(pairs) - SHOWN} more"] * (len(pairs) > SHOWN),
        "ends": _absent(ENDS, coverage.alone("end")),
        "depths": _absent(DEEP, coverage.alone("depth")),
        "batches": _absent(BATCHES, coverage.alone("batch")),
        "histories": _absent(OLD, coverage.alone("age")),
        "decisions": [kind for kind in (STEP_LAWS.values() if steps else KINDS) if not coverage.decisions.get(kind)],
        "claims": [] if steps else [one.name for one in FEATURES if unmet(claims, one.needs)],
    }
    for label, names in rows.items():
        if names:
            yield from hanging(label, f"not claimed: {', '.join(names)}" if label == "claims" else ", ".join(names))
    if lacks:
        yield from hanging("deployed", "never: " + "; ".join(f"{what} ({n})" for what, n in lacks.items()))
    if not any(rows.values()) and not lacks:
        yield "  nothing of what is counted here"


def _met(coverage: Coverage, pair: Sequence[str]) -> bool:
    first, second = sorted(f"feature {name}" for name in pair)
    return (first, second) in coverage.points


def _absent(every: Sequence[str], found: Mapping[str, int]) -> list[str]:
    return [one for one in every if one not in found]


def summary(coverage: Coverage, seconds: float, found: Mapping[str, int]) -> str:
    """Return what was done, in one line."""
    rate = coverage.campaigns / seconds * 60 if seconds else 0
    done = f"{coverage.campaigns:,} campaigns on {coverage.deployments:,} deployments in {seconds:,.0f} s"
    done += f" ({rate:,.0f} a minute)"
    parts = f"{coverage.requests:,} requests, {coverage.batches:,} batches, {sum(coverage.decisions.values()):,} decisions"
    what = listed([f"{kind} ({count(number, 'campaign')})" for kind, number in found.items()]) if found else "nothing"
    return f"{done}: {parts}. Found: {what}."
