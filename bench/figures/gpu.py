"""Torch models on CUDA, as figures."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from batchproof.bench.measurements.gpu import Gpu, GpuModel
from batchproof.reports.figure_names import figure
from batchproof.reports.figures import Figure


def figures(found: Gpu) -> tuple[Figure, ...]:
    """Return the times and rates of each model at each batch size."""
    return tuple(one for name, model in found.models.items() for one in _of_model(name, model))


def _of_model(work: str, found: GpuModel) -> Iterator[Figure]:
    for point in found.points:
        at: dict[str, Any] = {"work": work, "rows": point.rows}
        yield figure("gpu.tau_ns", point.tau_ns, **at)
        yield figure("gpu.unpinned_tau_ns", point.unpinned_ns, **at)
        yield figure("gpu.rows_per_s", point.rows_per_s_1_stream, **at, streams=1)
        yield figure("gpu.rows_per_s", point.rows_per_s_2_streams, **at, streams=2)
    if found.gain is not None and (gain := found.gain.conclusion).estimate is not None:
        valid = not found.gain.reasons
        yield figure("gpu.gain", gain.estimate, low=gain.low, high=gain.high, n=gain.n, valid=valid, work=work)
