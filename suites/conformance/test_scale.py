"""Scale: what holds for a few requests holds for deep queues, for the third instance, and after a long or bad history."""

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
    Step,
    at_once,
    burst,
    gated,
    in_line,
    plugged,
)
from batchproof.fixtures.judging.checkers.scale import slow, too_slow
from batchproof.reference_batcher import BatcherConfig
from batchproof.targets.claims import unmet, value_of

EIGHT = BatcherConfig(max_batch_size=8)
APART = BatcherConfig(max_batch_size=12)  # no other rule meets what a thousand requests leave behind
SIXTEEN = BatcherConfig(max_batch_size=16)
THREE_INSTANCES = BatcherConfig(max_batch_size=4, instances=3)
THREE_APART = BatcherConfig(max_batch_size=5, instances=3)  # no other rule meets what its cancellations leave behind
WITH_TIMEOUT = BatcherConfig(max_batch_size=4, instances=3, queue_timeout_ns=200 * MS)
EXPIRING_APART = BatcherConfig(max_batch_size=5, instances=3, queue_timeout_ns=200 * MS)
LATE = BatcherConfig(max_batch_size=20)  # no other rule sends it a request, so that the 256th is in the backlog
TOGETHER = BatcherConfig(max_batch_size=7)  # no other rule counts on what requests of the same moment leave behind
SIX = BatcherConfig(max_batch_size=6)  # a ring of 64, 128 or 256 rows is not full of batches
WIDE = BatcherConfig(max_batch_size=128)
HUGE = BatcherConfig(max_batch_size=2048)
BEYOND_A_BYTE = BatcherConfig(max_batch_size=256)
DEEP = gated(*(Send(f"r{i}") for i in range(48)))
GROWING = ((224, 48), (37, 96), (37, 200))  # before a backlog, and in it: a ring grows where it does not begin
AGAIN = (1 << 10, 1 << 11, 1 << 12)  # where a number of so many bits begins again
GROUPS, TURNS = (7, 11), 17  # batches one behind another, of which the last one leaves nobody behind: 306 in all
TAKEN = 66  # batches: what happens after 64 of them happens while somebody waits who came meanwhile
WAVE = 32  # requests at once
LATER = {"after_ns": 1}  # so that simulated time passes too: at one moment, each could have met all others in the queue


def held(name: str, **asked: bool) -> Script:
    """Three requests, each of which a gate holds in an instance of its own."""
    return tuple(step for i in range(3) for step in (Send(f"{name}{i}", hold=f"{name}{i}", **asked), Entered(f"{name}{i}")))


def let_go(name: str) -> Script:
    """Open their gates."""
    return tuple(Release(f"{name}{i}") for i in range(3))


def fills_all() -> Script:
    """A request for each instance, q*, and more*, which have to wait. Time passes between them, simulated time as well."""
    return (*held("q"), *(Send(f"more{i}", after_ns=20 * MS) for i in range(2)), Queued(2), *let_go("q"))


def rounds(name: str, count: int, wave: int = WAVE, **request: int) -> Script:
    """So many requests, `wave` at once, each time when those before are answered."""
    sends = [[Send(f"{name}{i}", **request, **LATER) for i in range(first, first + wave)] for first in range(0, count, wave)]
    return tuple(step for some in sends for step in (*some, Answered(tuple(send.name for send in some))))


def one_by_one(count: int) -> Script:
    """Lone requests, each sent when the one before it is answered."""
    return tuple(step for i in range(count) for step in (Send(f"r{i}", **LATER), Answered((f"r{i}",))))


def one_behind_another(size: int, *, counted: bool) -> Script:
    """Hundreds of full batches of one instance: when nearly any of them ends, others wait, and nobody else comes.

    So whatever happens after any number of batches happens while somebody waits.
    """
    steps: list[Step] = []
    for at, count in enumerate(GROUPS * TURNS):
        first, behind = f"g{at}.0", (count - 1) * (1 if counted else size)
        sends = [Send(f"g{at}.{i}", rows=size if counted else 1) for i in range(1, behind + 1)]
        steps += [Send(first, hold=first, rows=size if counted else 1, **LATER), Entered(first), *sends, Queued(behind)]
        steps += [Release(first), Answered((first, *(send.name for send in sends)))]
    return tuple(steps)


def one_always_waits(count: int, rows: int) -> Script:
    """So many batches: exactly one request waits whenever one of them ends, and it came while that batch ran."""
    steps: list[Step] = [Send("w0", hold="w0", rows=rows, **LATER), Entered("w0")]
    for at in range(1, count):
        name, before = f"w{at}", f"w{at - 1}"
        steps += [Send(name, hold=name, rows=rows, **LATER), Queued(1), Release(before), Entered(name)]
    return (*steps, Release(f"w{count - 1}"), Answered(tuple(f"w{at}" for at in range(count))))


@pytest.mark.rule("DB-SCALE-001")
def test_deep_backlog_fills_batches(drive, judge):
    """A deep backlog leaves in full batches, even if a batch holds 256 rows"""
    judge(drive(SIXTEEN, DEEP))

    names, size = [f"r{i}" for i in range(520)], BEYOND_A_BYTE.max_batch_size
    answered = (Answered(tuple(names[first : first + size])) for first in range(0, len(names), size))  # slow is not wrong
    judge(drive(BEYOND_A_BYTE, (*gated(*map(Send, names), in_order=False), *answered)))


@pytest.mark.rule("DB-SCALE-002")
def test_deep_backlog_keeps_its_order(drive, judge, claims):
    """In a deep backlog, too, requests enter batches in the order in which they were queued"""
    sent = 0
    wave = WAVE if value_of(claims, "late_binding") else LATE.max_batch_size  # a rest waits for its delay, and it is long
    for early, depth in GROWING:
        deep = gated(*(Send(f"r{i}") for i in range(depth)))
        timeline = drive(LATE, (*rounds("early", early, wave, work_ns=1 * MS), *deep))
        if not judge(timeline).passed:
            return
        sent += len(timeline.requests)
    for number in () if slow(timeline) else AGAIN:
        timeline = drive(LATE, (*rounds("early", number - sent - 24, wave), *DEEP))  # it is in the middle of the backlog
        judge(timeline)
        sent += len(timeline.requests)


@pytest.mark.rule("DB-SCALE-003")
def test_hundreds_are_answered(drive, judge, claims):
    """After hundreds of requests, every request is still answered"""
    timeline = drive(SIXTEEN, rounds("r", 576))
    judge(timeline)
    if not (slow(timeline) or unmet(claims, ("instances=false|true",))):
        size, counted = max(3, claims.get("smallest_batch", 3)), value_of(claims, "rows") == "counted"
        lone = one_always_waits(TAKEN, size if counted else 1)
        judge(drive(BatcherConfig(max_batch_size=size), (*one_behind_another(size, counted=counted), *lone)))


@pytest.mark.rule("DB-SCALE-004")
def test_long_batch_runs_once(drive, judge):
    """A request is executed once, however long its batch takes"""
    judge(drive(EIGHT, (*burst(3, work_ns=1_000 * MS), Answered(("r0", "r1", "r2")), Send("after"))))

    plug = Send("plug", work_ns=1_000 * MS), Entered("plug")
    judge(drive(EIGHT, (*plug, *burst(48))))


@pytest.mark.rule("DB-SCALE-005")
def test_every_instance_returns_own_results(drive, judge):
    """With three instances, every answer carries the result of its own request"""
    judge(drive(THREE_INSTANCES, burst(48, work_ns=20 * MS)))


@pytest.mark.rule("DB-SCALE-006")
def test_instances_after_failures(drive, judge):
    """After failed batches, exactly as many batches run at once as there are instances"""
    failed = Answered(("f0", "f1", "f2"))

    judge(drive(THREE_INSTANCES, (*held("f", fail=True), *let_go("f"), failed, *fills_all())))


@pytest.mark.rule("DB-SCALE-007")
def test_instances_after_expiry(drive, judge):
    """After requests have expired, exactly as many batches run at once as there are instances"""
    late = in_line(*(Send(f"x{i}") for i in range(3)))
    settled = Answered(("p0", "p1", "p2", "x0", "x1", "x2", "fresh"))
    history = (*held("p"), *late, Send("fresh", after_ns=400 * MS), *let_go("p"), settled)

    judge(drive(WITH_TIMEOUT, (*history, *fills_all())))


@pytest.mark.rule("DB-SCALE-008")
def test_lone_thousand(drive, judge):
    """Each of more than a thousand lone requests is answered"""
    few = drive(APART, one_by_one(8))

    judge(few if too_slow(few) else drive(APART, one_by_one(1200)))


@pytest.mark.rule("DB-SCALE-009")
def test_two_thousand_at_once(drive, judge):
    """Two thousand requests that wait at once are all answered, each with its own result"""
    waves = [[f"r{i}" for i in range(first, first + 100)] for first in range(0, 2000, 100)]
    in_turn = (step for i, wave in enumerate(waves, 1) for step in (*map(Send, wave), Queued(100 * i)))  # an order is seen
    answered = (Answered(tuple(wave)) for wave in waves)  # slow is not wrong

    judge(drive(WIDE, (*rounds("early", 128), *plugged(*in_turn), *answered)))  # the 2048th is among them


@pytest.mark.rule("DB-SCALE-010")
def test_instances_after_cancellations(drive, judge):
    """When requests are cancelled in the model, too, exactly as many batches run at once as there are instances"""
    gone = tuple(Cancel(f"c{i}") for i in range(3))
    seen = Send("seen0", after_ns=400 * MS, work_ns=20 * MS), Send("seen1", after_ns=50 * MS, work_ns=20 * MS)

    judge(drive(THREE_APART, (*held("c"), *gone, *seen, *let_go("c"), Answered(("seen0", "seen1")), *fills_all())))


@pytest.mark.rule("DB-SCALE-011")
def test_large_request(drive, judge):
    """A request of two thousand rows gets its own result, and so do those around it"""
    sizes = {"before": 1, "large": HUGE.max_batch_size, "after": 1}

    alone = (step for name, rows in sizes.items() for step in (Send(name, rows=rows), Answered((name,))))
    names = [f"r{i}" for i in range(4)]  # which may come in pieces
    answered = (Answered((name,)) for name in names)  # slow is not wrong

    judge(drive(HUGE, (*alone, *at_once("all", *names, rows=HUGE.max_batch_size), *answered)))


@pytest.mark.rule("DB-SCALE-012")
def test_several_clients_at_once(drive, judge):
    """When several clients submit at the same moment, each request is executed once and gets its own result"""
    for turn in range(8):
        sizes = [4] * 20 + [32] * 3
        moments = [at_once(f"m{i}", *(f"r{i}.{j}" for j in range(size)), **LATER) for i, size in enumerate(sizes)]
        steps = (step for sends in moments for step in (*sends, Answered(tuple(send.name for send in sends))))
        timeline = drive(TOGETHER, tuple(steps))
        judge(timeline)
        if turn > 2 and (timeline.simulated or slow(timeline)):
            return  # in simulated time, nothing is left to chance


@pytest.mark.rule("DB-SCALE-013")
def test_deep_backlog_of_large_requests(drive, judge):
    """A deep backlog of requests that are split over batches leaves in full batches, and each gets its own result"""
    judge(drive(SIX, gated(*(Send(f"r{i}", rows=6) for i in range(96)), in_order=False)))


@pytest.mark.rule("DB-SCALE-014")
def test_instances_after_expiry_beside_a_cancellation(drive, judge):
    """When requests expire alongside a cancelled one, exactly as many batches run at once as there are instances"""
    late = (*in_line(Send("x0"), Send("gone"), Send("x1")), Cancel("gone"))
    settled = Answered(("p0", "p1", "p2", "x0", "x1", "fresh"))
    history = (*held("p"), *late, Send("fresh", after_ns=400 * MS), *let_go("p"), settled)

    judge(drive(EXPIRING_APART, (*history, *fills_all())))
