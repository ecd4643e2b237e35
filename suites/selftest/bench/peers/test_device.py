"""A model that stands in for a device."""

from __future__ import annotations

import numpy as np

from batchproof.bench.peers.device import Device

PAYLOAD = np.zeros((1, 8), np.int64)


def test_the_device_is_never_early() -> None:
    """A device keeps a batch for at least its time, and reports how long it really took."""
    device = Device(2_000_000)

    assert device(PAYLOAD) is PAYLOAD
    assert (device.batches, device.rows) == (1, 1)
    assert device.took_ns() >= 2_000_000
