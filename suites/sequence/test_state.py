"""Implicit state: tensors that the batcher keeps for each sequence between its requests."""

import pytest

from batchproof.fixtures.driving.script import HOUR, MS, Answered, Cancel, Entered, Queued, Release, Send
from batchproof.reference_batcher import StateSpec
from batchproof.suites.sequence.steps import behind_plug, claimed, direct, groups, oldest, roomy, step, turn, turns
from batchproof.targets.claims import unmet


def kept(**asked):
    """Return the state of the witness: one number."""
    return (StateSpec("STATE", "STATE_AFTER", "TYPE_INT64", (1,), **{"initial": 0, **asked}),)


def pair(data_type="TYPE_INT64", dims=(1,)):
    """Return two states of the witness, which begin with different numbers, the second one of this type and shape."""
    return (*kept(initial=3), StateSpec("SECOND", "SECOND_AFTER", data_type, dims, initial=8))


def both(size, *, instances=1, idle_ns=HOUR, state=(), **asked):
    """Return a model with this state under each strategy, with as many candidates as slots."""
    more = {"instances": instances, "max_sequence_idle_ns": idle_ns, "state": state or kept(**asked)}
    return direct(size, **more), oldest(size, size, **more)


def side_by_side():
    """Return three sequences that share batches, of which not all have a request in every batch."""
    together = behind_plug(*(step(one, 0) for one in (5, 6, 7)))
    return (*together, *turn([7], 1), *turn([6], 1), *turn([7, 5], 2), *turn([5, 6, 7], 3, last=3))


def put_elsewhere():
    """A run of 5 fails, and five others come between its requests; it ends, and they go on."""
    others = range(6, 11)
    failed = step(5, 1, fail=True), Answered(("s5.1",))
    between = [one for number in range(3) for other in others for one in turn([other], number, last=2)]
    third = len(between) // 3
    return (*turn([5], 0), *failed, *between[:third], *turn([5], 2), *between[third:-third], *turn([5], 3, last=3),
            *between[-third:])  # fmt: skip


def taken_back():
    """Sequence 5 is over with a request that is cancelled; 6 waits for its slot, and then a sequence has the ID 5 again."""
    held = (step(5, 1, hold="gate"), Entered("s5.1"), step(5, 2), Queued(1), step(6, 0), Queued(2), Cancel("s5.2"))
    after = (Answered(("s5.2",)), Release("gate"), Answered(("s6.0",)))
    return (*turn([5], 0), *held, *after, *turn([6], 1, last=1), *AGAIN)


ONE, SEVEN, FOUR, PAIRS = both(1), both(1, initial=7), both(4), both(1, instances=2)
OVER, IDLE = both(2, one_buffer=True), both(1, idle_ns=150 * MS)
AGAIN = (Send("again", sequence=5, start=True, end=True), Answered(("again",)))
FLAT = "TYPE_INT32", (3,)  # of 12 bytes, and the first one of 8
PAIR, ODD_PAIR = (both(4, state=pair(*second)) for second in ((), FLAT))
ONE_PAIR, IDLE_PAIR = both(1, state=pair(*FLAT)), both(1, idle_ns=150 * MS, state=pair(*FLAT))
CANDIDATES = oldest(size=2, candidates=4, delay_ns=100 * MS, state=kept())
CROWD = oldest(size=2, candidates=6, state=pair(*FLAT))


@pytest.mark.rule("SB-STATE-001")
def test_initial(claims, drive, judge):
    """The first request of a sequence finds the configured initial state, be it zeros or a value"""
    for config in claimed(claims, *ONE, *SEVEN):
        judge(drive(config, tuple(one for sequence in (5, 6, 7) for one in turns([sequence], 2))))


@pytest.mark.rule("SB-STATE-002")
def test_previous(claims, drive, judge):
    """A request finds the state that the previous request of its sequence left"""
    for config in claimed(claims, *ONE):
        judge(drive(config, turns([5], 6)))


@pytest.mark.rule("SB-STATE-003")
def test_own_in_a_batch(claims, drive, judge):
    """Sequences that share batches keep their own states, also when some have no request in a batch"""
    judge(drive(claimed(claims, *FOUR)[0], side_by_side()))  # with oldest, a server may stage the first request alone


@pytest.mark.rule("SB-STATE-004")
def test_own_in_its_instance(claims, drive, judge):
    """Sequences in several instances keep their own states"""
    for config in roomy(claims, *PAIRS):
        judge(drive(config, groups(claims, [5, 6], 3)))


@pytest.mark.rule("SB-STATE-005")
def test_after_end(claims, drive, judge):
    """A sequence in the slot of one that has ended begins with the initial state"""
    for config in claimed(claims, *ONE):
        judge(drive(config, (*turns([5], 3), *turns([6], 2), *AGAIN)))


@pytest.mark.rule("SB-STATE-006")
def test_after_idle(claims, drive, judge):
    """A sequence in the slot of one that was idle for too long begins with the initial state"""
    for config in claimed(claims, *IDLE):
        judge(drive(config, (*turn([5], 0), *turns([6], 1), *AGAIN)))


@pytest.mark.rule("SB-STATE-007")
def test_after_a_cancel(claims, drive, judge):
    """A sequence in the slot of one that was cancelled begins with the initial state"""
    for config in claimed(claims, *ONE):
        judge(drive(config, taken_back()))


@pytest.mark.rule("SB-STATE-008")
def test_start_again(claims, drive, judge):
    """A START under the correlation ID of a sequence that is not over begins with the initial state"""
    for config in claimed(claims, *ONE):
        judge(drive(config, (*turn([5], 0), *turn([5], 1), *AGAIN)))


@pytest.mark.rule("SB-STATE-009")
def test_after_a_failure(claims, drive, judge):
    """A run that fails leaves the states of its sequences as they were"""
    failing = behind_plug(step(5, 1, fail=True), step(6, 1))
    config = claimed(claims, *FOUR)[0]  # with oldest, a server may stage the first request alone
    judge(drive(config, (*turn([5, 6], 0), *failing, *turn([5, 6], 2, last=2))))


@pytest.mark.rule("SB-STATE-010")
def test_in_one_buffer(claims, drive, judge):
    """A state that the model writes over the old one is the state that the next request finds"""
    for config in claimed(claims, *OVER):
        judge(drive(config, turns([5, 6], 4)))


@pytest.mark.rule("SB-STATE-011")
def test_among_candidates(drive, judge):
    """With oldest, a request finds the state that the previous request of its own sequence left"""
    pairs = ((5, 0), (6, 0)), ((7, 0), (5, 1)), ((6, 1), (7, 1)), ((5, 2), (6, 2))
    last = {5: 2, 6: 2, 7: 1}
    sends = [[step(one, number, last=last[one]) for one, number in pair] for pair in pairs]
    judge(drive(CANDIDATES, tuple(one for pair in sends for one in (*pair, Answered(tuple(send.name for send in pair))))))


@pytest.mark.rule("SB-STATE-012")
def test_after_a_failed_start(claims, drive, judge):
    """After a first run that fails, the state is the initial one, and not that of the slot's last sequence"""
    failing = step(6, 0, fail=True), Answered(("s6.0",))
    for config in claimed(claims, *ONE):
        judge(drive(config, (*turns([5], 2), *failing, *turn([6], 1, last=1))))
        before = Send("before", sequence=6, start=True), Answered(("before",))
        judge(drive(config, (*before, *failing, *turn([6], 1, last=1))))


@pytest.mark.rule("SB-STATE-013")
def test_own_of_two(claims, drive, judge):
    """Each of two state tensors is that of its own name and its own sequence, also if their shapes differ"""
    for configs in (PAIR, ODD_PAIR):
        judge(drive(claimed(claims, *configs)[0], side_by_side()))  # with oldest, a server may stage the first request alone


@pytest.mark.rule("SB-STATE-014")
def test_two_after_a_failure(claims, drive, judge):
    """Both state tensors begin anew with a sequence, and a run that fails changes neither"""
    five = *turn([5], 0), step(5, 1, fail=True), Answered(("s5.1",)), *turn([5], 2, last=2)
    six = step(6, 0, fail=True), Answered(("s6.0",)), *turn([6], 1), *turn([6], 2)
    begun_again = Send("anew", sequence=6, start=True, end=True), Answered(("anew",))
    for config in claimed(claims, *ONE_PAIR):
        judge(drive(config, (*five, *six, *begun_again, *AGAIN)))
        if not unmet(claims, ("cancel",)):
            judge(drive(config, taken_back()))
    if not unmet(claims, ("sequences=oldest|both",)):  # more than a batch holds: those of silent ones may be put elsewhere
        judge(drive(CROWD, (*put_elsewhere(), *AGAIN)))
    for config in claimed(claims, *IDLE_PAIR):  # nobody has ended it
        judge(drive(config, (*turn([5], 0), *turns([6], 1), *AGAIN)))
