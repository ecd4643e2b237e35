"""Configurations that fit: the smallest values that a stack can have, and what it cannot have at all."""

from __future__ import annotations

from typing import Any

import pytest

from batchproof.reference_batcher import BatcherConfig
from batchproof.targets.fitting import deployable, fitted

MS = 1_000_000
DELAYED = {"delay": True}
STAGED = {"delay": True, "late_binding": False}


@pytest.mark.parametrize(
    ("claims", "gathered_ms", "asked", "deployed"),
    [
        ({}, 0, (4, 0), (4, 0)),
        (DELAYED, 7, (4, 0), (4, 0)),
        ({"smallest_batch": 6}, 0, (4, 0), (6, 0)),
        ({"smallest_batch": 2}, 0, (4, 0), (4, 0)),
        ({**DELAYED, "smallest_delay_ms": 5}, 0, (4, 1), (4, 5)),
        ({**DELAYED, "smallest_delay_ms": 5}, 0, (4, 200), (4, 200)),
        ({**DELAYED, "smallest_delay_ms": 5}, 0, (4, 0), (4, 5)),
        ({"smallest_delay_ms": 5}, 0, (4, 0), (4, 0)),
        ({**DELAYED, "zero_delay": "default"}, 0, (4, 0), (4, 10)),
        ({**DELAYED, "zero_delay": "default", "smallest_delay_ms": 1}, 0, (4, 0), (4, 1)),
        ({**DELAYED, "batches_without_delay": False}, 0, (4, 0), (4, 0)),
        ({**DELAYED, "batches_without_delay": False}, 7, (4, 0), (4, 10)),
        ({"batches_without_delay": False}, 7, (4, 0), (4, 0)),
        ({**DELAYED, "batches_without_delay": False}, 200, (4, 0), (4, 10)),
        ({**STAGED, "batches_without_delay": False}, 200, (4, 0), (4, 200)),
        ({**STAGED, "batches_without_delay": False}, 7, (4, 0), (4, 10)),
        ({**STAGED, "batches_without_delay": False}, 0, (4, 0), (4, 0)),
        ({**STAGED, "batches_without_delay": False}, 200, (4, 50), (4, 50)),
        ({**STAGED, "zero_delay": "default"}, 200, (4, 0), (4, 200)),
        (STAGED, 200, (4, 0), (4, 200)),
        (STAGED, 0, (4, 0), (4, 0)),
    ],
)
def test_the_smallest_value_is_deployed(
    claims: dict[str, Any], gathered_ms: int, asked: tuple[int, int], deployed: tuple[int, int]
) -> None:
    """A size or delay that is too small becomes the smallest there is; all others stay as they are. Delays are in ms."""
    config = BatcherConfig(max_batch_size=asked[0], max_queue_delay_ns=asked[1] * MS)

    found = fitted(config, claims, gathered_ns=gathered_ms * MS)

    assert (found.max_batch_size, found.max_queue_delay_ns) == (deployed[0], deployed[1] * MS)
    assert fitted(found, claims, gathered_ns=gathered_ms * MS) == found


@pytest.mark.parametrize(("smallest_ms", "gathered_ms", "deployed_ms"), [(5, 0, 5), (5, 7, 10), (20, 7, 20)])
def test_a_batch_can_be_gathered(smallest_ms: int, gathered_ms: int, deployed_ms: int) -> None:
    """A delay that stands in for none leaves time to gather what waits at the same time, if that is asked for."""
    claims = {**DELAYED, "smallest_delay_ms": smallest_ms}

    found = fitted(BatcherConfig(), claims, gathered_ns=gathered_ms * MS, least_ns=10 * MS)

    assert found.max_queue_delay_ns == deployed_ms * MS


def test_a_delay_is_whole_microseconds() -> None:
    """A claim may have any number of milliseconds, and a configuration may not."""
    found = fitted(BatcherConfig(), {**DELAYED, "smallest_delay_ms": 0.0015})

    assert found.max_queue_delay_ns == 2_000


@pytest.mark.parametrize(
    ("claims", "config", "lack"),
    [
        ({}, BatcherConfig(max_batch_size=1), ""),
        ({"smallest_batch": 2}, BatcherConfig(max_batch_size=1), "a batch of one"),
        ({"smallest_batch": 8}, BatcherConfig(max_batch_size=4), "a max_batch_size of 4"),
        ({**DELAYED, "smallest_delay_ms": 5}, BatcherConfig(), "a queue delay of 0"),
        ({**DELAYED, "zero_delay": "default"}, BatcherConfig(), "a queue delay of 0"),
        ({**DELAYED, "smallest_delay_ms": 5}, BatcherConfig(max_queue_delay_ns=1500_000), "a queue delay of 1.5 ms"),
        ({**DELAYED, "smallest_delay_ms": 5000}, BatcherConfig(max_queue_delay_ns=2_000 * MS), "a queue delay of 2 s"),
        ({}, BatcherConfig(max_queue_size=3), "a queue limit"),
        ({}, BatcherConfig(max_queue_delay_ns=MS), ""),
    ],
)
def test_what_cannot_be_had_is_named(claims: dict[str, Any], config: BatcherConfig, lack: str) -> None:
    """The value is in the words. A delay that is not claimed may be there all the same."""
    assert deployable(config, claims) == lack
