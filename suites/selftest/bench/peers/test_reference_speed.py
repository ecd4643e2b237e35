"""The reference batcher's speed is shown against what the device could do."""

from __future__ import annotations

from batchproof.bench.peers import reference_speed as speed


def test_saturation_is_compared_with_both_limits() -> None:
    """The share of the limit is never above the share of what the device did, nor much above 1."""
    row = speed.saturation(1_000_000, 4, 0.2)

    assert row["limit_per_s"] == 4000
    assert 0 < row["share"] <= row["share_of_device"] + 1e-9
    assert row["mean_batch"] > 2
    assert row["share_of_device"] < 1.3  # the last answers come while nothing is sent any more


def test_a_request_that_waits_costs_something() -> None:
    """The time of waiting threads is counted, once for each of their requests."""
    row = speed.waiting_clients(2, 2, 0.1)

    assert row["requests"] > 0
    assert row["p50_us"] <= row["p99_us"]
