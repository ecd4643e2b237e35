"""A counterexample: how often it comes again, its smallest form, and what is written about it."""

from __future__ import annotations

import time
from dataclasses import dataclass

from batchproof.commands.hunt.ground import Ground
from batchproof.commands.hunt.judges import (
    ACCEPTOR,
    BROKEN,
    COMPARISON,
    DIED,
    LAWS,
    OF_ANY_TRAFFIC,
    Trouble,
    apart,
    differs,
    judge,
)
from batchproof.commands.hunt.rounds import Driven
from batchproof.fixtures.driving.campaign import Campaign, smaller
from batchproof.fixtures.driving.case import Case, run_case
from batchproof.fixtures.driving.driver import NotObservable
from batchproof.fixtures.driving.shrinking import shrunk, smallest
from batchproof.fixtures.evidence.timeline import Timeline
from batchproof.fixtures.judging.checkers.sequence.drive import STEP_LAWS
from batchproof.fixtures.judging.judge import judged
from batchproof.fixtures.judging.verdicts import Verdict
from batchproof.targets.protocol import TargetError, Unsupported
from batchproof.targets.virtual import VirtualTarget

Shown = tuple[Trouble, Timeline | None]
TIMED = frozenset({"idle", "expiry", "cancel", "refusal", "progress"})  # a duration decides these
REPLAYS = 3
TRIES = 400  # at making it smaller
SHRINK_S = 25.0  # on the host; in simulated time, the tries end first


@dataclass(frozen=True)
class Found:
    """The first counterexample of a kind.

    reproduced: how often it came again in so many replays on fresh deployments; 0: not once, so the evidence is what was
    seen first. history: it needs what came before it on its deployment. rule: the law that fails on the evidence.
    """

    trouble: Trouble
    campaign: int
    seconds: float
    case: Case
    timeline: Timeline | None
    reproduced: int
    replays: int
    history: bool
    rule: str

    @property
    def by_the_host(self) -> bool:
        """Whether a busy host may explain it: a duration was too long once, and in no replay."""
        return self.trouble.kind in TIMED and self.replays > 0 and not self.reproduced


def measured_again(ground: Ground, one: Driven, kind: str) -> Verdict:
    """Return what two more measurements say about a trouble that a stall may explain: FAIL, PASS or INCONCLUSIVE."""
    for _ in range(REPLAYS - 1):
        found = _troubles(ground, _case(one, one.alone()), kind)
        verdict = max((trouble.verdict for trouble, _ in found if trouble.kind == kind), default=Verdict.PASS)
        if verdict is not Verdict.INCONCLUSIVE:
            return verdict
    return Verdict.INCONCLUSIVE


def investigated(ground: Ground, one: Driven, trouble: Trouble, seconds: float) -> Found:
    """Replay what was found, with its history if it needs that, and make it as small as possible."""
    if trouble.kind == DIED:  # another death would cost another server
        return _found(one, trouble, seconds, _case(one, one.with_history()), None, 0, bool(one.past), replays=0)
    forms = [(one.alone(), False), *([(one.with_history(), True)] if one.past else [])]
    for campaign, history in forms:
        seen = [_shows(ground, _case(one, campaign), trouble.kind) for _ in range(REPLAYS)]
        if hits := [found for found in seen if found]:
            small, last = _small(ground, one, campaign, trouble.kind) if len(hits) > 1 else (_case(one, campaign), None)
            shown, timeline = last or hits[-1]
            return _found(one, shown, seconds, small, timeline, len(hits), history)
    return _found(one, trouble, seconds, _case(one, one.with_history()), one.timeline, 0, bool(one.past))


def _found(
    one: Driven,
    trouble: Trouble,
    seconds: float,
    case: Case,
    timeline: Timeline | None,
    reproduced: int,
    history: bool,
    replays: int = REPLAYS,
) -> Found:
    rule = _rule(trouble, timeline)
    return Found(trouble, one.number, seconds, case, timeline, reproduced, replays, history, rule)


def _rule(trouble: Trouble, timeline: Timeline | None) -> str:
    """Return a law that fails on the evidence, so that a bundle of it shows the failure again; "" if there is none."""
    if timeline is None or trouble.kind == COMPARISON:
        return ""
    laws = STEP_LAWS if timeline.config.get("sequence") else {ACCEPTOR: trouble.kind, **LAWS}
    same = [rule for rule, kind in laws.items() if kind == trouble.kind]
    for rule in dict.fromkeys((trouble.rule, *same)):
        if rule in OF_ANY_TRAFFIC and judged(rule, timeline).verdict is Verdict.FAIL:
            return rule
    return ""


def _case(one: Driven, campaign: Campaign) -> Case:
    return one.case or campaign.case(one.means)


def _troubles(ground: Ground, case: Case, kind: str) -> list[Shown]:
    """Drive a case alone; return what is wrong with it. Nothing is if it cannot be deployed or driven."""
    try:
        timeline = ground.alone(case)
    except (Unsupported, NotObservable, TargetError):
        return []
    except Exception as error:
        what = f"{type(error).__name__}: {error}"
        return [(Trouble(BROKEN, "", Verdict.FAIL, what, "an answer or a refusal"), None)]
    try:
        found = judge(timeline, ground.claims, laws=not ground.simulated).troubles
        if kind == COMPARISON:
            original = run_case(VirtualTarget(), case, count=ground.simulated)
            if other := apart(original, timeline, exact=ground.simulated):
                found += (differs(other),)
    except Exception:  # what cannot be judged shows nothing
        return []
    return [(trouble, timeline) for trouble in found]


def _shows(ground: Ground, case: Case, kind: str) -> Shown | None:
    found = [one for one in _troubles(ground, case, kind) if one[0].kind == kind and one[0].verdict is Verdict.FAIL]
    return found[0] if found else None


def _small(ground: Ground, one: Driven, campaign: Campaign, kind: str) -> tuple[Case, Shown | None]:
    """Return the smallest case that still shows it, and what that showed last."""
    last: Shown | None = None
    until = time.monotonic() + SHRINK_S

    def fails(case: Case) -> bool:
        nonlocal last
        if time.monotonic() > until:
            return False
        shown = _shows(ground, case, kind)
        last = shown or last
        return shown is not None

    if one.case is not None:  # it was not made from phases, and only simulated time does without `Queued`
        return one.case, None
    small = smallest(campaign, lambda less: fails(less.case(one.means)), smaller, TRIES).case(one.means)
    return (shrunk(small, fails, TRIES) if ground.simulated else small), last


def program(case: Case, target: str, path: str) -> str:
    """Return a program of about five lines that shows the case."""
    lines = case.python(target).splitlines()
    if len(lines) <= 30:
        return "\n".join(lines)
    names = "from pathlib import Path\n\nfrom batchproof.fixtures.driving.case import Case, show\n"
    return f'{names}\nshow("{target}", Case.read(Path("{path}")))'
