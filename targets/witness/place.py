"""Where an execution ran, as one number in place of the instance: version, process, instance group and instance.

A reloaded model runs in new processes, so executions of the old and the new model are always distinguishable. This file is
copied into other processes, as `probe.py` is.
"""

from __future__ import annotations

from typing import NamedTuple

PROCESS_BITS, GROUP_BITS, NUMBER_BITS = 32, 6, 8


class Place(NamedTuple):
    """The model's version, the process that ran it, the instance group, and the instance's number in that group."""

    version: int
    process: int
    group: int
    number: int

    def pack(self) -> int:
        """Return it as one number, an int of at most 63 bits if the version is below 2 ** 17."""
        return ((self.version << PROCESS_BITS | self.process) << GROUP_BITS | self.group) << NUMBER_BITS | self.number


def unpack(number: int) -> Place:
    """Return the Place that was packed into a number."""
    rest, instance = divmod(number, 1 << NUMBER_BITS)
    rest, group = divmod(rest, 1 << GROUP_BITS)
    version, process = divmod(rest, 1 << PROCESS_BITS)
    return Place(version, process, group, instance)
