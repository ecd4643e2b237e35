"""Preferred batch sizes: which size leaves, and when."""

import pytest

from batchproof.fixtures.driving.script import HOUR, MS, Answered, Queued, Script, Send, gated
from batchproof.reference_batcher import BatcherConfig

TICK = 1 * MS  # a request that is sent this much later shows which of the two an answer waited for
TWO_SIX = BatcherConfig(preferred_batch_size=(2, 6), max_queue_delay_ns=HOUR)
TWO_SIX_WITH_POLICY = BatcherConfig(preferred_batch_size=(2, 6), max_queue_delay_ns=HOUR, max_queue_size=1000)
SOON = BatcherConfig(preferred_batch_size=(2, 6), max_queue_delay_ns=200 * MS)
SOON_WITH_POLICY = BatcherConfig(preferred_batch_size=(2, 6), max_queue_delay_ns=200 * MS, max_queue_size=1000)
FOUR = BatcherConfig(preferred_batch_size=(4,), max_queue_delay_ns=HOUR)
FOUR_WITH_POLICY = BatcherConfig(preferred_batch_size=(4,), max_queue_delay_ns=HOUR, max_queue_size=1000)
PLAIN = BatcherConfig(preferred_batch_size=(2, 6))
UNDELAYED = BatcherConfig(preferred_batch_size=(4, 6), max_queue_size=1000)


def backlog(config: BatcherConfig, *rows: int, first: int, pause_ns: int = 0) -> Script:
    """Requests behind a plug that does not wait; when the `first` of them are answered, `last` sends the rest on.

    It has the largest preferred size: what waits would be taken beyond it, and so leaves at once, and so does `last`.
    pause_ns: before the last of the requests, for what the batcher does while its instance is busy.
    """
    full = max(config.preferred_batch_size)
    pauses = [0] * (len(rows) - 1) + [pause_ns]
    sends = (Send(f"r{i}", rows=count, after_ns=pause) for i, (count, pause) in enumerate(zip(rows, pauses, strict=True)))
    leaving = Answered(tuple(f"r{i}" for i in range(first)))
    return (*gated(*sends, plug=Send("plug", rows=full, hold="gate")), leaving, Send("last", rows=full))


@pytest.mark.rule("DB-PREF-001")
def test_preferred_leaves_at_once(drive, judge):
    """A batch of a preferred size leaves at once, even with an hour of queue delay"""
    two, six = (Send("two", rows=2), Answered(("two",))), (Send("six", rows=6, after_ns=TICK), Answered(("six",)))

    judge(drive(TWO_SIX, (*two, *six, Send("r0", after_ns=TICK), Send("r1"))))


@pytest.mark.rule("DB-PREF-002")
def test_largest_leaves(drive, judge):
    """The largest preferred size that the queue can fill leaves first"""
    judge(drive(TWO_SIX_WITH_POLICY, backlog(TWO_SIX_WITH_POLICY, *[1] * 7, first=6)))

    judge(drive(TWO_SIX_WITH_POLICY, backlog(TWO_SIX_WITH_POLICY, *[1] * 3, first=2)))


@pytest.mark.rule("DB-PREF-003")
def test_preferred_is_soft(drive, judge):
    """When the queue delay is over, a batch leaves even if its size is not preferred"""
    judge(drive(SOON, (Send("r0", rows=1), Send("r1", rows=3))))


@pytest.mark.rule("DB-PREF-004")
def test_leaves_before_it_is_beyond(drive, judge):
    """A batch that the next request would take beyond the largest preferred size leaves at once as it is"""
    r0, r1 = (Send("r0", rows=3), Queued(1)), (Send("r1", rows=4), Answered(("r0",)))

    judge(drive(TWO_SIX, (*r0, *r1, Send("last", rows=2, after_ns=TICK))))


@pytest.mark.rule("DB-PREF-005")
def test_does_not_grow(drive, judge):
    """Behind a busy instance, a batch does not grow beyond its preferred size before the queue delay is over"""
    judge(drive(FOUR, backlog(FOUR, *[1] * 6, first=4, pause_ns=1000 * MS)))


@pytest.mark.rule("DB-PREF-006")
def test_does_not_grow_with_policy(drive, judge):
    """With a queue policy, too, a batch behind a busy instance does not grow beyond its preferred size"""
    judge(drive(FOUR_WITH_POLICY, backlog(FOUR_WITH_POLICY, *[1] * 6, first=4, pause_ns=1000 * MS)))


@pytest.mark.rule("DB-PREF-007")
def test_late_takes_all(drive, judge):
    """When the queue delay is over, all that fits into max_batch_size leaves, whatever size is preferred"""
    for rows in ((3, 4, 1), (1,) * 8):
        *queued, latest = (Send(f"r{i}", rows=count) for i, count in enumerate(rows))
        late = Send(latest.name, rows=latest.payload.rows, after_ns=300 * MS)

        judge(drive(SOON_WITH_POLICY, gated(*queued, late, plug=Send("plug", rows=6, hold="gate"))))


@pytest.mark.rule("DB-PREF-008")
def test_leaves_without_a_delay(drive, judge):
    """Without a queue delay, a backlog that reaches no preferred size leaves as one batch"""
    judge(drive(UNDELAYED, backlog(UNDELAYED, *[1] * 3, first=3)))


@pytest.mark.rule("DB-PREF-009")
def test_largest_leaves_without_a_delay(drive, judge):
    """Without a queue delay, the largest preferred size that a backlog allows leaves first"""
    for requests in (4, 5, 7):
        judge(drive(UNDELAYED, backlog(UNDELAYED, *[1] * requests, first=requests)))


@pytest.mark.rule("DB-PREF-010")
def test_rows_are_counted(drive, judge):
    """Preferred sizes count rows, not requests"""
    judge(drive(TWO_SIX_WITH_POLICY, backlog(TWO_SIX_WITH_POLICY, 2, 2, 2, first=3)))


@pytest.mark.rule("DB-PREF-011")
def test_others_wait(drive, judge):
    """A lone request whose size is not preferred is not executed before the queue delay is over"""
    one_by_one = [(Send(f"r{i}", rows=rows), Answered((f"r{i}",))) for i, rows in enumerate((1, 3, 5))]

    judge(drive(SOON, tuple(step for pair in one_by_one for step in pair)))


@pytest.mark.rule("DB-PREF-012")
def test_larger_leaves_at_once(drive, judge):
    """A request that exceeds the largest preferred size leaves at once, even with an hour of queue delay"""
    seven = Send("r0", rows=7), Answered(("r0",))

    judge(drive(TWO_SIX, (*seven, Send("r1", rows=3, after_ns=TICK), Queued(1), Send("r2", rows=7))))


@pytest.mark.rule("DB-PREF-013")
def test_largest_leaves_without_a_policy(drive, judge):
    """Without a queue policy, too, the largest preferred size that a backlog allows leaves first"""
    judge(drive(PLAIN, backlog(PLAIN, *[1] * 7, first=7)))
