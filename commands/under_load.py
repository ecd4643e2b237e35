"""Judges what a bench or a tuning has sent: by the checker of PERF-LAW-001, as the loads of the rules about speed are.

The load of sequences is judged by their laws, as hunts judge it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from batchproof.bench.under_load import Look, Looked
from batchproof.commands.hunt.judges import judge
from batchproof.fixtures.driving.sequence_features import steps_features_of
from batchproof.fixtures.driving.under_load import timeline_of
from batchproof.fixtures.evidence.timeline import Timeline
from batchproof.fixtures.judging.accused import accused
from batchproof.fixtures.judging.declarations import SHIPPED_KNOWN_ISSUES, KnownDecision, known_decisions
from batchproof.fixtures.judging.drives import known_in
from batchproof.fixtures.judging.judge import judged
from batchproof.fixtures.judging.verdicts import Verdict
from batchproof.host.stalls import stalls
from batchproof.load.workload import Served
from batchproof.reference_batcher.config import BatcherConfig
from batchproof.targets.protocol import TargetInfo

RULE = "PERF-LAW-001"
WIDTH = 110


def look_for(info: TargetInfo) -> Look:
    """Return what judges a model's traffic by the target's claims. What is known to be wrong with it is not told again."""
    decisions = known_decisions(SHIPPED_KNOWN_ISSUES)

    def look(served: Served, config: BatcherConfig) -> Looked:
        asked = served.traffic.taken() if served.traffic else []
        if not asked:
            return Looked(0)
        seen = () if served.clock.simulated else stalls().since(asked[0].sent_ns)
        timeline = replace(timeline_of(asked, served.deployment, config.facts(), seen), claims=dict(info.claims))
        if config.sequence:
            return _of_steps(timeline, info, decisions, steps_features_of(config))
        judgement = judged(RULE, timeline)
        if judgement.verdict is not Verdict.FAIL or timeline.problems or known_in(timeline, info, decisions):
            return Looked(len(asked))
        said = f"wanted: {judgement.expected}\nfound: {judgement.actual}"
        return Looked(len(asked), judgement.actual, f"{said}\n\n{timeline.picture(WIDTH, accused(judgement, timeline))}\n")

    return look


def _of_steps(timeline: Timeline, info: TargetInfo, decisions: Sequence[KnownDecision], features: frozenset[str]) -> Looked:
    """Judge the load of sequences by their laws. A kind of mistake that is known is left out.

    Under load nobody sees when a request was queued. So how long it waited cannot be judged: it may have been on its way.
    """
    asked = len(timeline.requests)
    queued = all(sent.accepted_ns is not None for sent in timeline.requests)
    if timeline.problems:
        return Looked(asked)
    for trouble in judge(timeline, info.claims).worst():
        known = any(one.explains(info, trouble.kind, features) for one in decisions)
        known = known or (trouble.kind == "progress" and not queued)
        if trouble.verdict is Verdict.FAIL and not known:
            said = f"{trouble.rule}\nwanted: {trouble.allowed}\nfound: {trouble.happened}"
            return Looked(asked, trouble.happened, f"{said}\n\n{timeline.picture(WIDTH, trouble.names)}\n")
    return Looked(asked)
