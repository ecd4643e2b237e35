"""The first calls to a witness model."""

from __future__ import annotations

from concurrent.futures import Future
from itertools import chain
from typing import TYPE_CHECKING, Any

import pytest

from batchproof.targets.triton.warm_up import warm_up, warm_up_calls

if TYPE_CHECKING:
    from batchproof.targets.protocol import Request, Response

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


def test_a_sequence_that_is_left_alone_gets_company() -> None:
    """A batch left before the last sequence had come: another one is sent, and both leave. Nothing waits for an hour."""
    sent: list[Future[Response]] = []
    ids: list[object] = []

    def submit(request: Request) -> Future[Response]:
        sent.append(Future())
        ids.append(request.payload.sequence)
        leaving = sent[:5] if len(sent) == 5 else sent[5:] if len(sent) == 7 else []
        for future in leaving:
            future.set_result(None)  # type: ignore[arg-type]
        return sent[-1]

    warm_up("witness", DIRECT, submit, text_ids=False)

    assert ids == [1, 2, 3, 4, 5, 6, 7]
    assert all(future.done() for future in sent)
