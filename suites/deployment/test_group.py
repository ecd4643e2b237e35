"""Instance groups: several groups and counts, one instance that is slow, one that dies, and a count that changes."""

import pytest

from batchproof.fixtures.driving.script import MS, Answered, Entered, Release, Send
from batchproof.reference_batcher import BatcherConfig
from batchproof.suites.deployment.names import many
from batchproof.targets.repository import Group, Model

TWO_ROWS = BatcherConfig(max_batch_size=2)
FIVE_INSTANCES = BatcherConfig(max_batch_size=2, instances=5)
GROUPS = Model("model", TWO_ROWS, groups=(Group(2), Group(1)))


def plugs(on, count: int):
    """Hold so many instances, each by a batch of its own, and let them go."""
    for name in many("p", count):
        on.plug("model", f"gate-{name}", name)
    for name in many("p", count):
        on.release("model", f"gate-{name}")


@pytest.mark.rule("DP-GROUP-001")
def test_nobody_starves(drive, judge):
    """Under a backlog, every one of five instances gets work"""
    judge(drive(FIVE_INSTANCES, tuple(Send(name, work_ns=10 * MS) for name in many("r", 80))))


@pytest.mark.rule("DP-GROUP-002")
def test_one_is_slow(drive, judge):
    """When one of five instances is held up, the others serve everything that does not run on it"""
    rest = many("r", 40)
    sent = tuple(Send(name, work_ns=2 * MS) for name in rest)

    judge(drive(FIVE_INSTANCES, (Send("plug", hold="gate"), Entered("plug"), *sent, Answered(rest), Release("gate"))))


@pytest.mark.rule("DP-GROUP-003")
def test_all_groups_at_once(serving, judge):
    """As many batches run at once as all instance groups have instances together"""
    on = serving(GROUPS)
    plugs(on, 3)

    judge(on.scene())


@pytest.mark.rule("DP-GROUP-004")
def test_no_more_than_all_groups(serving, judge):
    """No more batches run at once than all instance groups have instances together"""
    on = serving(GROUPS)
    on.send("model", *many("r", 60), work_ns=10 * MS)

    judge(on.scene())


@pytest.mark.rule("DP-GROUP-005")
def test_every_group_works(serving, judge):
    """Under a backlog, every instance of every group gets work"""
    on = serving(GROUPS)
    on.send("model", *many("r", 60), work_ns=10 * MS)

    judge(on.scene())


@pytest.mark.rule("DP-GROUP-006")
def test_more_instances(serving, judge):
    """A reload that changes only the number of instances loses no request, and the new number runs at once"""
    on = serving(Model("model", TWO_ROWS, groups=(Group(1),)))
    on.plug("model", "gate")
    on.send("model", *many("r", 40))
    on.queued("model", 40)
    loading = on.begin_load(Model("model", TWO_ROWS, groups=(Group(3),)))
    on.send("model", *many("during", 20))
    on.ended(loading)
    on.release("model", "gate")
    on.answered()
    plugs(on, 3)

    judge(on.scene())


@pytest.mark.rule("DP-GROUP-007")
def test_one_dies(serving, judge):
    """After the process of one of several instances has been killed, new requests are served by the others"""
    on = serving(Model("model", TWO_ROWS, groups=(Group(3),)))
    on.send("model", *many("before", 12), work_ns=5 * MS)
    on.answered()
    on.kill_instance("model")
    on.send("model", "first")
    on.answered()
    for name in many("r", 12):
        on.send("model", name)
        on.answered((name,))

    judge(on.scene())
