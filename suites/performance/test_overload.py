"""More load than a batcher can serve: what happens to the rest, to later requests, and to the model next door."""

import pytest

from batchproof.fixtures.driving.driver import NotObservable
from batchproof.fixtures.loads import MS, SLOW, Part, every
from batchproof.reference_batcher import BatcherConfig
from batchproof.suites.performance.rounds import CONFIG, SINGLE

LIMITED = BatcherConfig(max_batch_size=8, max_queue_size=16)
APART_NS = 45 * MS
FULL_NS, ONE_NS = SLOW.base_ns + 8 * SLOW.row_ns, SLOW.base_ns + SLOW.row_ns
LONE, NEXT_NS = 15, 16 * MS  # requests before the spike, and as many during it; each takes half the time to the next one
LASTS = 10  # requests of the spike: each takes 25.5 ms, so together they take longer than the others during it
SPIKE = 16 * 14  # requests: in the time of 14 full batches, twice as many as fit
BEGINS_NS = 9 * APART_NS
ENDS_NS = BEGINS_NS + 14 * FULL_NS


@pytest.mark.rule("PERF-OVERLOAD-001")
@pytest.mark.models(LIMITED)
def test_overload_is_survived(loads, judge):
    """Offered twice its capacity, a batcher serves 0.8 of it, refuses the rest at once, and recovers afterwards"""
    model = loads.model(LIMITED, work=SLOW)

    def spiked():
        return loads.open(
            Part("full", model, every(APART_NS, 4), rows=8),
            Part("before", model, every(APART_NS, 4, 4 * APART_NS)),
            Part("spike", model, every(FULL_NS // 16, SPIKE, BEGINS_NS), window_ns=(BEGINS_NS + 2 * FULL_NS, ENDS_NS)),
            Part("after", model, every(APART_NS, 4, ENDS_NS + 4 * FULL_NS)),
        )

    judge(loads.trial(loads.rounds(spiked, 4, 7), SLOW))


@pytest.mark.rule("PERF-ISOLATION-001")
@pytest.mark.models(CONFIG, SINGLE)
def test_the_neighbour_is_spared(loads, judge):
    """During a spike on another model, a model's median latency is at most 1.5 times what it was before"""
    model = loads.model(CONFIG)
    other = loads.model(SINGLE, beside=model, work=SLOW)
    if not loads.side_by_side or other.deployment.inner is model.deployment.inner:
        raise NotObservable("the target serves one model at a time")

    def neighbours():
        before, during, _ = loads.open(
            Part("before", model, every(NEXT_NS, LONE)),
            Part("during", model, every(NEXT_NS, LONE, LONE * NEXT_NS)),
            Part("spike", other, every(ONE_NS // 2, LASTS, LONE * NEXT_NS - MS)),
        )
        return before, during

    judge(loads.trial(loads.rounds(neighbours, 4, 7)))
