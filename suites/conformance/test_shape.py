"""Shapes: which requests may share a batch."""

import random
from dataclasses import replace

import pytest

from batchproof.fixtures.driving.mixed import several_instances
from batchproof.fixtures.driving.script import (
    HOUR,
    MS,
    Answered,
    Entered,
    Malformed,
    Queued,
    Script,
    Send,
    burst,
    gated,
    names_of,
)  # fmt: skip
from batchproof.reference_batcher import BatcherConfig
from batchproof.targets.witness_model import extra

DELAY = 200 * MS
BUSY, BURSTS = 48, 24
FAR_APART = (9, 25, 57, 121, 249, 505)  # neighbours that a number of few bits does not tell apart
AT_ONCE = BatcherConfig(max_batch_size=4, inputs=extra())
DELAYED = BatcherConfig(max_batch_size=4, max_queue_delay_ns=DELAY, inputs=extra())
IN_PAIRS = BatcherConfig(
    max_batch_size=8, preferred_batch_size=(2, 6), max_queue_delay_ns=20 * MS, queue_timeout_ns=HOUR, inputs=extra()
)
PATIENT = BatcherConfig(max_batch_size=4, max_queue_delay_ns=HOUR, inputs=extra())
RAGGED = BatcherConfig(max_batch_size=4, max_queue_delay_ns=HOUR, inputs=extra(ragged=True))
OPTIONAL = BatcherConfig(max_batch_size=4, max_queue_delay_ns=HOUR, inputs=extra(optional=True))


def of_one_shape_each(*columns: int, gap_ns: int = 0) -> tuple[Send, ...]:
    """Requests r0, r1, ... whose second tensors have these columns."""
    return tuple(Send(f"r{i}", after_ns=gap_ns if i else 0, extra=count) for i, count in enumerate(columns))


def two_shapes() -> Script:
    """Two requests of one shape, then four of another: the first of the four sends the two, the last fills the batch."""
    first = Send("a0", extra=1), Queued(1), Send("a1", extra=1), Queued(2), Send("b0", extra=2), Answered(("a0", "a1"))
    return (*first, *(Send(f"b{i}", extra=2) for i in (1, 2, 3)))


@pytest.mark.rule("DB-SHAPE-001")
def test_never_share(drive, judge, seed):
    """Requests of different shapes never share a batch"""
    mixed = of_one_shape_each(1, 2, 2, 1, 3, 3, 3, 1, 2, 3, 4, *FAR_APART)
    judge(drive(DELAYED, gated(*mixed, plug=Send("plug", extra=1, hold="gate"), in_order=False)))

    busy = (Send(f"c{i}", extra=1) for i in range(BUSY))  # a rare shape among them is not passed over: DB-LAW-009
    rare = Send("a0", extra=1), Send("a1", extra=1), Send("b0", extra=2), *busy
    judge(drive(AT_ONCE, gated(*rare, plug=Send("plug", extra=1, hold="gate"))))

    draw = random.Random(seed())
    judge(drive(DELAYED, of_one_shape_each(*(draw.randint(1, 3) for _ in range(40)), gap_ns=1 * MS)))


@pytest.mark.rule("DB-SHAPE-002")
def test_neighbours_share(drive, judge):
    """Neighbours in the queue that have the same shape share a batch"""
    judge(drive(PATIENT, two_shapes()))


@pytest.mark.rule("DB-SHAPE-003")
def test_misfit_sends(drive, judge, claims):
    """A request of another shape sends the batch before it at once, even with an hour of queue delay"""
    judge(drive(PATIENT, two_shapes()))
    if claims.get("preferred_sizes"):  # which the two do not meet
        judge(drive(replace(PATIENT, preferred_batch_size=(4,)), two_shapes()))


@pytest.mark.rule("DB-SHAPE-004")
def test_misfit_not_skipped(drive, judge):
    """A request whose shape does not fit is not skipped in favour of one behind it"""
    queued = Send("a0", extra=1), Send("a1", extra=1), Send("b0", extra=2), Send("a2", extra=1), Send("a3", rows=3, extra=1)

    judge(drive(PATIENT, gated(*queued, plug=Send("plug", rows=4, extra=1, hold="gate"))))


@pytest.mark.rule("DB-SHAPE-005")
def test_own_delay(drive, judge):
    """The delay of a request of another shape counts from when that request was queued"""
    judge(drive(DELAYED, (Send("a0", extra=1), Send("b0", after_ns=DELAY * 3 // 5, extra=2))))

    plug = Send("plug", work_ns=2 * DELAY, extra=1), Entered("plug")
    judge(drive(DELAYED, (*plug, Send("a0", extra=1), Queued(1), Send("b0", extra=2))))

    waves = [[Send(f"a{wave}.{i}", extra=1, after_ns=0 if i else DELAY // 4) for i in range(4)] for wave in range(8)]
    judge(drive(DELAYED, (Send("a0", extra=1), Send("b0", extra=2), *(send for wave in waves for send in wave))))


@pytest.mark.rule("DB-SHAPE-006")
def test_ragged_share(drive, judge):
    """With allow_ragged_batch, requests of different shapes share a batch"""
    judge(drive(RAGGED, of_one_shape_each(1, 2, 3, 1)))


@pytest.mark.rule("DB-SHAPE-007")
def test_own_ragged_tensor(drive, judge):
    """In a batch of different shapes, each request's own tensor reaches the model"""
    judge(drive(RAGGED, of_one_shape_each(1, 2, 3, 1)))


@pytest.mark.rule("DB-SHAPE-008")
def test_own_tensor(drive, judge):
    """In a batch of one shape, each request's own second tensor reaches the model"""
    judge(drive(PATIENT, burst(4, extra=2)))


@pytest.mark.rule("DB-SHAPE-009")
def test_optional_left_out(drive, judge):
    """A request that leaves out an optional input is served"""
    judge(drive(OPTIONAL, (Send("r0", rows=4), Answered(("r0",)), Send("r1", rows=4, extra=1))))


@pytest.mark.rule("DB-SHAPE-010")
def test_optional_apart(drive, judge):
    """Requests with an optional input share batches with each other, and not with requests that leave it out"""
    alike = Send("w0", extra=1), Queued(1), Send("w1", extra=1), Queued(2), Send("o0"), Answered(("w0", "w1"))
    without = Send("o1"), Queued(2), Send("w2", extra=1), Answered(("o0", "o1"))
    in_turn = Send("o2"), Answered(("w2",)), Send("w3", extra=1), Answered(("o2",)), Send("w4", rows=3, extra=1)

    judge(drive(OPTIONAL, (*alike, *without, *in_turn)))


@pytest.mark.rule("DB-SHAPE-011")
def test_missing_refused(drive, judge):
    """A request that lacks a required input is refused as invalid and never executed"""
    told = Malformed("strange")  # a stack that refuses nothing as malformed was not told which inputs its model needs
    judge(drive(PATIENT, (told, Send("bare", rows=4), Send("whole", rows=4, extra=1))))


@pytest.mark.rule("DB-SHAPE-012")
def test_ragged_rows_counted(drive, judge):
    """max_batch_size also counts rows in a batch of different shapes"""
    first = Send("r0", rows=3, extra=1), Queued(1), Send("r1", rows=2, extra=2), Answered(("r0",))

    judge(drive(RAGGED, (*first, Send("r2", rows=2, extra=3), Answered(("r1",)), Send("r3", rows=4, extra=1))))


@pytest.mark.rule("DB-SHAPE-013")
def test_never_share_in_bursts(claims, drive, judge):
    """In bursts with preferred sizes and a queue timeout, requests of different shapes never share a batch"""
    config = replace(IN_PAIRS, instances=4 if several_instances(claims) else 1)
    columns = (1, 1, 1, 2, 2, 2) * 3
    bursts = [[Send(f"r{at}.{i}", extra=count) for i, count in enumerate(columns)] for at in range(BURSTS)]

    judge(drive(config, tuple(step for sends in bursts for step in (*sends, Answered(names_of(sends))))))
