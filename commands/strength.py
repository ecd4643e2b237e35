"""How strong random schedules are: how many it takes to notice each mutant.

Two judges look at the same schedules in simulated time: the laws, which know nothing of the original, and the comparison
with the original's timeline, in which every moment counts. A hunt judges campaigns of its own by the acceptor.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

from batchproof.commands.diff import divergence
from batchproof.commands.hunt.strength import rejected
from batchproof.commands.mutants import pool
from batchproof.exit_status import ExitStatus
from batchproof.fixtures.driving.case import Case, run_case
from batchproof.fixtures.driving.covering import random_case
from batchproof.fixtures.evidence.timeline import Timeline
from batchproof.fixtures.judging.acceptor import accept
from batchproof.fixtures.judging.catalogue import select
from batchproof.fixtures.judging.checkers import Checker, checkers
from batchproof.fixtures.judging.verdicts import TICK_NS, Verdict
from batchproof.reference_batcher.mutants import mutants
from batchproof.targets.virtual import VirtualTarget

EXPLAINED = "DB-LAW-009"  # the acceptor, which `not_accepted` asks: it needs the claims
SCHEDULES, CAMPAIGNS = 400, 1000
FEW = 4  # with fewer mutants, starting processes takes longer than it saves


@dataclass(frozen=True)
class Strength:
    """The first schedule, counted from 1, with which the comparison and a law noticed a mutant; 0: none did.

    hunt: the first campaign of a hunt in which it was rejected, after how many seconds, and by which kind of decision.
    """

    mutant: str
    by_difference: int
    by_law: int
    law: str
    hunt: int
    seconds: float
    by_hunt: str


def strengths(names: Sequence[str] = (), schedules: int = SCHEDULES, campaigns: int = CAMPAIGNS) -> Iterator[Strength]:
    """Measure each mutant (or those named), with a process for each processor."""
    every = list(names or (name for name, one in mutants().items() if one.discipline == "dynamic"))
    measure = partial(_strength, schedules=schedules, campaigns=campaigns)
    if len(every) < FEW:
        yield from map(measure, every)
        return
    with pool() as workers:
        yield from workers.map(measure, every)


def broken_law(timeline: Timeline) -> str:
    """Return the first law that a timeline breaks, with what it says, or ""."""
    for rule, judge in _laws():
        judgement = judge(timeline)
        if judgement.verdict is Verdict.FAIL:
            return f"{rule}: {judgement.actual}"
    return ""


@cache
def _laws() -> tuple[tuple[str, Checker], ...]:
    laws = (rule.id for rule in select(["DB-LAW-*"]) if rule.id != EXPLAINED)
    return tuple((law, checkers()[law]) for law in laws)


def not_accepted(timeline: Timeline, claims: Mapping[str, Any]) -> str:
    """Return the first decision in simulated time that the acceptor rejects or leaves open, or ""."""
    acceptance = accept(timeline, claims, TICK_NS)
    return next((f"{one.kind}: {one.happened}" for one in (*acceptance.wrong, *acceptance.open)), "")


def violations(seeds: range) -> list[tuple[int, str]]:
    """Return the seeds with which the original breaks a law or is not accepted, or the rig has a problem; each with why."""
    target, found = VirtualTarget(), []
    for seed in seeds:
        timeline = run_case(target, schedule(seed), count=True)
        claims = target.info.claims
        if what := broken_law(timeline) or not_accepted(timeline, claims) or "; ".join(timeline.problems):
            found.append((seed, what))
    return found


def schedule(seed: int) -> Case:
    """Return the random case of this seed."""
    return random_case(random.Random(seed))


def _strength(name: str, schedules: int, campaigns: int) -> Strength:
    target = VirtualTarget(name)
    by_difference, by_law, law = 0, 0, ""
    for seed in range(1, schedules + 1):
        try:
            timeline = run_case(target, schedule(seed), count=True)
        except Exception as error:  # a mutant that breaks down has been noticed
            by_difference, by_law, law = by_difference or seed, by_law or seed, law or type(error).__name__
            break
        if not by_law and (broken := broken_law(timeline)):
            by_law, law = seed, broken.partition(":")[0]
        if not by_difference and divergence(_original(seed), timeline, exact=True):
            by_difference = seed
        if by_law and by_difference:
            break
    hunted = rejected(name, campaigns, compares=False)
    return Strength(name, by_difference, by_law, law, hunted.campaign, round(hunted.seconds, 2), hunted.by)


@cache
def _original(seed: int) -> Timeline:
    return run_case(VirtualTarget(), schedule(seed), count=True)


def markdown(table: Sequence[Strength], schedules: int, campaigns: int) -> str:
    """Return docs/results/strength.md."""
    missed, unhunted = sum(not row.by_difference for row in table), sum(not row.hunt for row in table)
    lines = [
        "# How strong random schedules are",
        "",
        f"`batchproof mutants --strength --markdown` prints this page from up to {schedules} random schedules of random",
        "configurations, in simulated time, with seeds from 1 upwards.",
        "The numbers say how many schedules it took to notice the mutant, in two ways: by comparing its timeline with the",
        "original's, and by one of the laws (DB-LAW-*), which know nothing of the original.",
        f"A dash means that no schedule did. The comparison misses {missed} of {len(table)} mutants. They need a scenario",
        "of their own, and their rules in [mutants.md](../mutants.md) have one.",
        "",
        f"The last columns are about [hunt](../hunt.md): in which of up to {campaigns} campaigns it rejected the mutant,",
        "after how many seconds of processor time, and by which kind of decision. It is not told what the original does:",
        "the acceptor and the laws judge, as they do on any other target.",
        f"It misses {unhunted} of {len(table)} mutants.",
        "",
        "| mutant | by comparison | by a law | which | campaigns of a hunt | seconds | decision |",
        "|---|---|---|---|---|---|---|",
        *(
            f"| {row.mutant} | {row.by_difference or '-'} | {row.by_law or '-'} | {row.law} | {row.hunt or '-'} "
            f"| {row.seconds if row.hunt else '-'} | {row.by_hunt} |"
            for row in table
        ),
    ]
    return "\n".join(lines)


def print_strength(form: str, schedules: int = SCHEDULES, campaigns: int = CAMPAIGNS) -> ExitStatus:
    """Print the table."""
    table = list(strengths(schedules=schedules, campaigns=campaigns))
    if form == "json":
        print(json.dumps([vars(row) for row in table], indent=2))
    elif form == "markdown":
        print(markdown(table, schedules, campaigns))
    else:
        wide = max(len(row.mutant) for row in table)
        for row in table:
            by = f"by comparison {row.by_difference or '-':>4}   by law {row.by_law or '-':>4}  {row.law:<10}"
            print(f"{row.mutant:<{wide}}  {by}  by hunt {row.hunt or '-':>5}  {row.by_hunt}")
    return ExitStatus.FINE
