"""The lookahead under test: remembering the head of the queue saves work and changes no decision."""

from __future__ import annotations

from typing import Any

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from batchproof.reference_batcher import BatcherConfig
from batchproof.reference_batcher.core import DynamicBatcher
from batchproof.reference_batcher.decisions import Dispatch, Entry, Wait
from batchproof.reference_batcher.lookahead import Lookahead

MS = 1_000_000
HOUR = 3_600_000 * MS
PROFILE = settings(
    max_examples=400, deadline=None, derandomize=True, database=None, print_blob=False,
    suppress_health_check=list(HealthCheck), phases=[Phase.generate, Phase.shrink],
)  # fmt: skip


@st.composite
def configs(draw: Any) -> BatcherConfig:
    """Configurations in which requests wait for company: sizes, delays, preferred sizes, levels and queue timeouts."""
    size, levels = draw(st.integers(1, 12)), draw(st.integers(0, 2))
    return BatcherConfig(
        max_batch_size=size, max_queue_delay_ns=draw(st.sampled_from([0, 4, 50])) * MS, instances=draw(st.integers(1, 2)),
        preferred_batch_size=tuple(draw(st.sets(st.integers(1, size), max_size=2))),
        priority_levels=levels, default_priority_level=min(levels, 1),
        queue_timeout_ns=draw(st.sampled_from([0, 0, 6])) * MS, timeout_action=draw(st.sampled_from(["REJECT", "DELAY"])),
        allow_timeout_override=True,
    )


ARRIVAL = st.tuples(st.just("arrive"), st.integers(1, 3), st.integers(0, 2), st.sampled_from([0, 0, 3]), st.integers(0, 9))
STEPS = st.lists(
    ARRIVAL | ARRIVAL | st.tuples(st.sampled_from(["cancel", "finish", "sleep"]), st.integers(0, 9)), max_size=60
)  # fmt: skip


class Remembered:
    """A core that follows a script of steps. forgets: it reads the queue from its front at every question."""

    def __init__(self, config: BatcherConfig, *, forgets: bool) -> None:
        self.core = DynamicBatcher(config)
        self.forgets = forgets
        self.now_ns = 0
        self.busy: list[int] = []
        self.decisions: list[Any] = []

    def step(self, what: str, number: int, *more: int) -> None:
        """Let one thing happen, and ask until the core waits."""
        match what:
            case "arrive":
                priority, timeout, shape = more
                self.core.enqueue(Entry(number, self.now_ns, len(self.decisions), priority, timeout * MS, shape == 0))
            case "cancel":
                for entry in [*self.core.queue][number : number + 1]:
                    self.core.cancel(entry)
            case "finish":
                for instance in self.busy[:1]:
                    self.busy.remove(instance)
                    self.core.finished(instance)
            case "sleep":
                self.now_ns += number * MS
        self._ask()

    def _ask(self) -> None:
        while True:
            if self.forgets:
                self.core.lookahead.forget()
            decision = self.core.poll(self.now_ns)
            match decision:
                case Wait():
                    self.decisions.append(decision)
                    return
                case Dispatch(instance, batch):
                    self.busy.append(instance)
                    self.decisions.append((self.now_ns, instance, [entry.item for entry in batch]))
                case rejected:
                    self.decisions.append((self.now_ns, [entry.item for entry in rejected.entries]))


@PROFILE
@given(configs(), STEPS)
def test_remembering_the_head_changes_no_decision(config: BatcherConfig, steps: list[Any]) -> None:
    """Whatever arrives, leaves, expires or is cancelled, the quick form and the plain form make the same decisions."""
    quick, plain = (Remembered(config, forgets=forgets) for forgets in (False, True))
    for step in steps:
        quick.step(*step)
        plain.step(*step)

    assert quick.decisions == plain.decisions


def test_a_stale_head_would_be_noticed(monkeypatch: Any) -> None:
    """The property can fail: a lookahead that does not check whether its head is still in front decides otherwise."""

    def stale(self: Any) -> Any:
        return self._head, iter([*self._queue][len(self._head.batch) :])

    monkeypatch.setattr(Lookahead, "resume", stale)
    config = BatcherConfig(max_batch_size=3, max_queue_delay_ns=HOUR)
    quick, plain = (Remembered(config, forgets=forgets) for forgets in (False, True))
    newcomer = ("arrive", 1, 0, 0, 1)
    for step in (newcomer, newcomer, ("cancel", 0), newcomer, newcomer):
        quick.step(*step)
        plain.step(*step)

    assert quick.decisions != plain.decisions


class Counted(Entry):
    """An entry that counts how often its rows are read."""

    asked = 0

    def __getattribute__(self, name: str) -> Any:
        if name == "rows":
            Counted.asked += 1
        return super().__getattribute__(name)


def looks(size: int) -> int:
    """Return how often the core reads an entry's rows while a batch of `size` fills up under a queue delay."""
    core = DynamicBatcher(BatcherConfig(max_batch_size=size, max_queue_delay_ns=HOUR))
    Counted.asked = 0
    for number in range(size):
        core.enqueue(Counted(1, number, None))
        decision = core.poll(number)
    assert isinstance(decision, Dispatch)
    return Counted.asked


def test_a_batch_that_fills_up_is_not_counted_anew_by_each_arrival() -> None:
    """The work of filling a batch grows with its size, and not with the square of it."""
    assert looks(256) <= 4 * looks(64) + 64


def test_a_head_that_changed_is_counted_anew() -> None:
    """What was remembered of a waiting head is forgotten when a member leaves or another request overtakes it."""
    levels = {"priority_levels": 2, "default_priority_level": 2}
    core = DynamicBatcher(BatcherConfig(max_batch_size=3, max_queue_delay_ns=HOUR, **levels))
    first, second, urgent, last = (Entry(1, 0, name, 1 if name == "urgent" else 2) for name in ("a", "b", "urgent", "c"))
    for entry in (first, second):
        core.enqueue(entry)
        assert core.poll(0) == Wait(HOUR)
    core.cancel(first)
    core.enqueue(urgent)
    assert core.poll(0) == Wait(HOUR)
    core.enqueue(last)

    assert core.poll(0) == Dispatch(0, (urgent, second, last))
