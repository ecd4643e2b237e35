"""Priorities: which request is served before which."""

import random
from dataclasses import replace

import pytest

from batchproof.fixtures.driving.script import (
    HOUR,
    MS,
    Answered,
    Cancel,
    Entered,
    Queued,
    Release,
    Script,
    Send,
    arrivals,
    gated,
    in_line,
    plugged,
)
from batchproof.reference_batcher import BatcherConfig

TURNS = 100  # of batches of urgent requests: more than a scheduler counts that lets a less urgent one pass in the end
LEVELS = BatcherConfig(max_batch_size=4, priority_levels=3, default_priority_level=2)
MANY_LEVELS = BatcherConfig(max_batch_size=4, priority_levels=12, default_priority_level=12)
LEVELS_DELAYED = BatcherConfig(max_batch_size=4, max_queue_delay_ns=HOUR, priority_levels=3, default_priority_level=2)
NO_LEVELS = BatcherConfig(max_batch_size=4)


def mixed() -> Script:
    """Requests of three levels, out of order, behind a plug."""
    return gated(*(Send(f"r{i}", priority=level) for i, level in enumerate((3, 2, 1, 3, 1, 2, 2, 1, 3, 1))))


@pytest.mark.rule("DB-PRIO-001")
def test_urgent_first(drive, judge):
    """Requests of a more urgent level are served first"""
    judge(drive(LEVELS, mixed()))

    levels = 12, 2, 10, 1, 11, 9, 3, 10, 2  # in the order of numbers, and not of their digits
    judge(drive(MANY_LEVELS, gated(*(Send(f"r{i}", priority=level) for i, level in enumerate(levels)))))


@pytest.mark.rule("DB-PRIO-002")
def test_first_come_within_a_level(drive, judge):
    """Within a priority level, requests are served in the order in which they were queued"""
    judge(drive(LEVELS, mixed()))


@pytest.mark.rule("DB-PRIO-003")
def test_none_is_the_default(drive, judge):
    """A request without a priority has the default level"""
    levels = Send("r0", priority=3), Send("r1", priority=2), Send("r2", priority=1), Send("r3", priority=2)
    nones = Send("none0"), Send("none1"), Send("none2")

    judge(drive(LEVELS, gated(levels[0], nones[0], *levels[1:3], nones[1], levels[3], nones[2])))


@pytest.mark.rule("DB-PRIO-004")
def test_beyond_is_the_default(drive, judge):
    """A request whose priority is outside the levels has the default level"""
    levels = Send("r0", priority=3), Send("r1", priority=2), Send("r2", priority=1), Send("r3", priority=2)
    beyond = Send("beyond0", priority=4), Send("beyond1", priority=1000), Send("beyond2", priority=4)

    judge(drive(LEVELS, gated(levels[0], beyond[0], *levels[1:3], beyond[1], levels[3], beyond[2])))


@pytest.mark.rule("DB-PRIO-005")
def test_levels_share_a_batch(drive, judge):
    """A batch takes requests of several levels rather than leave with empty places"""
    judge(drive(LEVELS, gated(*(Send(f"r{i}", priority=level) for i, level in enumerate((3, 1, 2, 3))))))


@pytest.mark.rule("DB-PRIO-006")
def test_newcomer_overtakes(drive, judge):
    """A new and more urgent request overtakes those that still wait for their queue delay"""
    waiting = (step for i in range(3) for step in (Send(f"r{i}", priority=3), Queued(i + 1)))
    urgent = Send("urgent", rows=2, priority=1), Answered(("urgent",))
    full = Send("last", rows=4, priority=3)

    judge(drive(LEVELS_DELAYED, (*waiting, *urgent, full)))


@pytest.mark.rule("DB-PRIO-007")
def test_no_request_is_forgotten(drive, judge, seed):
    """Requests of every level are answered, including the least urgent"""
    draw = random.Random(seed())
    sends = arrivals(seed(), count=60, mean_gap_ns=1 * MS, work_ns=5 * MS)

    judge(drive(LEVELS, tuple(replace(send, priority=draw.randint(0, 4)) for send in sends)))


@pytest.mark.rule("DB-PRIO-008")
def test_nothing_without_levels(drive, judge):
    """Without priority levels, the priority of a request changes nothing"""
    judge(drive(NO_LEVELS, gated(*(Send(f"r{i}", priority=level) for i, level in enumerate((3, 0, 2, 9, 1, 3, 0, 1))))))


@pytest.mark.rule("DB-PRIO-009")
def test_strictly_urgent_first(drive, judge, campaign):
    """A less urgent request waits for as long as more urgent ones fill the batches"""
    urgent = [[Send(f"r{4 * turn + i}", priority=1, hold=f"gate{turn + 1}") for i in range(4)] for turn in range(TURNS)]
    steps = [Send("plug", hold="gate0"), Entered("plug"), Send("low", priority=3), Queued(1), *urgent[0], Queued(5)]
    wakes = campaign.avoids(LEVELS)  # the next ones come as the model changes batches, if the batcher may miss that
    for turn in range(1, TURNS):
        first = Entered(f"r{4 * turn - 4}")
        newer = (*urgent[turn], first) if wakes else (first, *urgent[turn])
        steps += [Release(f"gate{turn - 1}"), *newer, Queued(5)]

    judge(drive(LEVELS, (*steps, Release(f"gate{TURNS - 1}"), Release(f"gate{TURNS}"))))


@pytest.mark.rule("DB-PRIO-010")
def test_order_without_the_cancelled(drive, judge):
    """When queued requests are cancelled, the others keep the order of their levels and of their arrival"""
    levels = 1, 2, 1, 2, 2, 3, 1, 2, 3, 2, 3, 3, 3, 1, 1, 2  # in a heap, the last one belongs above the place of r4
    line = in_line(*(Send(f"r{i}", priority=level) for i, level in enumerate(levels)))
    later = Send("later", priority=3, after_ns=400 * MS)  # far longer than it takes to hear of a cancellation

    judge(drive(LEVELS, plugged(*line, Cancel("r2"), Cancel("r4"), later)))
