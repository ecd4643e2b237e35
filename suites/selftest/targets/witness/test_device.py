"""A device of set speed: an iteration ends at its time."""

from __future__ import annotations

import time

from batchproof.targets.witness.device import Device

MS = 1_000_000


def test_an_iteration_takes_its_base_and_a_part_for_each_token() -> None:
    """Without settings it takes no time."""
    device = Device()
    assert device.until_ns(7, 100) == 7

    device.set(10 * MS, MS)
    assert device.until_ns(7, 100) == 7 + 110 * MS


def test_it_is_not_over_before_its_time() -> None:
    """What is over already is not waited for."""
    enter_ns = time.monotonic_ns()
    Device(2 * MS, MS).pace(enter_ns, 3)
    assert time.monotonic_ns() >= enter_ns + 5 * MS

    Device(2 * MS, MS).pace(enter_ns, 3)
