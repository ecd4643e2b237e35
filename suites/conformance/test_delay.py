"""Queue delay: its floor, its ceiling, what starts it and what ends it."""

import random

import pytest

from batchproof.fixtures.driving.script import (
    HOUR,
    MS,
    Answered,
    Entered,
    Release,
    Script,
    Send,
    arrivals,
    burst,
    lone,
    trickle,
)
from batchproof.fixtures.judging.checkers.delay import waits_for_its_delay
from batchproof.reference_batcher import BatcherConfig
from batchproof.targets.claims import unmet
from batchproof.targets.witness_model import extra

DELAY = 200 * MS
WINDOW = 150 * MS
PAUSE = 1600 * MS  # a poll whose interval doubles from a millisecond has come to a second
PATIENT = BatcherConfig(max_batch_size=8, max_queue_delay_ns=2 * DELAY)
DELAYED = BatcherConfig(max_batch_size=8, max_queue_delay_ns=DELAY)
LONG = BatcherConfig(max_batch_size=8, max_queue_delay_ns=4_400 * MS)  # in 32 bits of nanoseconds it is 105 ms
AN_HOUR = BatcherConfig(max_batch_size=4, max_queue_delay_ns=HOUR)
FILLING = BatcherConfig(max_batch_size=4, max_queue_delay_ns=DELAY)
STREAK = 4  # of batches that fail
SHAPED = BatcherConfig(max_batch_size=4, max_queue_delay_ns=DELAY, inputs=extra())


@pytest.mark.rule("DB-DELAY-001")
def test_floor(drive, judge):
    """A lone request is not executed before the queue delay is over"""
    one_by_one = [(Send(f"r{i}", after_ns=37 * MS * i), Answered((f"r{i}",))) for i in range(4)]

    judge(drive(DELAYED, tuple(step for pair in one_by_one for step in pair)))
    judge(drive(LONG, lone()))


@pytest.mark.rule("DB-DELAY-002")
def test_ceiling(drive, judge, claims):
    """A lone request is not held longer than the queue delay"""
    judge(drive(DELAYED, lone()))

    if not unmet(claims, ("instances=unlimited",)):  # then no timer waits for the batch that it has sent
        judge(drive(DELAYED, (Send("plug", hold="gate"), Entered("plug"), Send("r0"), Answered(("r0",)), Release("gate"))))


@pytest.mark.rule("DB-DELAY-003")
def test_full_batch_leaves_at_once(drive, judge, claims):
    """A full batch leaves at once, even with an hour of queue delay"""
    own = waits_for_its_delay(claims)
    numbers = (4,) if own else (7, 4)  # a full batch is left, however few leave before it; and nobody comes who wakes one
    busy = burst(4, work_ns=100 * MS)  # two more full batches come meanwhile, and both leave without a timer
    late = (Send(f"r{i}", after_ns=0 if i > 4 else 20 * MS) for i in range(4, 12))

    for many in numbers:
        judge(drive(AN_HOUR, burst(many)))
    judge(drive(AN_HOUR, (*busy, *late)))


@pytest.mark.rule("DB-DELAY-004")
def test_waiting_for_an_instance_counts(drive, judge):
    """Time spent waiting for a busy instance counts towards the queue delay"""
    judge(drive(FILLING, (Send("plug", work_ns=2 * DELAY), Entered("plug"), *burst(6))))


@pytest.mark.rule("DB-DELAY-005")
def test_newcomers_do_not_rearm(drive, judge):
    """The delay counts from the oldest request, and new requests do not restart it"""
    judge(drive(DELAYED, trickle(6, every_ns=DELAY * 2 // 5)))


@pytest.mark.rule("DB-DELAY-006")
def test_leaves_as_it_is(drive, judge):
    """When the delay is over, the batch leaves with everything that is queued"""
    judge(drive(DELAYED, burst(3)))


@pytest.mark.rule("DB-DELAY-007")
def test_zero_never_waits(drive, judge):
    """With a queue delay of 0, a lone request does not wait"""
    judge(drive(BatcherConfig(max_batch_size=4), lone()))

    judge(drive(BatcherConfig(max_batch_size=4), lone()))  # also behind a batch that has just left


def pairs(seed: int, count: int) -> Script:
    """`count` pairs a0 b0, a1 b1, ... with half a window between the two, each at a random moment after the pair before."""
    draw, steps = random.Random(seed), []
    for i in range(count):
        steps += [Send(f"a{i}", after_ns=draw.randrange(WINDOW)), Send(f"b{i}", after_ns=WINDOW // 2)]
        steps.append(Answered((f"a{i}", f"b{i}")))
    return tuple(steps)


@pytest.mark.rule("DB-DELAY-008")
def test_window_begins_with_a_request(drive, judge, seed):
    """Two requests half a queue delay apart share a batch, whenever they come"""
    judge(drive(BatcherConfig(max_batch_size=8, max_queue_delay_ns=WINDOW), pairs(seed(), 12)))


@pytest.mark.rule("DB-DELAY-009")
def test_one_newcomer_does_not_rearm(drive, judge):
    """One newcomer shortly before the end of the queue delay does not restart it"""
    joins = Send("r0"), Send("r1", after_ns=2 * DELAY * 3 // 4)
    waves = [[Send(f"before{wave}-{i}") for i in range(32)] for wave in range(6)]
    before = (step for wave in waves for step in (*wave, Answered(tuple(send.name for send in wave))))

    judge(drive(PATIENT, joins))

    judge(drive(PATIENT, (*before, *joins)))


@pytest.mark.rule("DB-DELAY-010")
def test_only_the_rest(drive, judge):
    """A request that waits behind a busy model for a part of its queue delay waits only for the rest"""
    judge(drive(PATIENT, (Send("plug", work_ns=DELAY * 3 // 2), Entered("plug"), Send("r0"))))


@pytest.mark.rule("DB-DELAY-011")
def test_zero_is_zero(drive, judge):
    """With a queue delay of 0, a lone request waits no longer than requests that fill a batch"""
    names = [*((f"one{i}",) for i in range(9)), *(tuple(f"full{i}-{j}" for j in range(5)) for i in range(9))]
    groups = ((*(Send(name) for name in group), Answered(group)) for group in names)

    judge(drive(BatcherConfig(max_batch_size=5), tuple(step for group in groups for step in group), exact=True))


@pytest.mark.rule("DB-DELAY-012")
def test_company_does_not_end_it(drive, judge, seed):
    """A batch that is not full does not leave before its queue delay is over"""
    judge(drive(DELAYED, arrivals(seed(), 40, DELAY // 4, work_ns=10 * MS)))


@pytest.mark.rule("DB-DELAY-013")
def test_ceiling_after_failure(drive, judge):
    """After a failed batch, too, a lone request is not held longer than the queue delay"""
    judge(drive(DELAYED, (Send("failed", fail=True), Answered(("failed",)), Send("r0"))))

    failing = [[Send(f"failed{i or ''}" if turn == STREAK - 1 else f"f{turn}.{i}", fail=not i) for i in range(4)]
               for turn in range(STREAK)]  # fmt: skip
    many = (step for sends in failing for step in (*sends, Answered(tuple(send.name for send in sends))))
    judge(drive(FILLING, (*many, Send("r0"))))


@pytest.mark.rule("DB-DELAY-014")
def test_delay_after_full_and_slow(drive, judge):
    """After full and slow batches, too, a lone request waits for the queue delay and no longer"""
    waves = [[Send(f"many{wave}-{i}") for i in range(32)] for wave in range(17)]
    many = (step for wave in waves for step in (*wave, Answered(tuple(send.name for send in wave))))
    filling = tuple(Send(f"f{i}", after_ns=DELAY // 2 if i == 1 else 0) for i in range(4))
    slow = (Send("slow", work_ns=3 * DELAY), Answered(("slow",)))

    first = (*filling, Answered(("f0", "f1", "f2", "f3")), Send("r0"), Answered(("r0",)))
    judge(drive(FILLING, (*first, *many, *slow, Send("r1"))))


@pytest.mark.rule("DB-DELAY-015")
def test_misfit_needs_no_newcomer(drive, judge, claims):
    """A request that did not fit into a batch leaves when its own queue delay is over, although no other one comes"""
    judge(drive(FILLING, (Send("r0", rows=3), Send("r1", rows=2, after_ns=20 * MS))))
    if claims.get("shapes"):
        judge(drive(SHAPED, (Send("r0", rows=3, extra=2), Send("r1", rows=2, extra=2, after_ns=20 * MS))))


@pytest.mark.rule("DB-DELAY-016")
def test_ceiling_after_pause(drive, judge, claims):
    """After a pause, too, a lone request is not held longer than the queue delay"""
    script = (Send("first"), Answered(("first",)), Send("r0", after_ns=PAUSE))

    judge(drive(DELAYED, script))
    if claims.get("delay_anchor") == "loop-entry":  # a thread that looks now and then may end when it has found nothing
        judge(drive(LONG, script))
