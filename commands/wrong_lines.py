"""Wrong lines that nobody chose, judged by every rule about their kind of batching: which of them survive.

Unlike a declared mutant, one that survives proves nothing by itself: some wrong lines change nothing that anybody can see.
A person looks at each, and then a rule is missing, or not.
"""

from __future__ import annotations

import json
import random
import signal
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from batchproof.commands.mutants import judged, pool
from batchproof.exit_status import ExitStatus, refuse
from batchproof.fixtures.judging.catalogue import rules
from batchproof.fixtures.run import Unjudged
from batchproof.reference_batcher.mutants import STEMS, Mutant, count_of, mutant_of

FAMILIES = {"": ("DB", "CU", "DP", "SB"), "sequence": ("SB",), "continuous": ("CB",)}  # of rules, by that of a mutant
LATER = ("LAW", "DRIVE", "SCALE", "LIVE")  # areas whose rules take longer
LONGEST_S = 300  # on a host that is very busy, a slow one may seem to be endless
ENDLESS = "it never ends"


@dataclass(frozen=True)
class Noticed:
    """Who noticed a wrong line first. rules: those that failed together with it, and what each said; none: it survives."""

    name: str
    what: str
    rules: tuple[tuple[str, str], ...]


def survey(modules: Sequence[str], sample: int, seed: int) -> Iterator[Noticed]:
    """Judge so many of the wrong lines of these modules, with a process for each processor; all if there are fewer."""
    every = [f"{module}#{number}" for module in modules for number in range(1, count_of(module) + 1)]
    chosen = random.Random(seed).sample(every, min(sample, len(every)))
    with pool() as workers:
        yield from workers.map(noticed, sorted(chosen, key=every.index))


def noticed(name: str) -> Noticed:
    """Judge one: first by the rules that take little time, and by the others if none of these notices it."""
    mutant = mutant_of(name)
    signal.signal(signal.SIGALRM, _endless)
    signal.alarm(LONGEST_S)
    try:
        said = next(filter(None, (judged(f"mutant:{name}", only) for only in _stages(mutant))), {})
    except TimeoutError:
        said = {ENDLESS: ""}
    finally:
        signal.alarm(0)
    return Noticed(name, mutant.what, tuple(said.items()))


def _endless(*_: Any) -> None:
    raise TimeoutError


def _stages(mutant: Mutant) -> Iterator[str]:
    mine = [rule.id for rule in rules().values() if rule.id.startswith(FAMILIES[mutant.family])]
    late = [rule for rule in mine if rule.split("-")[1] in LATER]
    yield ",".join(rule for rule in mine if rule not in late)
    yield ",".join(late)


def print_survey(modules: Sequence[str], sample: int, seed: int, *, as_json: bool = False) -> ExitStatus:
    """Print who noticed each, and how many nobody did. MISUSE if there is no such module, UNAVAILABLE without a report."""
    if unknown := [module for module in modules if module not in STEMS]:
        return refuse(f"there is no module '{unknown[0]}': choose from {', '.join(STEMS)}")
    table = []
    try:
        for one in survey(modules, sample, seed):
            table.append(one)
            if not as_json:
                print(f"{one.name:<26} {one.rules[0][0] if one.rules else 'SURVIVES':<14} {one.what}", flush=True)
    except Unjudged as why:
        return refuse(why, ExitStatus.UNAVAILABLE)
    survive = sum(not one.rules for one in table)
    if as_json:
        json.dump([vars(one) for one in table], sys.stdout, indent=2)
    print(f"\n{len(table)} wrong lines: {survive} survive" * (not as_json))
    return ExitStatus.FINE
