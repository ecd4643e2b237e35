"""As much load as a batcher can serve: how well it uses the model, for how long, and for which clients."""

from dataclasses import replace

import pytest

from batchproof.load.workload import Work
from batchproof.reference_batcher import BatcherConfig
from batchproof.suites.performance.rounds import CONFIG, SINGLE, rounds

FEWER = 4  # times, and more, than in a crowd
SLICE_S = 0.6  # in which a wake-up of the host that comes late takes no large part of it
NOTHING = Work("nothing", "the witness, which takes no time")  # so that what is left is the batcher's own
SIZES = (SINGLE, BatcherConfig(max_batch_size=4), CONFIG)


@pytest.fixture
def saturated(loads):
    """The same load as the rule about the speed-up uses."""
    return lambda: loads.shared("rounds", lambda: rounds(loads))


@pytest.mark.rule("PERF-LIMIT-001")
@pytest.mark.models(CONFIG)
def test_limit_is_reached(saturated, judge):
    """A saturated batcher serves at least 0.8 times the rows per second that lone full batches allow"""
    judge(saturated())


@pytest.mark.rule("PERF-SWEEP-001")
@pytest.mark.models(*SIZES)
def test_larger_batches_pay(loads, judge):
    """The best of at least three values of max_batch_size serves at least 1.1 times as much as the smallest"""

    def saturated(config, model):
        size = config.max_batch_size
        return replace(loads.closed(f"size {size}", model, 2 * size, 8 * size), max_batch_size=size)

    smallest = loads.fitted(SINGLE).max_batch_size
    sizes = SIZES if smallest == 1 else tuple(replace(SINGLE, max_batch_size=smallest * times) for times in (1, 2, 4))
    judge(loads.trial(loads.turns(sizes, saturated, 4, 7)))


@pytest.mark.rule("PERF-STEADY-001")
@pytest.mark.models(CONFIG)
def test_throughput_lasts(saturated, judge):
    """The last third of a run is at least 0.8 times as fast as the first third"""
    judge(saturated())


@pytest.mark.rule("PERF-FAIR-001")
@pytest.mark.models(CONFIG)
def test_no_client_is_starved(saturated, judge):
    """Among equal clients of a saturated batcher, each is served at least half as often as the average"""
    judge(saturated())


@pytest.mark.rule("PERF-DEPTH-001")
@pytest.mark.models(CONFIG)
def test_a_crowd_costs_no_more(loads, judge):
    """A crowd of clients is served at least 0.4 times as fast as a quarter of it"""
    model = loads.model(CONFIG, work=NOTHING)
    model.traffic = None  # decisions among thousands that wait are judged elsewhere
    crowd = loads.crowd(model)
    clients = {"fewer": crowd // FEWER, "crowd": crowd}

    def in_turn():
        return [loads.closed(name, model, count, 2 * count, SLICE_S) for name, count in clients.items()]

    judge(loads.trial(loads.rounds(in_turn, 4, 7), NOTHING))
