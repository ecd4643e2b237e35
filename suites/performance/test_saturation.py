"""As much load as a batcher can serve: how well it uses the model, for how long, and for which clients."""

from dataclasses import replace

import pytest

from batchproof.reference_batcher import BatcherConfig
from batchproof.suites.performance.rounds import CONFIG, SINGLE, rounds

PAIR = BatcherConfig(max_batch_size=2)  # so that what is done once for each batch weighs as well
SIZES = (SINGLE, BatcherConfig(max_batch_size=4), CONFIG)


@pytest.fixture
def saturated(loads):
    """The same load as the rule about the speed-up uses."""
    return lambda: loads.shared("rounds", lambda: rounds(loads))


@pytest.fixture
def backlogs(loads):
    """Backlogs, one after another, of a model that takes no time and has no history."""

    def rounds():
        model = loads.idle(PAIR)
        depth = loads.depth(model)
        yield from loads.rounds(lambda: loads.backlog(model, depth), 7, 10)
        loads.discard(model)

    return lambda: loads.shared("backlogs", rounds, loads.no_time)


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


@pytest.mark.rule("PERF-STEADY-002")
@pytest.mark.models(PAIR)
def test_what_was_served_costs_nothing(backlogs, judge):
    """After thousands of requests, one is taken in and served at least 0.5 times as fast as at first"""
    judge(backlogs())


@pytest.mark.rule("PERF-FAIR-001")
@pytest.mark.models(CONFIG)
def test_no_client_is_starved(saturated, judge):
    """Among equal clients of a saturated batcher, each is served at least half as often as the average"""
    judge(saturated())


@pytest.mark.rule("PERF-DEPTH-001")
@pytest.mark.models(PAIR)
def test_many_that_wait_cost_no_more(backlogs, judge):
    """While thousands wait, requests are taken in and served at least 0.5 times as fast as while few do"""
    judge(backlogs())
