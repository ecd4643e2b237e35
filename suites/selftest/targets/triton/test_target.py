"""What a Triton is asked before any rule drives it."""

from __future__ import annotations

from itertools import chain
from typing import Any

import pytest

from batchproof.targets.triton.target import warm_up_calls

PLAIN = {"max_batch_size": 4, "input": [{"name": "IN"}, {"name": "EXTRA"}]}
DIRECT = {"max_batch_size": 2, "input": [{"name": "IN"}], "sequence_batching": {}, "instance_group": [{"count": 3}]}
OLDEST = {**DIRECT, "sequence_batching": {"oldest": {"max_candidate_sequences": 5}}}
PREFERS = {**OLDEST, "max_batch_size": 8, "sequence_batching": {"oldest": {"max_candidate_sequences": 7,
                                                                          "preferred_batch_size": [2, 3, 8]}}}  # fmt: skip


@pytest.mark.parametrize(("config", "count"), [(PLAIN, 3), (DIRECT, 6), (OLDEST, 12), (PREFERS, 18)])
def test_no_two_requests_are_the_same(config: dict[str, Any], count: int) -> None:
    """A response cache would answer the second one, and an answer from the cache changes what comes after it."""
    requests = [*chain.from_iterable(warm_up_calls(config))]

    assert len({request.tensor().tobytes() for request in requests}) == len(requests) == count


def test_a_batch_is_full() -> None:
    """It leaves at once, whatever the delay: one request of as many rows, or one of each slot at the same time."""
    assert [[(one.payload.rows, one.payload.extra) for one in call] for call in warm_up_calls(PLAIN)] == [[(4, 1)]] * 3
    assert [[one.payload.sequence for one in call] for call in warm_up_calls(DIRECT)] == [[1, 2, 3, 4, 5, 6]]
