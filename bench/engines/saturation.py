"""An engine's highest throughput, against what a device of its speed allows."""

from __future__ import annotations

from batchproof.bench.each_work import measured, summed_up
from batchproof.bench.engines.calibration import Calibrate
from batchproof.bench.measurement import Bench
from batchproof.bench.result import Result


def measure(bench: Bench, calibrate: Calibrate) -> Result:
    """Saturate each work."""
    return summed_up(measured(bench.works, calibrate))
