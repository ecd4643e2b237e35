"""The rate limiter: executions of several models wait for units of a resource, of which there are two."""

import pytest

from batchproof.fixtures.driving.script import MS
from batchproof.reference_batcher import BatcherConfig
from batchproof.suites.deployment.names import many
from batchproof.targets.repository import Group, Model

LIMITS = {"R": 2}
ONE, FOUR = BatcherConfig(max_batch_size=1), BatcherConfig(max_batch_size=4)
SMALL, WHOLE = (("R", 1),), (("R", 2),)


def crowded(serving):
    """Two models of two instances each, every one of which needs one of two units, with work for all."""
    on = serving(*(Model(name, ONE, groups=(Group(2, SMALL),)) for name in "xy"), limits=LIMITS)
    for place in range(15):
        on.send("x", f"x{place}", work_ns=10 * MS)
        on.send("y", f"y{place}", work_ns=10 * MS)
    return on.scene()


@pytest.mark.rule("DP-RATE-001")
def test_no_more_than_there_is(serving, judge):
    """Executions never hold more units of a resource than there are, over all models"""
    judge(crowded(serving))


@pytest.mark.rule("DP-RATE-002")
def test_all_that_there_is(serving, judge):
    """Under a backlog, executions use all units of a resource at once"""
    judge(crowded(serving))


@pytest.mark.rule("DP-RATE-003")
def test_weight(serving, judge):
    """A model with twice the priority gets about twice as many executions while both have a backlog"""
    weighted = (Model(name, ONE, groups=(Group(2, WHOLE, weight),)) for name, weight in (("x", 1), ("y", 2)))
    on = serving(*weighted, limits=LIMITS)
    on.plug("x", "gate")
    on.send("x", *many("x", 60), work_ns=2 * MS)
    on.send("y", *many("y", 60), work_ns=2 * MS)
    on.queued("x", 58)  # an instance may hold the request that it waits with
    on.queued("y", 58)
    on.release("x", "gate")

    judge(on.scene())


@pytest.mark.rule("DP-RATE-004")
def test_large_need(serving, judge):
    """A model that needs all units gets them, although others that need one keep coming"""
    small = (Model(name, ONE, groups=(Group(2, SMALL),)) for name in "yz")
    on = serving(Model("x", ONE, groups=(Group(1, WHOLE),)), *small, limits=LIMITS)
    on.plug("y", "gate-y", "plug-y")
    on.plug("z", "gate-z", "plug-z")
    for name in "yz":
        on.send(name, *many(name, 40), work_ns=2 * MS)
        on.queued(name, 38)  # an instance may hold the request that it waits with
    on.send("x", *many("x", 5))
    on.queued("x", 4)
    on.release("y", "gate-y")
    on.release("z", "gate-z")

    judge(on.scene())


@pytest.mark.rule("DP-RATE-005")
def test_batches_all_the_same(serving, judge):
    """Requests that wait for a resource leave in batches"""
    on = serving(Model("x", FOUR, groups=(Group(1, WHOLE),)), Model("y", ONE, groups=(Group(1, WHOLE),)), limits=LIMITS)
    on.plug("y", "gate")
    on.send("x", "r")
    on.in_line("x", *many("r", 11))
    on.release("y", "gate")

    judge(on.scene())


@pytest.mark.rule("DP-RATE-006")
def test_impossible_need(serving, judge):
    """A model that needs more units than there are is refused by the name of the resource, and others serve"""
    on = serving(Model("x", ONE, groups=(Group(1, WHOLE),)), limits=LIMITS)
    on.load(Model("y", ONE, groups=(Group(1, (("R", 3),)),)))
    on.send("x", *many("r", 3))

    judge(on.scene())


@pytest.mark.rule("DP-RATE-007")
def test_without_resources(serving, judge):
    """A model that needs no resource is served while others wait for one"""
    on = serving(*(Model(name, ONE, groups=(Group(1, WHOLE),)) for name in "xy"), Model("z", ONE), limits=LIMITS)
    on.plug("x", "gate")
    on.send("y", *many("y", 3))
    on.queued("y", 2)
    on.send("z", *many("r", 5))
    on.answered(many("r", 5))
    on.release("x", "gate")

    judge(on.scene())
