"""Statistics: what the server counts, compared with what the witness and the client saw."""

import pytest

from batchproof.fixtures.driving.script import MS, Answered, Entered, Queued, Release, Script, Send, gated
from batchproof.reference_batcher import BatcherConfig

FOUR = BatcherConfig(max_batch_size=4)
SHORT = BatcherConfig(max_batch_size=4, queue_timeout_ns=600 * MS)
TWO_WAIT = BatcherConfig(max_batch_size=4, max_queue_size=2)
PLUG = Send("plug", hold="gate"), Entered("plug")


def mixed(*first: Send) -> Script:
    """Requests of one to three rows queue behind a plug, so that they leave in batches of several sizes."""
    return gated(*first, *(Send(f"r{i}", rows=1 + i % 3) for i in range(9)), in_order=False)


def many() -> list[Send]:
    """More batches than eight bits count."""
    return [Send(f"m{i}", rows=FOUR.max_batch_size) for i in range(260)]


def poisoned() -> Script:
    """The same requests behind some batches that raise."""
    return mixed(*(Send(f"bad{i}", fail=True) for i in range(5)), *(Send(f"ok{i}") for i in range(3)))


@pytest.mark.rule("DB-STATS-001")
def test_executions_counted(drive, judge):
    """The execution count is the number of batches that were executed"""
    judge(drive(FOUR, mixed(), count=True))
    judge(drive(FOUR, mixed(*many()), count=True))


@pytest.mark.rule("DB-STATS-002")
def test_rows_counted(drive, judge):
    """The inference count is the number of rows that were executed and answered"""
    judge(drive(FOUR, poisoned(), count=True))


@pytest.mark.rule("DB-STATS-003")
def test_answers_counted(drive, judge):
    """The success count is the number of requests that were answered"""
    judge(drive(FOUR, poisoned(), count=True))


@pytest.mark.rule("DB-STATS-004")
def test_failures_counted(drive, judge):
    """Each request of a batch that raised is counted as failed"""
    judge(drive(FOUR, poisoned(), count=True))


@pytest.mark.rule("DB-STATS-005")
def test_sizes_counted(drive, judge):
    """The executions counted by batch size are the batches that were executed"""
    judge(drive(FOUR, mixed(), count=True))


@pytest.mark.rule("DB-STATS-006")
def test_expired_counted(drive, judge):
    """An expired request is counted as a failure, with its reason"""
    judge(drive(SHORT, (*PLUG, Send("r0"), Queued(1), Answered(("r0",)), Release("gate"), Send("later")), count=True))


@pytest.mark.rule("DB-STATS-007")
def test_refused_not_counted(drive, judge):
    """A refused request is counted neither as an inference nor as a success"""
    waiting = Send("r0"), Queued(1), Send("r1", rows=2), Queued(2)
    refused = Send("full"), Answered(("full",)), Send("big", rows=5), Answered(("big",))

    judge(drive(TWO_WAIT, (*PLUG, *waiting, *refused, Release("gate")), count=True))


@pytest.mark.rule("DB-STATS-008")
def test_waiting_counted(drive, judge):
    """The server reports the exact number of waiting requests"""
    waiting = [(Send(f"r{i}", rows=1 + i % 2), Queued(i + 1)) for i in range(5)]
    steps = tuple(step for pair in waiting for step in pair)
    names = tuple(f"r{i}" for i in range(5))

    judge(drive(FOUR, (*PLUG, Queued(0), *steps, Release("gate"), Answered(names), Queued(0))))
