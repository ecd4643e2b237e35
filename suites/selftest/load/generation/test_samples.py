"""What was measured of texts, by hand-made cases."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from batchproof.load.generation.samples import Objective, TextSamples
from batchproof.load.samples import OUTCOMES, UNANSWERED, Samples
from batchproof.stats.arrays import NEVER


def by_hand(due: list[int], done: list[int | None]) -> Samples:
    """Return requests that were sent at once; None: without an end."""
    ends = np.array([NEVER if one is None else one for one in done], np.int64)
    outcome = np.where(ends == NEVER, OUTCOMES.index(UNANSWERED), 0).astype(np.uint8)
    due_ns = np.array(due, np.int64)
    return Samples(due_ns, due_ns, ends, outcome, np.zeros(len(due), np.int32))


def text_samples() -> TextSamples:
    """Two requests: one due at 0 with tokens at 10, 20 and 40 (two of them), one due at 5 with a token at 20, and no end."""
    whole = by_hand([0, 5], [40, None])
    columns = [[0, 10], [10, 20, 20, 40], [0, 0, 1, 0], [1, 1, 1, 2]]
    return TextSamples(whole, *(np.array(one, np.int64) for one in columns))


def test_times_count_from_the_due_time() -> None:
    """TTFT and gaps are those of the hand-made case."""
    found = text_samples()

    assert found.ttft_ns.tolist() == [10, 15]
    assert found.latency_ns.tolist() == [40, NEVER]
    assert found.gap_ns.tolist() == [10, 20]
    assert found.longest_gap_ns.tolist() == [20, 0]
    assert found.tokens.tolist() == [4, 1]
    assert (found.tokens_by(20), found.tokens_by(40, 20)) == (3, 2)


def test_an_objective_is_kept_by_whole_texts_only() -> None:
    """The first token, every gap, and the end."""
    found = text_samples()

    assert found.within(Objective(10, 20)).tolist() == [True, False]
    assert found.within(Objective(9, 20)).tolist() == [False, False]
    assert found.within(Objective(10, 19)).tolist() == [False, False]


def test_gaps_are_in_the_order_of_time() -> None:
    """Gaps of several texts are those of one series, because what slows one iteration slows all that run in it."""
    columns = [[0, 0], [1, 2, 5, 7, 8], [1, 0, 0, 1, 0], [1] * 5]
    found = TextSamples(by_hand([0, 0], [9, 9]), *(np.array(one, np.int64) for one in columns))

    assert found.gap_ns.tolist() == [3, 6, 3]
    assert found.longest_gap_ns.tolist() == [3, 6]


def test_a_part_keeps_its_own_pieces() -> None:
    """The places of the requests that are left begin at 0 again."""
    found = text_samples().part(np.array([False, True]))

    assert (found.piece_ns.tolist(), found.piece_of.tolist()) == ([20], [0])
    assert found.ttft_ns.tolist() == [15]


def test_the_file_is_one_of_samples_too(tmp_path: Path) -> None:
    """Whatever reads samples reads these."""
    text_samples().save(tmp_path / "s.npz")

    assert Samples.load(tmp_path / "s.npz").scheduled_ns.tolist() == [0, 5]


def test_lateness_counts_from_when_it_could_be_sent() -> None:
    """A request that came in the middle of an iteration is sent when that ends, and the generator is not late."""
    whole = by_hand([0, 5], [40, 50])
    sent = Samples(whole.scheduled_ns, np.array([0, 12], np.int64), whole.done_ns, whole.outcome, whole.client)
    found = TextSamples(sent, *(np.array(one, np.int64) for one in ([0, 10], [], [], [])))

    assert found.whole.lag_ns.tolist() == [0, 7]
    assert found.sendable.lag_ns.tolist() == [0, 2]
