"""The yardsticks of the host: they measure, and their loop is always the same work."""

from batchproof.host import yardstick as module
from batchproof.host.yardstick import HANDOVERS, SLICES, yardstick


def test_both_are_measured():
    """Every execution takes some time, and none of the threads is left."""
    found = yardstick()

    assert (len(found.compute_ns), len(found.handover_ns)) == (SLICES, HANDOVERS)
    assert min(found.compute_ns) > 0
    assert min(found.handover_ns) > 0


def test_the_work_stays_the_same():
    """Another loop would make figures of old reports mean something else."""
    assert (module._loop(), module.TURNS) == (3_499_073_393, 20_000)
