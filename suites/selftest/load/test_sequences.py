"""Load of sequences, in simulated time: who sends what, in which order, and what is left open."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import pytest

from batchproof.load.generation.lengths import Lengths
from batchproof.load.samples import UNANSWERED
from batchproof.load.sequences import Mix, Steps, keep_open, open_at_once, paced, play
from batchproof.load.traffic import Traffic
from batchproof.load.workload import MS, WORKS, Served, Work, serve
from batchproof.reference_batcher.config import BatcherConfig
from batchproof.reference_batcher.sequence_config import DIRECT, OLDEST, SequenceBatching
from batchproof.stats.arrays import NEVER
from batchproof.targets import resolve

if TYPE_CHECKING:
    from collections.abc import Iterator

    from batchproof.load.traffic import Asked

S = 1_000_000_000
SLOTS = 4
THREE = Mix("three", (Lengths(3),))
MIXED = Mix("mixed", (Lengths(1), Lengths(5)))


@pytest.fixture(params=(DIRECT, OLDEST))
def served(request: pytest.FixtureRequest) -> Iterator[Served]:
    """A simulated model of sequences with four slots, whose requests are kept."""
    sequence = SequenceBatching(strategy=request.param, max_sequence_idle_ns=20 * S)
    with serve(
        resolve("virtual"), WORKS["accelerator"], BatcherConfig(max_batch_size=SLOTS, sequence=sequence), wait_ns=S
    ) as one:
        one.traffic = Traffic(one.clock.now_ns)
        yield one


def by_sequence(asked: list[Asked]) -> dict[int | str, list[Asked]]:
    """Return the requests of each sequence in the order in which they were sent."""
    found: dict[int | str, list[Asked]] = {}
    for one in asked:
        found.setdefault(one.request.payload.sequence, []).append(one)
    return found


def check_each(asked: list[Asked]) -> None:
    """One START, at the beginning; one END, at the end; each step is sent after the answer to the last one."""
    for steps in by_sequence(asked).values():
        payloads = [one.request.payload for one in steps]
        assert [one.start for one in payloads] == [True] + [False] * (len(steps) - 1)
        assert [one.end for one in payloads] == [False] * (len(steps) - 1) + [True]
        assert all(after.sent_ns >= (before.answered_ns or NEVER) for before, after in pairwise(steps))


@pytest.mark.parametrize("sequences", [1, SLOTS, 3 * SLOTS])
def test_so_many_sequences_are_open(served: Served, sequences: int) -> None:
    """Every step is answered, nothing stays open, and more sequences than slots wait without harm."""
    run, filled = keep_open(served, THREE, sequences, seconds=3, wait_ns=S, seed=1)
    assert served.traffic
    asked = served.traffic.taken()

    assert run.valid
    assert set(run.samples.client.tolist()) == set(range(sequences))
    assert run.samples.count <= len(asked) <= run.samples.count + sequences
    check_each(asked)
    assert filled == pytest.approx(min(sequences, SLOTS), rel=0.06)


def test_the_next_run_finds_free_slots(served: Served) -> None:
    """A run that ends in the middle of sequences ends them: the next one is not made to wait."""
    rates = [keep_open(served, MIXED, SLOTS, seconds=2, wait_ns=S, seed=1)[0].throughput for _ in range(3)]

    assert min(rates) == pytest.approx(max(rates), rel=0.03)


def test_clients_take_their_lengths_by_turns(served: Served) -> None:
    """Sequences of one request alongside long ones."""
    keep_open(served, MIXED, 2, seconds=2, wait_ns=S, seed=1)
    assert served.traffic
    lengths = Counter(len(steps) for steps in by_sequence(served.traffic.taken()).values())

    assert set(lengths) - {1, 5} <= {2, 3, 4}
    assert sum(count for length, count in lengths.items() if 1 < length < 5) <= 1
    assert lengths[1] == pytest.approx(5 * lengths[5], abs=6)


def test_steps_are_due_at_their_pace(served: Served) -> None:
    """Latency counts from the due time, and the generator is not late because a step has waited for the one before it."""
    steps = paced(THREE, 2.0, 5, 5 * MS, seed=3)
    run, _ = play(served, steps, wait_ns=S)
    assert served.traffic
    check_each(served.traffic.taken())

    assert run.valid
    assert run.samples.count == 3 * steps.sequences == 30
    third = run.samples.latency_ns[steps.place == 2]
    assert third.min() >= 3 * 21 * MS - 2 * 5 * MS  # three runs of the model, begun 10 ms before the third step was due
    assert (np.diff(run.samples.scheduled_ns) >= 0).all()


def test_how_many_are_open_at_once() -> None:
    """A hand-made case: two sequences, one of which is open for all of the time and one for half of it."""
    from batchproof.load.schedule import Schedule

    ints = np.int64
    schedule = Schedule(np.array([0, 0, 5], ints), "by hand")
    steps = Steps(schedule, np.array([0, 1, 0], ints), np.array([0, 0, 1], ints), np.array([2, 1], ints))

    assert open_at_once(steps, np.array([1, 5, 10], ints)) == 1.5
    assert open_at_once(steps, np.array([1, NEVER, 10], ints)) is None


def test_a_refused_step_is_counted(served: Served) -> None:
    """A correlation ID that the model cannot have: nothing is answered, and the run says so."""
    submit = served.submit
    served.submit = lambda number, **asked: submit(number, **{**asked, "sequence": 0})  # type: ignore[method-assign]
    run, filled = play(served, paced(THREE, 2.0, 2, 50 * MS, seed=3), wait_ns=S)

    assert run.samples.outcomes() == {"invalid": run.samples.count}
    assert UNANSWERED not in run.samples.outcomes()
    assert filled is None
    assert not run.valid


def test_a_mix_has_a_mean() -> None:
    """The one of its parts, which are taken by turns."""
    assert MIXED.mean == 3
    assert MIXED.of_arrivals(4, seed=1).tolist() == [1, 5, 1, 5]
    assert Work("w", "a device").model == ""
