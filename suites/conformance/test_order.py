"""Ordering: into batches, and back to the clients."""

import pytest

from batchproof.fixtures.driving.script import MS, Answered, Entered, Release, Script, Send, Step, arrivals, gated
from batchproof.fixtures.judging.checkers.scale import slow
from batchproof.reference_batcher import BatcherConfig

FOUR = BatcherConfig(max_batch_size=4)
TWO_INSTANCES = BatcherConfig(max_batch_size=4, instances=2)
ORDERED = BatcherConfig(max_batch_size=4, instances=2, preserve_ordering=True)
ORDERED_APART = BatcherConfig(max_batch_size=5, instances=2, preserve_ordering=True)  # no other rule counts its batches
MANY = 100  # batches whose answers wait for one
GROUPS = 52  # of five batches each, behind three: the 254th to the 258th are a group


@pytest.mark.rule("DB-ORDER-001")
def test_first_come_first_served(drive, judge):
    """Requests enter batches in the order in which they were queued"""
    judge(drive(FOUR, gated(*(Send(f"r{i}") for i in range(12)))))


@pytest.mark.rule("DB-ORDER-002")
def test_answered_in_order(drive, judge):
    """With one instance, batches are answered in the order in which they ran"""
    judge(drive(FOUR, gated(*(Send(f"r{i}", work_ns=60 * MS) for i in range(24)), in_order=False)))


def overtaken(by: int = 4, **slow: bool) -> Script:
    """`slow` stays in the model until later batches have run on the other instance, all but the last of them long before."""
    fast = [Send("f0"), Send("f1", fail=slow.get("fail", False)), *(Send(f"f{number}") for number in range(2, by))]
    fast[-1] = Send(f"f{by - 1}", after_ns=100 * MS)
    entering = (step for send in fast for step in (send, Entered(send.name)))
    return (Send("slow", hold="gate", **slow), Entered("slow"), *entering, Release("gate"))


def overtaken_again_and_again() -> Script:
    """The same for hundreds of batches: slow0, slow1 and so on, each with a gate of its own, and four behind each."""
    steps: list[Step] = [step for name in ("e0", "e1", "e2") for step in (Send(name), Answered((name,)))]
    for group in range(GROUPS):
        names = [f"f{group}.{number}" for number in range(4)]
        waits = (1, 1, 1, 2 * MS)  # when the last one comes, the others have left the model
        behind = (step for name, ns in zip(names, waits, strict=True) for step in (Send(name, after_ns=ns), Entered(name)))
        steps += [Send(f"slow{group}", hold=f"gate{group}"), Entered(f"slow{group}"), *behind]
        steps += [Release(f"gate{group}"), Answered((f"slow{group}", *names))]
    return tuple(steps)


@pytest.mark.rule("DB-ORDER-003")
def test_answers_wait_for_earlier_ones(drive, judge):
    """With preserve_ordering, no batch is answered before an earlier one, even if another instance is faster"""
    timeline = drive(ORDERED, overtaken())
    if judge(timeline).passed and not slow(timeline):
        judge(drive(ORDERED, overtaken(MANY)))
        judge(drive(ORDERED_APART, overtaken_again_and_again()))


@pytest.mark.rule("DB-ORDER-004")
def test_order_holds_at_failure(drive, judge):
    """With preserve_ordering, a batch that raises keeps its turn, and later batches are answered"""
    judge(drive(ORDERED, overtaken(fail=True)))


@pytest.mark.rule("DB-ORDER-005")
def test_no_order_unasked(drive, judge):
    """Without preserve_ordering, a slow batch does not hold back the answers of a faster instance"""
    slow, fast = (Send("slow", hold="gate"), Entered("slow")), (Send("f0"), Answered(("f0",)))

    judge(drive(TWO_INSTANCES, (*slow, *fast, Send("f1", after_ns=50 * MS), Release("gate"))))


@pytest.mark.rule("DB-ORDER-006")
def test_ordered_load_is_answered(drive, judge, seed):
    """With preserve_ordering, every request of a long backlog gets its own answer"""
    judge(drive(ORDERED, arrivals(seed(), count=80, mean_gap_ns=1 * MS, work_ns=15 * MS)))


@pytest.mark.rule("DB-ORDER-007")
def test_misfit_is_not_overtaken(drive, judge):
    """A request that does not fit is not overtaken by a smaller one behind it"""
    judge(drive(FOUR, gated(*(Send(f"r{i}", rows=rows) for i, rows in enumerate((3, 2, 1, 3, 1) * 3)))))
