"""Every request has an end, whatever happens around it."""

import pytest

from batchproof.fixtures.driving.script import MS, Answered, Close, Entered, Queued, Release, Send, in_line
from batchproof.fixtures.driving.sequence_features import STATE
from batchproof.suites.sequence.steps import behind_plug, claimed, direct, oldest, plug, roomy, step, turn, turns, whole
from batchproof.targets.claims import unmet

FOUR, OLDEST = direct(), oldest(candidates=4)
ONE, ONE_CANDIDATE = direct(size=1), oldest(size=1, candidates=1)
THOUSAND = 1024  # more than a table of the usual sizes has
TWO, TWO_CANDIDATES = direct(size=2), oldest(size=2, candidates=2)
AWAKE_NS = 15_000 * MS  # longer than any rule waits, and a server that waits for it is free again soon
CLOSED = (
    direct(size=2, max_sequence_idle_ns=AWAKE_NS), oldest(size=2, candidates=2, max_sequence_idle_ns=AWAKE_NS)
)  # fmt: skip
STEPS, EVERY = 1100, 50  # beyond 128, 256, 1000 and 1024; a short sequence comes and goes with every so many of them
PAIRS, CANDIDATES = direct(size=2, instances=2), oldest(size=2, candidates=2, instances=2)
DEEP, MANY, WIDE, EDGE = 100, 300, 40, 8  # beyond what fits into a mailbox, a table or a word of bits of the usual sizes
CROWD = direct(size=MANY), oldest(size=MANY, candidates=MANY)
FORTY = direct(size=WIDE), oldest(size=WIDE, candidates=WIDE)
FORTY_STATES = direct(size=WIDE, state=STATE), oldest(size=WIDE, candidates=WIDE, state=STATE)
THREE_PAIRS = direct(size=2, instances=3), oldest(size=2, candidates=2, instances=3)


@pytest.mark.rule("SB-LIVE-001")
def test_failures(claims, drive, judge):
    """A run that raises fails its own requests, and their sequences go on"""
    for config in claimed(claims, FOUR, OLDEST):
        failing = behind_plug(step(5, 1, fail=True), step(6, 1), step(5, 2))
        again = [one for number in (3, 4, 5) for one in turn([5], number, fail=True)]
        others = (*turn([7], 1), *turn([6, 7], 2, last=2))
        judge(drive(config, (*turn([5, 6, 7], 0), *failing, *others, *again, *turn([5], 6, last=6))))


@pytest.mark.rule("SB-LIVE-002")
def test_closing(claims, drive, judge):
    """Closing the model answers or refuses every request of open sequences and of those that wait for a slot"""
    for config in claimed(claims, *CLOSED):
        names = ("s5.0", "s5.1", "s6.0", "s7.0", "s8.0", "again")
        again = Send("again", sequence=5, start=True, end=True)  # it waits for the one before it, and not for a slot only
        queued = in_line(step(5, 0), step(5, 1), step(6, 0), step(7, 0), step(8, 0, last=0), again)
        judge(drive(config, (*plug(), *queued, Close(), Release("gate"), Answered(("plug", *names)))))
        judge(drive(config, (*turn([5, 6], 0), *in_line(step(7, 0), step(8, 0, last=0)), Close(), Answered(names[3:5]))))


@pytest.mark.rule("SB-LIVE-003")
def test_many_short_ones(claims, drive, judge):
    """Many sequences of one request are all served, in few slots"""
    for config in claimed(claims, TWO, TWO_CANDIDATES):
        sends = tuple(send for one in range(1, 31) for send in whole(one))
        judge(drive(config, (*sends, Answered(tuple(send.name for send in sends)))))


@pytest.mark.rule("SB-LIVE-004")
def test_all_instances(claims, drive, judge):
    """Open sequences use all instances"""
    for config in claimed(claims, PAIRS, CANDIDATES):
        judge(drive(config, turns([5, 6, 7, 8], 2)))


@pytest.mark.rule("SB-LIVE-005")
def test_order_wherever_they_wait(claims, drive, judge):
    """The requests of a sequence run in the order in which they were sent, wherever they wait"""
    own = in_line(*whole(5, 6)[1:])
    for config in claimed(claims, ONE, ONE_CANDIDATE):
        held = (step(5, 0, hold="gate"), Entered("s5.0"), *own, Release("gate"), Answered(names(5, 6)))
        judge(drive(config, held))
        judge(drive(config, (*turn([6], 0), *in_line(*whole(5, 6)), *turn([6], 1, last=1), Answered(names(5, 6)))))


@pytest.mark.rule("SB-LIVE-006")
def test_among_a_thousand(claims, drive, judge):
    """A sequence stays open while a thousand others come and go"""
    others = tuple(send for one in range(1001, 1001 + THOUSAND) for send in whole(one))
    at_once = [others[place : place + 50] for place in range(0, THOUSAND, 50)]
    passing = [one for sends in at_once for one in (*sends, Answered(tuple(send.name for send in sends)))]
    for config in claimed(claims, TWO, TWO_CANDIDATES):
        judge(drive(config, (*turn([5], 0), *passing, *turn([5], 1, last=1))))


@pytest.mark.rule("SB-LIVE-007")
def test_a_long_one(claims, drive, judge):
    """The thousandth step of a sequence finds its state and its place as the first ones do"""
    kept = () if unmet(claims, ("sequence_state", "sequences=direct|both")) else (direct(size=2, state=STATE),)
    for config in (*claimed(claims, TWO, TWO_CANDIDATES), *kept):
        script = []
        for number in range(STEPS):
            short = whole(6 + number // EVERY) if number % EVERY == 0 else ()
            sends = (step(5, number, last=STEPS - 1), *short)
            script += [*sends, Answered(tuple(send.name for send in sends))]
        judge(drive(config, tuple(script)))


@pytest.mark.rule("SB-LIVE-008")
def test_a_long_queue(claims, drive, judge):
    """A long queue of a sequence runs one request at a time, in the order in which it was sent"""
    queued = [one for both in zip(whole(5, DEEP), whole(6, DEEP), strict=True) for one in both]
    for config in claimed(claims, FOUR, OLDEST):
        judge(drive(config, behind_plug(*queued)))


@pytest.mark.rule("SB-LIVE-009")
def test_hundreds_at_once(claims, drive, judge):
    """Hundreds of sequences at once, open or waiting for a slot, are all served, each with its own state"""
    pairs = [whole(one, 2) for one in range(1001, 1001 + MANY)]
    first, last = zip(*pairs, strict=True)
    queued = (*first, Queued(MANY), *last)
    for config in claimed(claims, *CROWD):
        judge(drive(config, turns(range(1001, 1001 + MANY), 2)))
    for config in claimed(claims, FOUR, OLDEST):
        judge(drive(config, (*plug(), *queued, Release("gate"), Answered(tuple(one.name for one in (*first, *last))))))


@pytest.mark.rule("SB-LIVE-010")
def test_forty_slots(claims, drive, judge):
    """Forty slots hold forty sequences at once, each in a place and with a state of its own"""
    ids = range(1, 1 + WIDE)
    held = (step(1, 1, hold="gate"), Entered("s1.1"), *in_line(*(step(one, 1) for one in ids[1:])), Release("gate"))
    low, middle, high = ids[:EDGE], ids[EDGE:-EDGE], ids[-EDGE:]  # those that a short word of bits takes for one another
    then, last = range(100, 100 + 2 * EDGE), range(200, 200 + 2 * EDGE)  # they get the slots of those that end
    again = (*turn(high, 2, last=2), *turn(low, 2, last=2), *turn(then, 0))
    again += (*turn(then[:EDGE], 1, last=1), *turn(then[EDGE:], 1, last=1), *turn(last, 0))
    over = (*turn(middle, 2, last=2), *turn(last, 1, last=1))
    script = (*turn(ids, 0), *held, Answered(tuple(f"s{one}.1" for one in ids)), *again, *over)
    kept = () if unmet(claims, ("sequence_state",)) else FORTY_STATES
    for config in claimed(claims, *FORTY, *kept):
        judge(drive(config, script))


@pytest.mark.rule("SB-LIVE-011")
def test_three_instances(claims, drive, judge):
    """With three instances, a sequence stays in its own although another one is free"""
    ids = range(5, 11)
    for config in roomy(claims, *THREE_PAIRS):
        script = [*turn(ids, 0)]
        for number, busy in enumerate(ids, 1):
            held = step(busy, number, work_ns=80 * MS)
            others = tuple(step(one, number) for one in ids if one != busy)
            script += [held, Entered(held.name), *others, Answered(tuple(one.name for one in (held, *others)))]
        judge(drive(config, (*script, *turn(ids, 7, last=7))))


def names(sequence, count):
    """Return the names of all requests of a sequence."""
    return tuple(send.name for send in whole(sequence, count))
