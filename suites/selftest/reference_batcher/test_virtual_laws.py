"""The reference batcher under any schedule, in virtual time: laws that hold for every plan."""

from __future__ import annotations

from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from batchproof.reference_batcher import BatcherConfig, Closed, Expired, Oversize
from batchproof.reference_batcher.core import DynamicBatcher
from batchproof.reference_batcher.decisions import Dispatch, Entry, Reject, Wait
from batchproof.reference_batcher.virtual import VirtualBatcher, VirtualClock

MS = 1_000_000
HOUR = 3_600_000 * MS
PROFILE = settings(max_examples=200, database=None, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@dataclass(frozen=True)
class Plan:
    """A schedule: the configuration, each request as (gap, rows, raises), the work of a batch, and when it is closed."""

    config: BatcherConfig
    requests: tuple[tuple[int, int, bool], ...]
    work: tuple[int, ...]
    close_after: int | None


@st.composite
def plans(draw: st.DrawFn) -> Plan:
    """Small numbers of milliseconds, so that arrivals, delays, timeouts and ends of batches often coincide."""
    size = draw(st.integers(1, 8))
    config = BatcherConfig(
        max_batch_size=size, max_queue_delay_ns=draw(st.integers(0, 6)) * MS, instances=draw(st.integers(1, 3)),
        queue_timeout_ns=draw(st.sampled_from([0, 0, 1, 3, 7])) * MS,
    )
    one = st.tuples(st.integers(0, 3), st.just(1) | st.integers(1, size + 1), st.sampled_from([False] * 9 + [True]))
    requests = draw(st.lists(one, min_size=1, max_size=14).map(tuple))
    work = draw(st.lists(st.integers(0, 9), min_size=1, max_size=4).map(tuple))
    return Plan(config, requests, work, draw(st.none() | st.integers(0, len(requests))))


@dataclass
class Batch:
    """A batch that the virtual shell ran: which requests, on which instance, when."""

    instance: int
    members: tuple[int, ...]
    start_ns: int
    end_ns: int = 0


@dataclass
class History:
    """What happened to a plan. came, done: times by request; how: a result or an exception by request."""

    plan: Plan
    batches: list[Batch] = field(default_factory=list)
    came: dict[int, int] = field(default_factory=dict)
    done: dict[int, int] = field(default_factory=dict)
    how: dict[int, Any] = field(default_factory=dict)
    closed_ns: int | None = None

    def rows(self, number: int) -> int:
        """Return how many rows a request has."""
        return self.plan.requests[number][1]

    def accepted(self) -> list[int]:
        """Return the requests that were neither too large nor too late, in the order in which they came."""
        return [number for number in self.came if not isinstance(self.how[number], Oversize | Closed)]

    def busy_before(self, now_ns: int) -> int:
        """Return how many instances were busy just before this time."""
        return sum(batch.start_ns < now_ns <= batch.end_ns for batch in self.batches)

    def behind(self, batch: Batch) -> list[int]:
        """Return what was in the queue when this batch had left, or came at that very time."""
        return [n for n in self.accepted() if n > batch.members[-1] and self.came[n] <= batch.start_ns]

    def due_ns(self, batch: Batch) -> int:
        """Return when this batch was due: its delay was over, or it was full, or the batcher was closing."""
        first, last, config = batch.members[0], batch.members[-1], self.plan.config
        moments = [self.came[first] + config.max_queue_delay_ns]
        rows, behind = sum(map(self.rows, batch.members)), self.behind(batch)
        if rows == config.max_batch_size:
            moments.append(self.came[last])
        elif behind and rows + self.rows(behind[0]) > config.max_batch_size:
            moments.append(self.came[behind[0]])
        if self.closed_ns is not None:
            moments.append(max(self.closed_ns, self.came[last]))
        return min(moments)


def lived(plan: Plan) -> History:
    """Run the plan under the simulated clock."""
    clock, history = VirtualClock(), History(plan)

    def service(instance: int, entries: Any, finish: Any) -> None:
        members = tuple(int(entry.item.inputs[0][0]) for entry in entries)
        batch = Batch(instance, members, clock.now_ns())
        history.batches.append(batch)

        def model(rows: Any) -> Any:
            batch.end_ns = clock.now_ns()
            if any(plan.requests[number][2] for number in members):
                raise RuntimeError(members)
            return [(number, row, "served") for number, row in rows]

        work_ns = plan.work[len(history.batches) % len(plan.work)] * MS
        clock.at(clock.now_ns() + work_ns, lambda: finish(model))

    batcher = VirtualBatcher(plan.config, service, clock)

    def submit(number: int, rows: int) -> None:
        history.came[number] = clock.now_ns()
        future = batcher.submit([(number, row) for row in range(rows)])

        def settled(done: Future[Any]) -> None:
            assert number not in history.done
            history.done[number] = clock.now_ns()
            history.how[number] = done.exception() or done.result()

        future.add_done_callback(settled)

    def close() -> None:
        history.closed_ns = clock.now_ns()
        batcher.close()

    for number, (gap, rows, _) in enumerate(plan.requests):
        if number == plan.close_after:
            close()
        clock.sleep_until_ns(clock.now_ns() + gap * MS)
        submit(number, rows)
    clock.sleep_until_ns(clock.now_ns() + HOUR)
    return history


@PROFILE
@given(plans())
def test_any_schedule_keeps_the_laws(plan: Plan) -> None:
    """Every request is settled once, in order, within the size.

    None that is due waits while an instance is idle, or leaves early.
    """
    history = lived(plan)
    config, requests = plan.config, range(len(plan.requests))
    executed = [number for batch in history.batches for number in batch.members]
    ended = {kind: [n for n in requests if isinstance(history.how.get(n), kind)] for kind in (Oversize, Closed, Expired)}

    assert sorted(history.done) == list(requests), "every request is settled"
    assert executed == sorted(set(executed)), "each at most once, first come first served"
    assert sorted([*executed, *ended[Oversize], *ended[Closed], *ended[Expired]]) == list(requests), "served or refused"
    assert {sum(map(history.rows, batch.members)) <= config.max_batch_size for batch in history.batches} <= {True}
    assert ended[Closed] == [n for n in requests if plan.close_after is not None and n >= plan.close_after]
    assert ended[Oversize] == [n for n in requests if history.rows(n) > config.max_batch_size and n not in ended[Closed]]
    assert [(n, history.done[n] - history.came[n]) for n in ended[Expired]] == [
        (n, config.queue_timeout_ns + 1) for n in ended[Expired]
    ], "the moment the timeout is over"
    for batch in history.batches:
        poisoned = any(plan.requests[n][2] for n in batch.members)
        for n in batch.members:
            how, own = history.how[n], [(n, row, "served") for row in range(history.rows(n))]
            right = getattr(how, "args", None) == (batch.members,) if poisoned else how == own
            assert right, "its own rows, or its own batch's error"
            assert history.done[n] == batch.end_ns
            assert not config.queue_timeout_ns or batch.start_ns - history.came[n] <= config.queue_timeout_ns
        due_ns = history.due_ns(batch)
        room = config.max_batch_size - sum(map(history.rows, batch.members))
        left = [n for n in history.behind(batch)[:1] if history.came[n] < batch.start_ns]
        assert all(history.rows(n) > room for n in left), "whoever fits travels along"
        late = batch.start_ns > due_ns
        assert batch.start_ns >= due_ns, "not before it is due"
        assert not late or history.busy_before(batch.start_ns) == config.instances, "no instance is idle"


@settings(PROFILE, max_examples=60)
@given(plans(), st.integers(0, 12))
def test_a_wait_tells_the_truth(plan: Plan, later: int) -> None:
    """A core that says "wait until t" has nothing to do before t and something at t, and asking changes nothing."""
    core, now_ns = DynamicBatcher(plan.config), 0
    for gap, rows, _ in plan.requests:
        now_ns += gap * MS
        core.enqueue(Entry(rows, now_ns, None))
    now_ns += later * MS

    while not isinstance(decision := core.poll(now_ns), Wait):
        assert isinstance(decision, Dispatch | Reject)

    queue = list(core.queue)
    assert core.poll(now_ns) == decision
    assert list(core.queue) == queue
    if decision.until_ns is None:
        assert core.poll(now_ns + HOUR) == decision
    else:
        assert decision.until_ns > now_ns
        assert isinstance(core.poll(decision.until_ns - 1), Wait)
        assert not isinstance(core.poll(decision.until_ns), Wait)
