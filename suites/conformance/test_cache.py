"""The response cache: what is answered without an execution."""

from collections.abc import Mapping
from typing import Any

import pytest

from batchproof.fixtures.driving.script import MS, Answered, Cancel, Entered, Queued, Release, Script, Send
from batchproof.fixtures.judging.fit import LIMITED
from batchproof.reference_batcher import BatcherConfig
from batchproof.targets.claims import contradicted, value_of

FOUR = BatcherConfig(max_batch_size=4)
CACHED = BatcherConfig(max_batch_size=4, response_cache=True)
KEPT = BatcherConfig(max_batch_size=8, response_cache=True)  # for a thousand answers
ORDERED = BatcherConfig(max_batch_size=4, response_cache=True, preserve_ordering=True)
AGAIN = Send("again", twin="r0")


def known(claims: Mapping[str, Any], rows: int = 2) -> Script:
    """An answered request, of several rows where a request may have them."""
    return Send("r0", rows=rows if value_of(claims, "rows") == "counted" else 1), Answered(("r0",))


@pytest.mark.rule("DB-CACHE-001")
def test_known_is_not_executed(drive, judge, claims):
    """A request with the inputs of an answered one gets the same outputs without an execution"""
    judge(drive(CACHED, (*known(claims), AGAIN)))


@pytest.mark.rule("DB-CACHE-002")
def test_others_are_executed(drive, judge, claims):
    """A request whose inputs differ from all answered ones is executed"""
    (r0, _), more = known(claims), (Send("other", twin="r0", nonce=1), Answered(("other",)))
    judge(drive(CACHED, (*known(claims), *more, Send("another", rows=r0.payload.rows))))

    waves = [[f"r{i}" for i in range(first, first + 32)] for first in range(0, 1024, 32)]
    judge(drive(KEPT, tuple(step for names in waves for step in (*map(Send, names), Answered(tuple(names))))))


@pytest.mark.rule("DB-CACHE-003")
def test_failure_not_remembered(drive, judge):
    """A batch that raised is not cached, and its inputs are executed again"""
    judge(drive(CACHED, (Send("bad", fail=True), Answered(("bad",)), Send("again", twin="bad"))))


@pytest.mark.rule("DB-CACHE-004")
def test_twins_are_executed(drive, judge, claims):
    """Without the response cache, every one of several equal requests is executed"""
    judge(drive(FOUR, (*known(claims), AGAIN)))


@pytest.mark.rule("DB-CACHE-005")
def test_known_does_not_wait(drive, judge, claims):
    """A request that the cache can answer is answered while every instance is busy"""
    plug = Send("plug", hold="gate"), Entered("plug")
    while_busy = AGAIN, Answered(("again",)), Send("later", after_ns=1 * MS)

    judge(drive(CACHED, (*known(claims), *plug, *while_busy, Release("gate"))))


@pytest.mark.rule("DB-CACHE-006")
def test_hit_is_not_an_inference(drive, judge, claims):
    """An answer from the cache counts as a success, but neither as an inference nor as an execution"""
    judge(drive(CACHED, (*known(claims), AGAIN), count=True))


@pytest.mark.rule("DB-CACHE-007")
def test_hit_keeps_its_turn(drive, judge, claims):
    """With preserve_ordering, requests that follow an answer from the cache are answered"""
    judge(drive(ORDERED, (*known(claims), AGAIN, Answered(("again",)), Send("later"))))


@pytest.mark.rule("DB-CACHE-008")
def test_cancelled_ends_no_twin(drive, judge, claims):
    """Cancelling a request does not end another one with the same inputs"""
    inside = Send("gone", hold="work"), Entered("gone"), Cancel("gone"), Send("other", after_ns=200 * MS), Release("work")
    judge(drive(CACHED, (*inside, Answered(("gone", "other")), Send("again", twin="gone", after_ns=200 * MS))))

    if contradicted(claims, [LIMITED]):  # nothing waits for a busy model
        return
    plug = Send("plug", hold="gate"), Entered("plug")
    twins = Send("gone"), Queued(1), Send("again", twin="gone"), Send("later", after_ns=200 * MS), Cancel("gone")

    judge(drive(CACHED, (*plug, *twins, Send("last", after_ns=200 * MS), Release("gate"))))
