"""The report folder of a bench under test: raw samples are kept alongside its report."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from batchproof.bench.record import Record
from batchproof.load.samples import Samples
from batchproof.load.workload import MS

if TYPE_CHECKING:
    from pathlib import Path


def test_samples_are_kept(tmp_path: Path) -> None:
    """They are kept raw and as a histogram, and those of an earlier bench in the same folder are removed."""
    histogram = pytest.importorskip("hdrh.histogram").HdrHistogram
    ns = np.arange(10, dtype=np.int64) * MS
    samples = Samples(ns, ns, ns + 5 * MS, np.zeros(10, np.uint8), np.zeros(10, np.int32))

    record = Record(tmp_path)
    path = record.samples("a/b", samples)
    record.writer.close()

    assert (Samples.load(tmp_path / path).done_ns == samples.done_ns).all()
    read = histogram.decode((tmp_path / path).with_suffix(".hdr").read_text().strip())
    assert read.get_value_at_percentile(99) == pytest.approx(5 * MS, rel=0.001)
    Record(tmp_path).writer.close()
    assert list((tmp_path / "samples").iterdir()) == []
