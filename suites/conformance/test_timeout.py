"""Queue timeout: which requests are refused, which are not, and which never run."""

from dataclasses import replace

import pytest

from batchproof.fixtures.driving.own_queues import INSTANCES, held_each
from batchproof.fixtures.driving.script import (
    HOUR,
    MS,
    Answered,
    Entered,
    Queued,
    Release,
    Script,
    Send,
    in_line,
    lone,
    names_of,
    plugged,
)
from batchproof.reference_batcher import BatcherConfig
from batchproof.reference_batcher.config import DELAY
from batchproof.targets.claims import unmet, value_of

SHORT = BatcherConfig(max_batch_size=4, queue_timeout_ns=600 * MS)
LONG = BatcherConfig(max_batch_size=4, queue_timeout_ns=2000 * MS)
MINUTE = BatcherConfig(max_batch_size=4, queue_timeout_ns=60_000 * MS)
DELAYING = BatcherConfig(max_batch_size=4, queue_timeout_ns=1000 * MS, timeout_action=DELAY)
LEVELS_DELAYING = BatcherConfig(
    max_batch_size=4, queue_timeout_ns=300 * MS, timeout_action=DELAY, priority_levels=2, default_priority_level=1
)
MINUTE_OR_LESS = BatcherConfig(max_batch_size=4, queue_timeout_ns=60_000 * MS, allow_timeout_override=True)
SHORT_OR_LESS = BatcherConfig(max_batch_size=4, queue_timeout_ns=600 * MS, allow_timeout_override=True)
DELAYING_OR_LESS = BatcherConfig(
    max_batch_size=4, queue_timeout_ns=60_000 * MS, timeout_action=DELAY, allow_timeout_override=True
)
NONE_OR_LESS = BatcherConfig(max_batch_size=4, allow_timeout_override=True)
SERVED = 300  # requests, one after another: more than a number of eight bits can count
MANY, CROWD, THRONG = 64, 150, 600  # requests that expire together
SWEEP = 700 * MS  # Triton looks for expired requests every 500 ms while its instances are busy
DELAYED_OR_LESS = BatcherConfig(
    max_batch_size=4, max_queue_delay_ns=100 * MS, queue_timeout_ns=10_000 * MS, allow_timeout_override=True
)
WINDOW_OR_LESS = replace(DELAYED_OR_LESS, max_queue_delay_ns=420 * MS)


def expiring(*names: str) -> Script:
    """`r0`, or each of these, waits behind a plug until it is refused; then `later` is queued and served."""
    names = names or ("r0",)
    return plugged(*in_line(*map(Send, names)), Answered(names), Send("later", after_ns=1 * MS), Queued(1))


def expiring_unseen() -> Script:
    """The same, but nobody comes who could remind the batcher of it."""
    return plugged(*in_line(Send("r0")), Answered(("r0",)))


@pytest.mark.rule("DB-TIMEOUT-001")
def test_expired_is_refused(drive, judge):
    """A request that waits longer than the queue timeout is refused"""
    judge(drive(SHORT, expiring_unseen()))


@pytest.mark.rule("DB-TIMEOUT-002")
def test_expired_never_runs(drive, judge):
    """A request that waited longer than the queue timeout is never executed"""
    judge(drive(SHORT, expiring("r0", "r1", "r2")))


@pytest.mark.rule("DB-TIMEOUT-003")
def test_neighbours_unharmed(drive, judge):
    """An expired request does not harm its neighbours in the queue"""
    plug, r0 = (Send("plug", hold="gate"), Entered("plug")), (Send("r0"), Queued(1))
    fill = (Send(f"more{i}") for i in range(3))  # with `later`, a batch: the place of r0 is not left empty
    while_it_waits = Send("later", after_ns=1600 * MS), *fill, Queued(5), Send("last", after_ns=700 * MS)

    judge(drive(LONG, (*plug, *r0, *while_it_waits, Release("gate"))))


@pytest.mark.rule("DB-TIMEOUT-004")
def test_in_time_is_served(drive, judge):
    """A request that has not waited longer than the queue timeout is not refused"""
    judge(drive(LONG, (Send("plug", hold="gate"), Entered("plug"), Send("r0"), Queued(1), Release("gate"))))

    early = [Send(f"early{i}", after_ns=1 * MS) for i in range(SERVED)]  # theirs is over while r0 still has time
    served = (step for send in early for step in (send, Answered((send.name,))))
    judge(drive(SHORT, (*served, *plugged(*in_line(Send("r0")), Send("later", after_ns=400 * MS)))))


@pytest.mark.rule("DB-TIMEOUT-005")
def test_refused_while_busy(drive, judge, claims):
    """An expired request is refused even while every instance is busy"""
    judge(drive(SHORT, expiring()))

    many = [Send(f"r{i}") for i in range(THRONG if claims.get("crowd") else MANY)]  # and nobody comes who could remind it
    refused = Answered(names_of(many)), Send("later", after_ns=1 * MS)
    judge(drive(SHORT, plugged(*many, Queued(len(many)), *refused)))

    if not unmet(claims, ("instances", "queue=each-instance|stealing")):  # in each of the queues
        line = [Send(f"r{at}") for at in range(4 * INSTANCES)]
        refused = Answered(names_of(line)), Send("later", after_ns=1 * MS)
        opened = (Release(f"gate{at}") for at in range(INSTANCES))
        judge(drive(replace(SHORT, instances=INSTANCES), (*held_each(), *in_line(*line), *refused, *opened)))


def late(lateness_ns: int, level: int = 0) -> Script:
    """`r0` is already late behind a plug when l0 to l3, which fill a batch, are queued; then the plug is released."""
    after = Send("l0", after_ns=lateness_ns, priority=level), *(Send(f"l{i}", priority=level) for i in range(1, 4))
    return plugged(*in_line(Send("r0"), *after))


def late_behind() -> Script:
    """The same, but `r0` has a shorter timeout of its own, and waits behind l0 and l1."""
    own = Send("r0", timeout_ns=200 * MS)
    return plugged(*in_line(Send("l0"), Send("l1"), own, Send("l2", after_ns=own.payload.timeout_ns + SWEEP), Send("l3")))


def asking(timeout_ns: int) -> Script:
    """`r0` asks for a timeout and waits behind a plug for longer than that."""
    return plugged(Send("r0", timeout_ns=timeout_ns), Queued(1), Send("later", after_ns=timeout_ns + SWEEP))


def in_the_middle() -> Script:
    """The second of three requests behind a plug may wait only briefly; the plug is released when it is answered."""
    line = in_line(Send("before"), Send("mid", timeout_ns=200 * MS), Send("behind"))
    return plugged(*line, Answered(("mid",)))


@pytest.mark.rule("DB-TIMEOUT-006")
def test_delayed_is_served(drive, judge):
    """With timeout_action DELAY, a request that waited too long is served and not refused"""
    judge(drive(DELAYING, late(1100 * MS)))


@pytest.mark.rule("DB-TIMEOUT-007")
def test_delayed_is_last(drive, judge, claims):
    """A delayed request is served after those of its level that are in time"""
    judge(drive(DELAYING, late(1100 * MS)))

    if not unmet(claims, ("timeout_override",)):
        judge(drive(DELAYING_OR_LESS, late_behind()))


@pytest.mark.rule("DB-TIMEOUT-008")
def test_delayed_before_less_urgent(drive, judge):
    """A delayed request is served before those of less urgent levels"""
    judge(drive(LEVELS_DELAYING, late(400 * MS, level=2)))


@pytest.mark.rule("DB-TIMEOUT-009")
def test_shorter_is_honoured(drive, judge):
    """Where overriding is allowed, a request's own shorter timeout is honoured"""
    judge(drive(MINUTE_OR_LESS, in_the_middle()))


@pytest.mark.rule("DB-TIMEOUT-010")
def test_longer_is_ignored(drive, judge):
    """Where overriding is allowed, a request's own longer timeout is ignored"""
    judge(drive(SHORT_OR_LESS, plugged(Send("r0", timeout_ns=HOUR), Answered(("r0",)))))


@pytest.mark.rule("DB-TIMEOUT-011")
def test_override_is_not_allowed(drive, judge):
    """Where overriding is not allowed, a request's own timeout changes nothing"""
    judge(drive(MINUTE, asking(100 * MS)))

    judge(drive(SHORT, plugged(Send("r0", timeout_ns=HOUR), Answered(("r0",)))))


@pytest.mark.rule("DB-TIMEOUT-012")
def test_nothing_to_override(drive, judge):
    """Where overriding is allowed and there is no default timeout, a request's own timeout changes nothing"""
    judge(drive(NONE_OR_LESS, asking(100 * MS)))


@pytest.mark.rule("DB-TIMEOUT-013")
def test_executing_never_expires(drive, judge):
    """A request that is being executed never times out"""
    judge(drive(SHORT, lone(work_ns=1300 * MS)))

    full = in_line(*(Send(f"r{i}", work_ns=0 if i else 1300 * MS) for i in range(4)))
    judge(drive(SHORT, plugged(*full), gather=True))


@pytest.mark.rule("DB-TIMEOUT-014")
def test_middle_alone(drive, judge):
    """A timeout in the middle of the queue refuses exactly that request"""
    judge(drive(MINUTE_OR_LESS, in_the_middle()))


@pytest.mark.rule("DB-TIMEOUT-015")
def test_next_is_not_late(drive, judge, claims):
    """A request that times out during its queue delay does not make the next one late"""
    judge(drive(DELAYED_OR_LESS, (Send("gone", timeout_ns=20 * MS), Answered(("gone",)), Send("r0", after_ns=20 * MS))))
    if value_of(claims, "delay_anchor") == "first-dequeue":  # one that waits beside it; of others, DB-LAW-009 tells
        judge(drive(WINDOW_OR_LESS, (Send("gone", timeout_ns=300 * MS), Send("r0"))))


@pytest.mark.rule("DB-TIMEOUT-016")
def test_refused_among_newcomers(drive, judge, claims):
    """An expired request is refused while every instance is busy, however many newer ones come"""
    many = CROWD if claims.get("crowd") else MANY
    waiting = (Send(f"r{i}") for i in range(many))
    newer = (Send(f"n{i}", after_ns=SHORT.queue_timeout_ns // 3) for i in range(8))

    judge(drive(SHORT, plugged(*waiting, Queued(many), *newer)))
