"""Judges one campaign: by the acceptor, by the laws, and by comparison with the reference core in simulated time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from batchproof.commands.diff import Divergence, divergence
from batchproof.fixtures.driving.case import Case
from batchproof.fixtures.evidence.timeline import Timeline
from batchproof.fixtures.judging.acceptor import KINDS, Acceptance, Decision, accept
from batchproof.fixtures.judging.catalogue import rules
from batchproof.fixtures.judging.checkers import checkers
from batchproof.fixtures.judging.checkers.sequence.drive import ARRIVAL, STEP_LAWS
from batchproof.fixtures.judging.verdicts import Judgement, Verdict
from batchproof.reference_batcher.config import BatcherConfig
from batchproof.targets.claims import unmet, value_of

ACCEPTOR = "DB-LAW-009"
IDLE, IDLE_WITH_POLICY = "DB-LAW-005", "DB-LAW-006"
LAWS = {  # the laws that are judged besides, and the kind of decision that each is about
    "DB-LAW-001": "once",
    "DB-LAW-002": "size",
    "DB-LAW-003": "answer",
    "DB-LAW-004": "reason",
    "DB-LAW-007": "counters",
    "DB-LAW-008": "shape",
}
IN_ROWS = "DB-LAW-002"  # counts rows, which may be other than what a batch is limited in
ONCE = "DB-LAW-001"  # counts the executions of a request, of which one that is split has several
CLOSES, REFUSES = "DB-LIVE-004", "DB-TIMEOUT-005"
OF_ANY_TRAFFIC = frozenset({ACCEPTOR, IDLE, IDLE_WITH_POLICY, CLOSES, *LAWS, *STEP_LAWS})  # others want their script
COMPARISON, BROKEN, DIED = "comparison", "broken", "died"
MEANINGS = {
    "state": "a sequence finds the state that its own earlier requests have left",
    "turn": "the requests of a sequence run one at a time, in the order in which they were sent",
    "place": "a sequence stays where its state is",
    "told": "the model is told which request of which sequence it has",
    "slots": "no slot has two sequences, and no batch too many requests",
    "shared": "sequences that wait share the next batch as their strategy says",
    "progress": "no request of a sequence with a slot waits while its instance is free",
    ARRIVAL: "free slots are given to sequences in the order in which they came",
    **KINDS,
    COMPARISON: "the same happens as in the reference core, in simulated time",
    BROKEN: "the target does not break down",
    DIED: "the target lives",
}
# What a stack must claim for its batches behind a gate to be those of the reference core.
ALIKE = ("rows=counted", "late_binding", "queue=shared", "max_queue_size", "instances=false|true")
DECIDED = (Verdict.FAIL, Verdict.INCONCLUSIVE)


@dataclass(frozen=True)
class Trouble:
    """One thing that is not as it should be. kind: one of MEANINGS. rule: the law that it breaks; empty: a comparison."""

    kind: str
    rule: str
    verdict: Verdict
    happened: str
    allowed: str
    names: tuple[str, ...] = ()


@dataclass(frozen=True)
class Judged:
    """What was decided about one campaign. judged: how many decisions of each kind."""

    judged: Mapping[str, int]
    troubles: tuple[Trouble, ...] = ()

    def worst(self) -> tuple[Trouble, ...]:
        """Return one trouble of each kind, the worst first. A difference that another trouble explains is left out."""
        found: dict[str, Trouble] = {}
        for one in sorted(self.troubles, key=lambda trouble: trouble.verdict, reverse=True):
            found.setdefault(one.kind, one)
        if len(found) > 1:
            found.pop(COMPARISON, None)
        return tuple(found.values())


def judge(timeline: Timeline, claims: Mapping[str, Any], *, laws: bool = True, original: Timeline | None = None) -> Judged:
    """Judge a campaign. laws: by the laws too, which the acceptor includes if it sees everything.

    original: what the reference core did with the same in simulated time.
    """
    accepted = Acceptance({}, ())
    troubles: list[Trouble] = []
    steps = bool(timeline.config.get("sequence"))
    if steps:
        accepted = Acceptance(dict.fromkeys(STEP_LAWS.values(), sum(len(run.serials) for run in timeline.executions)), ())
    elif timeline.complete and timeline.same_clock:
        idle = "" if timeline.simulated else _idle_rule(timeline, claims)
        accepted = accept(timeline, claims, idle=bool(idle), refusals=not unmet(claims, rules()[REFUSES].needs))
        laws_of = {"idle": idle or ACCEPTOR, "refusal": REFUSES}
        for one in (*accepted.wrong, *accepted.open):
            troubles.append(_trouble(one, laws_of.get(one.kind, ACCEPTOR)))
    if "close" in timeline.marks:
        troubles += _forgotten(timeline)
    elif laws or steps or not accepted.judged:
        troubles += _by_laws(timeline, claims, STEP_LAWS if steps else LAWS)
    if original is not None and (found := apart(original, timeline, exact=True)):
        troubles.append(differs(found))
    return Judged(accepted.judged, tuple(troubles if _all_heard(timeline) else _of_silence(troubles)))


def _all_heard(timeline: Timeline) -> bool:
    return all(sent.answered_ns is not None for sent in timeline.requests)


def _of_silence(troubles: list[Trouble]) -> list[Trouble]:
    """Return those about requests that got no answer: what else seems wrong may be what the rig did not wait for."""
    return [one for one in troubles if one.kind in ("reason", COMPARISON)]


def _trouble(one: Decision, rule: str) -> Trouble:
    return Trouble(one.kind, rule, one.verdict, one.happened, one.allowed, one.names)


def _idle_rule(timeline: Timeline, claims: Mapping[str, Any]) -> str:
    """Return the law about free instances that this stack claims to keep with this configuration, or ""."""
    config = timeline.config
    policy = any(config.get(name) for name in ("queue_timeout_ns", "max_queue_size", "priority_levels"))
    rule = IDLE_WITH_POLICY if policy else IDLE
    return "" if unmet(claims, rules()[rule].needs) else rule


def _by_laws(timeline: Timeline, claims: Mapping[str, Any], laws: Mapping[str, str]) -> Iterator[Trouble]:
    for rule, kind in laws.items():
        if _applies(rule, claims):
            judgement: Judgement = checkers()[rule](timeline)
            if judgement.verdict in DECIDED:
                yield Trouble(kind, rule, judgement.verdict, judgement.actual, judgement.expected, judgement.about)


def _applies(rule: str, claims: Mapping[str, Any]) -> bool:
    rows = value_of(claims, "rows")
    if (rule == IN_ROWS and rows not in (False, "counted")) or (rule == ONCE and rows == "split"):
        return False
    return not unmet(claims, rules()[rule].needs)


def _forgotten(timeline: Timeline) -> Iterator[Trouble]:
    """Yield the first request that was neither answered nor refused when its model was closed."""
    for sent in timeline.requests:
        if sent.answered_ns is None:
            allowed = "an answer or a refusal when its model is closed"
            yield Trouble("reason", CLOSES, Verdict.FAIL, f"{sent.name} got no answer", allowed, (sent.name,))
            return


def differs(found: Divergence) -> Trouble:
    """Return a difference from the reference core as a trouble."""
    return Trouble(COMPARISON, "", Verdict.FAIL, f"{found.where}: {found.other}", found.one)


def apart(original: Timeline, seen: Timeline, *, exact: bool = False) -> Divergence | None:
    """Return the first difference from what the reference core did in simulated time; None if there is none.

    On a host there is none either if other requests outlived their queue timeouts: a slow host decides that, too.
    """
    if not seen.simulated and _late(original) != _late(seen):
        return None
    return divergence(original, seen, exact=exact)


def _late(timeline: Timeline) -> set[str]:
    """Return who waited for longer than its queue timeout."""
    config = BatcherConfig.from_facts(timeline.config)
    entered = {serial: run.enter_ns for run in timeline.executions for serial in run.serials}
    late = set[str]()
    for sent in timeline.requests:
        timeout_ns = config.policy(config.level(sent.payload.priority)).timeout_ns(sent.payload.timeout_ns)
        ended_ns = entered.get(sent.serial, sent.answered_ns)
        if timeout_ns and ended_ns is not None and ended_ns - sent.sent_ns >= timeout_ns:
            late.add(sent.name)
    return late


def comparable(case: Case, claims: Mapping[str, Any]) -> bool:
    """Return whether the reference core decides the same as a correct stack that claims this, on any host."""
    return not unmet(claims, (*ALIKE, *case.config.features()))
