"""A model that stands for a device."""

from __future__ import annotations

import numpy as np

from batchproof.bench.peers.device import Device

PAYLOAD = np.zeros((1, 8), np.int64)


def test_the_device_is_never_early() -> None:
    """A device keeps a batch for its time at least, and says what it really was."""
    device = Device(2_000_000)

    assert device(PAYLOAD) is PAYLOAD
    assert (device.batches, device.rows) == (1, 1)
    assert device.took_ns() >= 2_000_000
