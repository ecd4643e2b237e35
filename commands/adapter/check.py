"""`batchproof adapter check`: one adapter, examined."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from batchproof.commands.adapter.claims import ENGINE_OTHERS, OTHERS, SEQUENCE_OTHERS, Measured, measured
from batchproof.commands.adapter.deaths import Deaths
from batchproof.commands.adapter.engines.check import EngineExamination
from batchproof.commands.adapter.examination import Examination
from batchproof.commands.adapter.facts import Facts
from batchproof.commands.adapter.finding import Finding, Level
from batchproof.commands.adapter.residue import Before
from batchproof.commands.adapter.source import Place
from batchproof.reports.wording import line
from batchproof.targets import TargetInfo
from batchproof.targets.names import unchecked


@dataclass(frozen=True)
class Examined:
    """An adapter that was checked: its name, the findings with their places, and the facts behind them.

    claims: those that were measured. ready: whether more than the first things could be tried. profile: to judge it by next.
    untried: claims that the check does not measure.
    """

    name: str
    version: str
    findings: tuple[tuple[Finding, Place | None], ...]
    facts: Facts
    seconds: float
    claims: tuple[Measured, ...] = ()
    ready: bool = False
    profile: str = "CORE"
    untried: tuple[str, ...] = OTHERS

    @property
    def wrong(self) -> list[tuple[Finding, Place | None]]:
        """What has to be mended."""
        return [one for one in self.findings if one[0].level is Level.WRONG]


def examine(spec: str, say: Callable[[str], None] = lambda _: None) -> Examined:
    """Check the adapter that `spec` names; TargetError if there is none."""
    began = time.monotonic()
    with Before() as before, Deaths() as deaths:
        target = unchecked(spec)
        engine = getattr(target.info, "discipline", "") == "continuous"
        examination = (EngineExamination if engine else Examination)(target, say, began)
        try:
            examination.run()
        finally:
            examination.end(before, deaths)
    described = (line(target.info.name), line(target.info.version)) if isinstance(target.info, TargetInfo) else (spec, "")
    found, facts, seconds = tuple(examination.findings), examination.facts, time.monotonic() - began
    if isinstance(examination, EngineExamination):
        return Examined(
            *described, found, facts, seconds, examination.measured, examination.ready, "CONTINUOUS", ENGINE_OTHERS
        )
    if examination.only_sequences:
        served = bool(facts.steps) and all(one.good for one in facts.steps)
        claims = measured(facts)
        untried = tuple(name for name in SEQUENCE_OTHERS if name not in {one.name for one in claims})
        return Examined(*described, found, facts, seconds, claims, served, "SEQUENCE", untried)
    claims = measured(facts)
    untried = tuple(name for name in OTHERS if name not in {one.name for one in claims})
    return Examined(*described, found, facts, seconds, claims, examination.ready, untried=untried)
