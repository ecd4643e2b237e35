"""Judges what a bench or a tuning has sent: by the checker of PERF-LAW-001, as the loads of the rules about speed are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from batchproof.bench.under_load import Look, Looked
from batchproof.fixtures.driving.under_load import timeline_of
from batchproof.fixtures.judging.judge import judged
from batchproof.fixtures.judging.verdicts import Verdict
from batchproof.host.stalls import stalls
from batchproof.load.workload import Served
from batchproof.reference_batcher.config import BatcherConfig

RULE = "PERF-LAW-001"
WIDTH = 110


def look_for(claims: Mapping[str, Any]) -> Look:
    """Return what judges a model's traffic by these claims."""

    def look(served: Served, config: BatcherConfig) -> Looked:
        asked = served.traffic.taken() if served.traffic else []
        if not asked:
            return Looked(0)
        seen = () if served.clock.simulated else stalls().since(asked[0].sent_ns)
        timeline = replace(timeline_of(asked, served.deployment, config.facts(), seen), claims=dict(claims))
        judgement = judged(RULE, timeline)
        if judgement.verdict is not Verdict.FAIL:
            return Looked(len(asked))
        shown = timeline.around(judgement.about) if judgement.about else timeline
        said = f"wanted: {judgement.expected}\nfound: {judgement.actual}"
        return Looked(len(asked), judgement.actual, f"{said}\n\n{shown.picture(WIDTH)}\n")

    return look
