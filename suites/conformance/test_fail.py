"""Failure: a batch that raises."""

import pytest

from batchproof.fixtures.driving.script import Answered, Entered, Queued, Release, Script, Send, gated
from batchproof.reference_batcher import BatcherConfig
from batchproof.targets.claims import value_of

FOUR = BatcherConfig(max_batch_size=4)
SIXTEEN = BatcherConfig(max_batch_size=16)


def poisoned(size: int = 4) -> Script:
    """A full batch of this size with two requests that make the model raise, and two batches behind it.

    There are two because the first may have to leave alone, if batches do not grow while the model is busy. They have a
    neighbour between them, so that whoever tries each again cannot confuse their places.
    """
    bad = (Send(f"bad{i}", fail=i in (0, 2)) for i in range(size))
    return gated(*bad, *(Send(f"r{i}") for i in range(2 * size)))


@pytest.mark.rule("DB-FAIL-001")
def test_members_fail(drive, judge):
    """A batch that raises fails every one of its members"""
    judge(drive(FOUR, poisoned(), gather=True))

    judge(drive(SIXTEEN, poisoned(16), gather=True))


@pytest.mark.rule("DB-FAIL-002")
def test_others_served(drive, judge, claims):
    """A batch that raises fails no other request, and the next batch is served"""
    smallest = BatcherConfig(max_batch_size=value_of(claims, "smallest_batch"))
    one_by_one = [Send(name, fail=name.startswith("bad")) for name in ("bad0", "r0", "bad1", "bad2", "r1", "r2")]

    judge(drive(FOUR, poisoned(), gather=True))

    failing = Send("plug", hold="gate", fail=True), Entered("plug")
    judge(drive(FOUR, (*failing, Send("r0"), Queued(1), Release("gate")), gather=True))  # nothing comes after r0

    judge(drive(smallest, tuple(step for send in one_by_one for step in (send, Answered((send.name,))))))


@pytest.mark.rule("DB-FAIL-003")
def test_part_fails(drive, judge):
    """If a batch with a part of a request fails, so does the request"""
    poison, large = Send("poison", rows=2, fail=True), Send("large", rows=3)
    judge(drive(FOUR, gated(poison, large, Send("after"))))

    judge(drive(FOUR, gated(Send("before", rows=2), large, poison, Send("after"))))
