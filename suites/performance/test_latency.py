"""Latency below saturation: what batching costs a lone request, and what the simulation predicts for the same arrivals."""

from dataclasses import replace
from itertools import count

import pytest

from batchproof.bench.oracle.curve import Curve
from batchproof.fixtures.loads import MS, SLOW, Part, every
from batchproof.load.schedule import poisson
from batchproof.reference_batcher import BatcherConfig
from batchproof.reference_batcher.simulator import simulate
from batchproof.suites.performance.rounds import CONFIG, LONE_NS, SINGLE

DELAYED = BatcherConfig(max_batch_size=8, max_queue_delay_ns=20 * MS)
NAMES = {SINGLE: "single", CONFIG: "no delay", DELAYED: "delay"}
LONE = 7  # requests of each model in a round
NEXT_NS = 15 * MS  # from one model's lone request to the next model's, which is the last of the turn if it has a delay
TURN_NS = 3 * NEXT_NS + DELAYED.max_queue_delay_ns
RHO, SECONDS = 0.6, 0.6
CAPACITY = 8e9 / (SLOW.base_ns + 8 * SLOW.row_ns)
APART_NS = 45 * MS


@pytest.mark.rule("PERF-DELAY-001")
@pytest.mark.models(*NAMES)
def test_batching_costs_the_delay(loads, judge):
    """Batching adds at most the queue delay to a lone request, and nothing if there is no delay"""

    def lone(config, model):
        return marked(config, *loads.open(Part(NAMES[config], model, every(LONE_NS + config.max_queue_delay_ns, LONE))))

    def interleaved():
        parts = [Part(NAMES[one], model, every(TURN_NS, LONE, turn * NEXT_NS)) for turn, (one, model) in enumerate(models)]
        return list(map(marked, NAMES, loads.open(*parts)))

    def marked(config, measured):
        return replace(measured, max_queue_delay_ns=config.max_queue_delay_ns)

    if not loads.side_by_side:
        return judge(loads.trial(loads.turns(tuple(NAMES), lone, 4, 7, exact=True)))
    first = loads.model(SINGLE, exact=True)
    models = [(SINGLE, first), *((config, loads.model(config, first, exact=True)) for config in (CONFIG, DELAYED))]
    return judge(loads.trial(loads.rounds(interleaved, 4, 7)))


@pytest.mark.rule("PERF-ORACLE-001")
@pytest.mark.models(CONFIG)
def test_as_fast_as_simulated(loads, judge, seed):
    """At 0.6 of its capacity, a batcher's mean latency is at most 1.15 times that of the simulated schedule"""
    model, numbers = loads.model(CONFIG, work=SLOW), count()

    def arrivals():
        due_ns = poisson(RHO * CAPACITY, SECONDS, seed() * 100 + next(numbers), exact=True).due_ns
        one, full, measured = loads.open(
            Part("one", model, every(APART_NS, 4)),
            Part("full", model, every(APART_NS, 4, 4 * APART_NS), rows=8),
            Part("arrivals", model, 9 * APART_NS + due_ns),
        )
        curve = Curve((1, 8), (max(1, one.p50_ns), max(1, full.p50_ns)))
        simulated_ns = simulate(loads.fitted(CONFIG), due_ns, curve.table(8)).latency_ns
        return one, full, replace(measured, simulated_mean_ns=round(simulated_ns.mean()))

    judge(loads.trial(loads.rounds(arrivals, 4, 7), SLOW))
