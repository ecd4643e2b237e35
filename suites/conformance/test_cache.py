"""The response cache: what is answered without an execution."""

import pytest

from batchproof.fixtures.driving.script import MS, Answered, Cancel, Entered, Queued, Release, Send
from batchproof.reference_batcher import BatcherConfig

FOUR = BatcherConfig(max_batch_size=4)
CACHED = BatcherConfig(max_batch_size=4, response_cache=True)
KEPT = BatcherConfig(max_batch_size=8, response_cache=True)  # for a thousand answers
ORDERED = BatcherConfig(max_batch_size=4, response_cache=True, preserve_ordering=True)
KNOWN = Send("r0", rows=2), Answered(("r0",))
AGAIN = Send("again", twin="r0")


@pytest.mark.rule("DB-CACHE-001")
def test_known_is_not_executed(drive, judge):
    """A request with the inputs of an answered one gets the same outputs without an execution"""
    judge(drive(CACHED, (*KNOWN, AGAIN)))


@pytest.mark.rule("DB-CACHE-002")
def test_others_are_executed(drive, judge):
    """A request whose inputs differ from all answered ones is executed"""
    judge(drive(CACHED, (*KNOWN, Send("other", twin="r0", nonce=1), Answered(("other",)), Send("another", rows=2))))

    waves = [[f"r{i}" for i in range(first, first + 32)] for first in range(0, 1024, 32)]
    judge(drive(KEPT, tuple(step for names in waves for step in (*map(Send, names), Answered(tuple(names))))))


@pytest.mark.rule("DB-CACHE-003")
def test_failure_not_remembered(drive, judge):
    """A batch that raised is not cached, and its inputs are executed again"""
    judge(drive(CACHED, (Send("bad", fail=True), Answered(("bad",)), Send("again", twin="bad"))))


@pytest.mark.rule("DB-CACHE-004")
def test_twins_are_executed(drive, judge):
    """Without the response cache, every one of several equal requests is executed"""
    judge(drive(FOUR, (*KNOWN, AGAIN)))


@pytest.mark.rule("DB-CACHE-005")
def test_known_does_not_wait(drive, judge):
    """A request that the cache can answer is answered while every instance is busy"""
    plug = Send("plug", hold="gate"), Entered("plug")
    while_busy = AGAIN, Answered(("again",)), Send("later", after_ns=1 * MS)

    judge(drive(CACHED, (*KNOWN, *plug, *while_busy, Release("gate"))))


@pytest.mark.rule("DB-CACHE-006")
def test_hit_is_not_an_inference(drive, judge):
    """An answer from the cache counts as a success, but neither as an inference nor as an execution"""
    judge(drive(CACHED, (*KNOWN, AGAIN), count=True))


@pytest.mark.rule("DB-CACHE-007")
def test_hit_keeps_its_turn(drive, judge):
    """With preserve_ordering, requests that follow an answer from the cache are answered"""
    judge(drive(ORDERED, (*KNOWN, AGAIN, Answered(("again",)), Send("later"))))


@pytest.mark.rule("DB-CACHE-008")
def test_cancelled_ends_no_twin(drive, judge):
    """Cancelling a request does not end another one with the same inputs"""
    plug = Send("plug", hold="gate"), Entered("plug")
    twins = Send("gone"), Queued(1), Send("again", twin="gone"), Send("later", after_ns=200 * MS), Cancel("gone")

    judge(drive(CACHED, (*plug, *twins, Send("last", after_ns=200 * MS), Release("gate"))))
