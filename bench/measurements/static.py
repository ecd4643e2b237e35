"""Static batching: what a batch of b rows takes, alone on the model, and where larger ones stop paying."""

from __future__ import annotations

from batchproof.bench.calibration import Calibrate
from batchproof.bench.each_work import measured, summed_up
from batchproof.bench.measurement import Bench
from batchproof.bench.result import Result


def measure(bench: Bench, calibrate: Calibrate) -> Result:
    """Measure the curve of each work."""
    return summed_up(measured(bench.works, calibrate))
