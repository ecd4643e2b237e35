"""The yardsticks of the host as figures."""

from batchproof.bench.figures.host import figures
from batchproof.host.yardstick import Yardstick


def test_they_are_medians_with_bounds():
    """A single outlier moves nothing."""
    compute, handover = figures(Yardstick((10,) * 60 + (500,), tuple(range(1, 102))), "before")

    assert (compute.id, compute.value, compute.low, compute.high) == ("host.compute_ns[when=before]", 10, 10, 10)
    assert (handover.id, handover.value) == ("host.handover_ns[when=before]", 51)
    assert handover.low is None or handover.low < 51
