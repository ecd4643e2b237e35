"""Judges what a bench or a tuning has sent: by the checker of PERF-LAW-001, as the loads of the rules about speed are."""

from __future__ import annotations

from dataclasses import replace

from batchproof.bench.under_load import Look, Looked
from batchproof.fixtures.driving.under_load import timeline_of
from batchproof.fixtures.judging.declarations import SHIPPED_KNOWN_ISSUES, known_decisions
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
        judgement = judged(RULE, timeline)
        if judgement.verdict is not Verdict.FAIL or timeline.problems or known_in(timeline, info, decisions):
            return Looked(len(asked))
        shown = timeline.around(judgement.about) if judgement.about else timeline
        said = f"wanted: {judgement.expected}\nfound: {judgement.actual}"
        return Looked(len(asked), judgement.actual, f"{said}\n\n{shown.picture(WIDTH)}\n")

    return look
