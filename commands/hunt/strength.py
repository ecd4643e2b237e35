"""How long a hunt takes to reject a mutant, in simulated time."""

from __future__ import annotations

import time
from dataclasses import dataclass

from batchproof.commands.hunt.corpus import Corpus
from batchproof.commands.hunt.ground import Ground
from batchproof.commands.hunt.reached import Coverage
from batchproof.commands.hunt.rounds import Rounds, longest_of
from batchproof.fixtures.judging.verdicts import Verdict
from batchproof.targets.verbs import full
from batchproof.targets.virtual import VirtualTarget

SEED = 1729


@dataclass(frozen=True)
class Rejected:
    """The first campaign in which a mutant was rejected, from 1; 0: it was in none. seconds: of processor time. by: what."""

    campaign: int
    seconds: float
    by: str


def rejected(mutant: str, campaigns: int, *, compares: bool) -> Rejected:
    """Hunt a mutant for so many campaigns. compares: with the reference core too, which no other target can be."""
    coverage = Coverage()
    with Ground(full(VirtualTarget(mutant))) as ground:
        rounds = Rounds(ground, Corpus(ground.claims, coverage, longest_of(ground)), coverage, SEED)
        rounds.compares = compares
        began = time.process_time()
        for one in rounds.driven(lambda: rounds.number <= campaigns):
            if wrong := [trouble.kind for trouble in one.judged.worst() if trouble.verdict is Verdict.FAIL]:
                return Rejected(one.number, time.process_time() - began, wrong[0])
    return Rejected(0, time.process_time() - began, "")
