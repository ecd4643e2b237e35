"""Samples come back from their files, other files are refused, and a histogram agrees with its samples."""

from __future__ import annotations

import numpy as np
import pytest

from batchproof.load.hdr import histogram
from batchproof.load.samples import Samples, SamplesError
from batchproof.stats.arrays import NEVER
from batchproof.stats.percentile import percentile
from batchproof.suites.selftest.samples import late_by, samples


def test_samples_come_back_from_a_file(tmp_path):
    kept = late_by(0.5, 3)
    kept.save(tmp_path / "a.npz")
    again = Samples.load(tmp_path / "a.npz")
    for name in ("scheduled_ns", "sent_ns", "done_ns", "outcome", "client"):
        assert (getattr(again, name) == getattr(kept, name)).all()
    assert kept.part(kept.lag_ns > 0).count == 500


def test_a_file_that_holds_no_samples_is_refused(tmp_path):
    path = tmp_path / "a.npz"
    for content in (b"", b"PK\x03\x04nonsense", b"x" * 100):
        path.write_bytes(content)
        with pytest.raises(SamplesError):
            Samples.load(path)
    np.savez(path, scheduled_ns=np.array([object()], dtype=object))
    with pytest.raises(SamplesError):
        Samples.load(path)
    np.savez(path, **{**vars(samples(3)), "outcome": np.full(3, 200, np.uint8)})
    with pytest.raises(SamplesError, match="outcome 200"):
        Samples.load(path)
    with pytest.raises(SamplesError, match="sent_ns must be int64"):
        samples(3, sent_ns=np.zeros(2, np.int64))


def test_a_histogram_is_the_samples_to_a_thousandth():
    pytest.importorskip("hdrh")
    from hdrh.histogram import HdrHistogram

    values = (np.random.default_rng(3).standard_exponential(20_000) * 5e6).astype(np.int64) + 1000
    made = histogram(np.append(values, [NEVER, NEVER]))
    again = HdrHistogram.decode(made.encoded)
    assert (made.count, made.left_out, again.get_total_count()) == (20_000, 2, 20_000)
    for percent in (50, 90, 99, 99.9, 100):
        assert again.get_value_at_percentile(percent) == pytest.approx(percentile(values, percent), rel=1e-3)
    assert made.text.split() [:4] == ["Value", "Percentile", "TotalCount", "1/(1-Percentile)"]
