"""Without CUDA the measurement is skipped with a reason; its results are laid out without a device."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import pytest

from batchproof.bench.calibration import calibrated
from batchproof.bench.measurements import gpu
from batchproof.bench.tables.gpu import tables
from batchproof.load.workload import Skipped

if TYPE_CHECKING:
    from collections.abc import Callable

    from batchproof.bench.measurement import Bench


def test_without_cuda_the_gpu_is_skipped(bench: Callable[..., Bench], monkeypatch: pytest.MonkeyPatch) -> None:
    """The reason is given without the seconds that importing torch takes."""
    one = bench()
    monkeypatch.setattr(gpu.metadata, "version", lambda _: "9.9+cpu")
    with pytest.raises(Skipped, match=r"torch 9\.9\+cpu is built without CUDA"):
        gpu.measure(one, partial(calibrated, one))
    monkeypatch.setattr(gpu, "find_spec", lambda _: None)
    with pytest.raises(Skipped, match="not installed"):
        gpu.measure(one, partial(calibrated, one))


def test_a_result_has_its_knee_and_its_table() -> None:
    """A result has a knee when rows are faster together; a utilisation that is not known is shown as a dash."""
    points = tuple(gpu.GpuPoint(rows, 1_000_000 + 10_000 * rows, 2_000_000, 1.0, 2.0, None) for rows in gpu.SIZES)
    found = gpu.Gpu("a device", {"mlp": gpu.GpuModel(points)})

    (table,) = tables(found)

    assert found.facts()["models"]["mlp"]["knee"]["best"] == 128
    assert table.rows[0] == [1, 1.01, 2.0, 1.0, 2.0, None]
    assert "rows/s" in table.note
