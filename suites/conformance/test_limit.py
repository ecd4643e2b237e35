"""Queue limits: which requests are refused because too many wait."""

import pytest

from batchproof.fixtures.driving.script import (
    MS,
    Answered,
    Cancel,
    Entered,
    Queued,
    Release,
    Script,
    Send,
    burst,
    in_line,
    plugged,
)
from batchproof.fixtures.judging.places import counts_inside
from batchproof.reference_batcher import BatcherConfig
from batchproof.reference_batcher.config import DELAY, REJECT, QueuePolicy
from batchproof.targets.witness_model import extra

LIMITED = BatcherConfig(max_batch_size=4, max_queue_size=3)
APART = BatcherConfig(max_batch_size=5, max_queue_size=3)  # no other rule meets what its cancellations leave behind
LATER = BatcherConfig(max_batch_size=6, max_queue_size=3)  # and none what its history leaves behind
AFTERWARDS = BatcherConfig(max_batch_size=7, max_queue_size=3)
FAILING = BatcherConfig(max_batch_size=8, max_queue_size=3)
SHAPED = BatcherConfig(max_batch_size=4, max_queue_size=3, inputs=extra())
ROOMY = BatcherConfig(max_batch_size=4, max_queue_size=64)
EXPIRING = BatcherConfig(max_batch_size=4, max_queue_size=3, queue_timeout_ns=600 * MS)
FILLED = BatcherConfig(max_batch_size=2, max_queue_size=3, queue_timeout_ns=600 * MS)  # who waits fills a batch
LEVELS = BatcherConfig(max_batch_size=4, max_queue_size=2, priority_levels=2, default_priority_level=2)
DELAYED = BatcherConfig(max_batch_size=4, max_queue_size=2, max_queue_delay_ns=1000 * MS)
DELAYING = BatcherConfig(max_batch_size=4, max_queue_size=3, queue_timeout_ns=300 * MS, timeout_action=DELAY)
OWN_POLICY = BatcherConfig(
    max_batch_size=4,
    queue_timeout_ns=300 * MS,
    timeout_action=DELAY,
    priority_levels=2,
    default_priority_level=2,
    priority_queue_policy=((2, QueuePolicy(600 * MS, REJECT, max_queue_size=2)),),
)


def overfull() -> Script:
    """r0, r1 and r2 fill the queue behind a plug, and r3 and r4 are too many; `later` is sent after all have been served."""
    line = in_line(*(Send(f"r{i}") for i in range(3)))
    return (*plugged(*line, Send("r3"), Send("r4"), Answered(("r3", "r4"))), Answered(("r0", "r1", "r2")), Send("later"))


def overfull_of_shapes() -> Script:
    """The same, with requests of three shapes, so that no more than two of one shape wait."""
    line = in_line(*(Send(f"r{i}", extra=extra) for i, extra in enumerate((2, 3, 2))))
    beyond = Send("r3", extra=3), Send("r4", extra=4), Answered(("r3", "r4"))
    plug = Send("plug", extra=2, hold="gate"), Entered("plug")
    return (*plug, *line, *beyond, Release("gate"), Answered(("r0", "r1", "r2")), Send("later", extra=2))


def overfull_again() -> Script:
    """r0, r1 and r2 fill the queue behind a request in the model, and r3 and r4 are too many."""
    line = in_line(*(Send(f"r{i}") for i in range(3)))
    beyond = Send("r3"), Send("r4"), Answered(("r3", "r4"))
    return (Send("next", hold="next"), Entered("next"), *line, *beyond, Release("next"))


@pytest.mark.rule("DB-LIMIT-001")
def test_beyond_is_refused(drive, judge, claims):
    """A request beyond max_queue_size is refused as full while the queue is still full"""
    waves = [[Send(f"before{wave}-{i}") for i in range(3)] for wave in range(64)]
    before = (step for wave in waves for step in (*wave, Answered(tuple(send.name for send in wave))))

    judge(drive(LIMITED, overfull()))

    judge(drive(LATER, (*before, *overfull())))

    if claims.get("shapes"):
        judge(drive(SHAPED, overfull_of_shapes()))


@pytest.mark.rule("DB-LIMIT-002")
def test_beyond_never_runs(drive, judge):
    """A request beyond max_queue_size is never executed"""
    judge(drive(LIMITED, overfull()))


@pytest.mark.rule("DB-LIMIT-003")
def test_limit_itself_is_served(drive, judge):
    """As many requests as max_queue_size allows are accepted and served"""
    judge(drive(LIMITED, plugged(*in_line(*(Send(f"r{i}") for i in range(3))))))


@pytest.mark.rule("DB-LIMIT-004")
def test_room_again(drive, judge, claims):
    """When a full queue has room again, requests are accepted again"""
    full = *in_line(Send("r0", hold="next"), Send("r1"), Send("r2")), Send("r3"), Answered(("r3",))
    again = in_line(*(Send(f"again{i}") for i in range(3)))
    running = Entered("r0"), *again, Release("next")
    if counts_inside(claims):  # there is room when they have left the model
        over = Release("next"), Answered(("r0", "r1", "r2"))
        running = *over, Send("last", hold="last"), Entered("last"), *again, Release("last")

    judge(drive(LIMITED, (*plugged(*full), *running)))


@pytest.mark.rule("DB-LIMIT-005")
def test_requests_are_counted(drive, judge, claims):
    """max_queue_size counts requests, not rows"""
    judge(drive(LIMITED, plugged(*in_line(*(Send(f"r{i}", rows=3) for i in range(3))))))
    if claims.get("shapes"):
        line = in_line(*(Send(f"r{i}", rows=3, extra=2) for i in range(3)))
        judge(drive(SHAPED, (Send("plug", extra=2, hold="gate"), Entered("plug"), *line, Release("gate"))))


@pytest.mark.rule("DB-LIMIT-006")
def test_each_level_has_its_own(drive, judge):
    """Each priority level has a max_queue_size of its own"""
    first = Send("r10", priority=1), Send("r11", priority=1)
    line = in_line(*first, Send("r20"), Send("r21", priority=2))  # who names no level has the default one
    beyond = Send("r12", priority=1), Send("r22", priority=2), Answered(("r12", "r22"))

    judge(drive(LEVELS, plugged(*line, *beyond)))


@pytest.mark.rule("DB-LIMIT-007")
def test_idle_model_too(drive, judge):
    """The same limit holds on an idle model, where requests wait for their queue delay"""
    judge(drive(DELAYED, (Send("r0"), Send("r1"), Queued(2), Send("r2"))))


@pytest.mark.rule("DB-LIMIT-008")
def test_level_has_its_policy(drive, judge):
    """A priority level with a queue policy of its own does not use the default one"""
    line = in_line(*(Send(f"u{i}", priority=1) for i in range(3)), *(Send(f"l{i}", priority=2) for i in range(2)))

    judge(drive(OWN_POLICY, plugged(*line, Send("l2", priority=2), Answered(("l0", "l1", "l2")))))


@pytest.mark.rule("DB-LIMIT-009")
def test_burst_is_served(drive, judge):
    """A burst that fits within max_queue_size is served as a whole"""
    judge(drive(ROOMY, (Send("first", work_ns=100 * MS), Entered("first"), *burst(32))))


@pytest.mark.rule("DB-LIMIT-010")
def test_expired_leaves_its_place(drive, judge):
    """The place of an expired request in a limited queue is free again"""
    late = (*in_line(*(Send(f"x{i}") for i in range(3))), Send("over"), Answered(("over",)))  # a full queue has refused one
    expired = (*plugged(*late, Send("beyond", after_ns=1200 * MS)), Answered(("plug", "x0", "x1", "x2", "beyond")))
    again = Send("next", hold="next"), Entered("next"), *in_line(*(Send(f"again{i}") for i in range(3))), Release("next")

    judge(drive(EXPIRING, (*expired, *again)))

    judge(drive(FILLED, (*expired, *again)))


@pytest.mark.rule("DB-LIMIT-011")
def test_cancelled_in_model_changes_nothing(drive, judge):
    """After requests were cancelled in the model, exactly as many wait as max_queue_size allows"""
    gone = [(Send(f"gone{i}", hold=f"gone{i}"), Entered(f"gone{i}"), Cancel(f"gone{i}")) for i in range(2)]
    seen = [(Send(f"seen{i}", after_ns=400 * MS), Release(f"gone{i}"), Answered((f"seen{i}",))) for i in range(2)]
    line = in_line(*(Send(f"r{i}") for i in range(3)))
    beyond = Send("r3"), Send("r4"), Answered(("r3", "r4"))

    judge(drive(APART, (*gone[0], *seen[0], *gone[1], *seen[1], *plugged(*line, *beyond))))


@pytest.mark.rule("DB-LIMIT-012")
def test_expired_leaves_one_place(drive, judge):
    """After requests have expired, exactly as many wait as max_queue_size allows"""
    late = in_line(*(Send(f"x{i}") for i in range(3)))
    expired = (*plugged(*late, Send("after", after_ns=1200 * MS)), Answered(("plug", "x0", "x1", "x2", "after")))

    judge(drive(EXPIRING, (*expired, *overfull_again())))


@pytest.mark.rule("DB-LIMIT-013")
def test_cancelled_leaves_one_place(drive, judge):
    """After requests were cancelled in the queue, exactly as many wait as max_queue_size allows"""
    gone = in_line(*(Send(f"gone{i}") for i in range(2)))  # with room for `after`, even if they leave with it
    taken_back = plugged(*gone, Cancel("gone0"), Cancel("gone1"), Send("after", after_ns=400 * MS))

    judge(drive(AFTERWARDS, (*taken_back, Answered(("plug", "after")), *overfull_again())))


@pytest.mark.rule("DB-LIMIT-014")
def test_late_leaves_its_place(drive, judge):
    """When requests that a timeout has only delayed are served, exactly as many wait again as max_queue_size allows"""
    late = (*in_line(*(Send(f"x{i}") for i in range(3))), Send("over", after_ns=700 * MS), Answered(("over",)))

    judge(drive(DELAYING, (*plugged(*late), Answered(("plug", "x0", "x1", "x2")), *overfull_again())))


@pytest.mark.rule("DB-LIMIT-015")
def test_failed_leaves_its_place(drive, judge):
    """After batches have failed, exactly as many wait as max_queue_size allows"""
    poisoned = in_line(*(Send(f"x{i}", fail=True) for i in range(3)))

    judge(drive(FAILING, (*plugged(*poisoned), Answered(("plug", "x0", "x1", "x2")), *overfull_again())))
