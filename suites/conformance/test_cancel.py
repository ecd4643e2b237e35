"""Cancellation: what happens to a request that its sender cancels."""

from dataclasses import replace

import pytest

from batchproof.fixtures.driving.script import MS, Answered, Cancel, Entered, Queued, Release, Script, Send, in_line, plugged
from batchproof.fixtures.judging.fit import AMPLE
from batchproof.reference_batcher import BatcherConfig
from batchproof.targets.claims import value_of

FOUR = BatcherConfig(max_batch_size=4)
APART = BatcherConfig(max_batch_size=6)  # no other rule meets what hundreds of cancellations leave behind
LEFT = BatcherConfig(max_batch_size=7)  # nor what is in the model when nobody wants it any more
FOUR_WITH_POLICY = BatcherConfig(max_batch_size=4, max_queue_size=AMPLE)
LIMITED = BatcherConfig(max_batch_size=4, max_queue_size=3)
DELAYED = BatcherConfig(max_batch_size=4, max_queue_delay_ns=100 * MS)
PATIENT = BatcherConfig(max_batch_size=4, max_queue_delay_ns=400 * MS)
OPEN = BatcherConfig(max_batch_size=4, max_queue_delay_ns=800 * MS)
MANY = 100  # cancelled requests, one behind another
SEVERAL = 3  # rows, each of which has to go, also where each waits by itself
HEARD = 400 * MS  # no server reports that it has heard of a cancellation, and this is far longer than it takes


def taken_back(count: int, *cancelled: int, rows: int = 1) -> Script:
    """`count` requests queue behind a plug and some are cancelled; `after` is sent once the server has noticed that.

    rows: of the last one that is cancelled.
    """
    line = in_line(*(Send(f"r{i}", rows=rows if i == cancelled[-1] else 1) for i in range(count)))
    return plugged(*line, *(Cancel(f"r{i}") for i in cancelled), Send("after", after_ns=HEARD))


@pytest.mark.rule("DB-CANCEL-001")
def test_never_executed(drive, judge, claims):
    """A request that is cancelled in the queue is never executed"""
    judge(drive(FOUR, taken_back(12, 1, 4, 11, rows=SEVERAL if value_of(claims, "rows") else 1)))


@pytest.mark.rule("DB-CANCEL-002")
def test_never_executed_with_policy(drive, judge):
    """With a queue policy, a request that is cancelled in the queue is never executed"""
    judge(drive(FOUR_WITH_POLICY, taken_back(12, 1, 5, 9)))


@pytest.mark.rule("DB-CANCEL-003")
def test_others_close_up(drive, judge):
    """Other requests keep their order and fill the place that a cancelled request leaves in its batch"""
    found = judge(drive(FOUR, taken_back(9, 1, 6), policy=True))
    if found.passed:
        judge(drive(FOUR, taken_back(MANY + 5, *range(1, MANY + 1)), policy=True))  # a wide gap behind the head


@pytest.mark.rule("DB-CANCEL-004")
def test_executing_harms_no_other(drive, judge):
    """Cancelling a request that is being executed does not affect the others in its batch"""
    line = in_line(Send("r0", hold="work"), *(Send(f"r{i}") for i in range(1, 4)))
    after = Send("after", after_ns=HEARD), Release("work")

    for gone in ("r1", "r0"):  # the head may have led the others to the model
        judge(drive(FOUR, (*plugged(*line), Entered("r0"), Cancel(gone), *after), gather=True))


@pytest.mark.rule("DB-CANCEL-005")
def test_place_is_free(drive, judge):
    """The place of a cancelled request in a limited queue is free again"""
    line = in_line(*(Send(f"r{i}") for i in range(3)))

    judge(drive(LIMITED, plugged(*line, Cancel("r1"), Send("newcomer", after_ns=HEARD), Send("last", after_ns=HEARD))))

    gone = [Cancel(f"r{i}") for i in range(3)]
    newcomers = Send("newcomer0", after_ns=HEARD), Send("newcomer1"), Send("newcomer2")
    judge(drive(LIMITED, plugged(*line, *gone, *newcomers, Send("last", after_ns=HEARD))))


@pytest.mark.rule("DB-CANCEL-006")
def test_sender_hears_it(drive, judge):
    """The sender of a cancelled request is told that it was cancelled"""
    judge(drive(FOUR, taken_back(6, 1, 4), policy=True))


@pytest.mark.rule("DB-CANCEL-007")
def test_counted_as_cancelled(drive, judge):
    """The server counts a cancelled request as cancelled and not as a success"""
    judge(drive(FOUR, taken_back(6, 1, 4), count=True, policy=True))


@pytest.mark.rule("DB-CANCEL-008")
def test_too_late_changes_nothing(drive, judge):
    """Cancelling a request that is already answered changes nothing"""
    judge(drive(FOUR, (Send("r0"), Answered(("r0",)), Cancel("r0"), Send("r1", after_ns=HEARD)), count=True))


@pytest.mark.rule("DB-CANCEL-009")
def test_next_is_not_late(drive, judge, claims):
    """A request that is cancelled during its queue delay does not make the next one late"""
    judge(drive(DELAYED, (Send("gone"), Queued(1), Cancel("gone"), Send("r0", after_ns=150 * MS))))

    filling = replace(PATIENT, max_batch_size=max(5, value_of(claims, "smallest_batch")))
    gone = [f"gone{i or ''}" for i in range(filling.max_batch_size - 1)]  # with r0 they would fill a batch
    judge(drive(filling, (*map(Send, gone), Queued(len(gone)), *map(Cancel, gone), Send("r0", after_ns=450 * MS))))


@pytest.mark.rule("DB-CANCEL-010")
def test_hundreds_leave_nothing(drive, judge):
    """After hundreds of cancelled requests, every request is still served"""
    waves = [[f"c{wave}-{i}" for i in range(64)] for wave in range(5)]
    sends = [[Send(name, after_ns=0 if at else HEARD) for at, name in enumerate(wave)] for wave in waves]
    gone = [[Cancel(name) for name in wave] for wave in waves]
    rest = [step for later, before in zip(sends[1:], gone, strict=False) for step in (*later, *before)]
    left = Send("r0", after_ns=HEARD), *(Send(f"r{i}") for i in range(1, 8))

    judge(drive(APART, (*plugged(*sends[0], Queued(64), *rest, *gone[-1]), *left)))


@pytest.mark.rule("DB-CANCEL-011")
def test_next_has_its_own_delay(drive, judge):
    """When the oldest request is cancelled during its queue delay, the next one leaves when its own delay is over"""
    waiting = Send("gone"), Send("r0", after_ns=20 * MS), Send("r1", after_ns=180 * MS), Queued(3)

    judge(drive(PATIENT, (*waiting, Cancel("gone"))))

    judge(drive(OPEN, (Send("gone"), Queued(1), Cancel("gone"), Send("r0", after_ns=HEARD))))  # gone's own delay ends first


@pytest.mark.rule("DB-CANCEL-012")
def test_next_gets_its_own(drive, judge):
    """When all requests of a batch are cancelled in the model, the next ones get their own results"""
    gone = Send("gone", hold="work"), Entered("gone"), Cancel("gone")

    judge(drive(LEFT, (*gone, Send("r0", after_ns=HEARD), Send("r1", after_ns=50 * MS), Release("work"))))


@pytest.mark.rule("DB-CANCEL-013")
def test_leaves_an_open_batch(drive, judge):
    """A request that is cancelled while a batch waits for its queue delay is not executed, and harms no other"""
    waiting = Send("r0"), Send("gone"), Send("r1"), Queued(3)

    judge(drive(OPEN, (*waiting, Cancel("gone"), Answered(("r0", "r1")), Send("r2"))))
