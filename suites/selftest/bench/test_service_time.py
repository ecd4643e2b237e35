"""A batch is timed in rounds for as long as more rounds are worth their time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from batchproof.bench import service_time

if TYPE_CHECKING:
    from collections.abc import Callable

    from batchproof.bench.measurement import Bench


def test_larger_batches_are_left_out_where_they_would_take_too_long() -> None:
    """If the sizes before it predict that a batch exceeds the limit, it is not started; rounds end in time."""
    asked: list[int] = []

    def execute(rows: int) -> tuple[int, int]:
        asked.append(rows)
        return rows * 10**8, rows * 10**8

    timed = service_time.in_rounds(execute, (1, 2, 4, 8, 16), rounds=9, longest_s=0.5, budget_s=3.0)

    assert [one.rows for one in timed] == [1, 2, 4]
    assert max(asked) == 4
    assert {len(one.inside_ns) for one in timed} == {2}  # 0.7 s a round, and the first two rounds were the warm-up


def test_uncertain_times_are_taken_again(bench: Callable[..., Bench]) -> None:
    """A size with times that spread is timed until its interval is narrow; a steady one is not timed again."""
    asked = dict.fromkeys(service_time.SIZES, 0)

    def execute(rows: int) -> tuple[int, int]:
        asked[rows] += 1
        took = 10**6 * (2 if rows == 4 and asked[rows] <= service_time.ROUNDS[1] and asked[rows] % 2 else 1)
        return took, took

    timed = {one.rows: one for one in service_time.timed(bench(), execute)}

    assert not timed[4].wide
    assert len(timed[4].inside_ns) > service_time.ROUNDS[1] == len(timed[8].inside_ns)
