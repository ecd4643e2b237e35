"""Tests of how charts read raw samples: nothing in a file is run, and figures have the intervals of the bench."""

from __future__ import annotations

from typing import TYPE_CHECKING
from zipfile import ZipFile

import numpy as np
import pytest

from batchproof.load import samples as kept
from batchproof.load.runs import table
from batchproof.reports.plots import samples
from batchproof.reports.plots.samples import SamplesError
from batchproof.stats.arrays import NEVER
from batchproof.suites.selftest.reports.plots.benches import MS, keep

if TYPE_CHECKING:
    from pathlib import Path


def test_it_is_what_a_bench_keeps(tmp_path: Path) -> None:
    """The columns, their names, and the number that stands for an answer."""
    name = keep(tmp_path, "run", refused=3)
    found, same = samples.read(tmp_path, name), kept.Samples.load(tmp_path / name)

    assert kept.OUTCOMES[samples.ANSWERED] == kept.ANSWERED
    assert found.latency_ns.tolist() == same.latency_ns.tolist()
    assert found.latency_ns.tolist().count(NEVER) == 3


@pytest.mark.parametrize(
    "name", ["", None, 7, "samples/none.npz", "../x.npz", "/etc/passwd", "samples/../../x.npz", "samples"]
)
def test_only_files_among_the_samples_are_opened(tmp_path: Path, name: object) -> None:
    """A bench.jsonl from elsewhere may name any file."""
    keep(tmp_path, "run")
    keep(tmp_path.parent, "x")
    with pytest.raises(SamplesError):
        samples.read(tmp_path, name)


def test_a_file_that_would_fill_the_memory_is_not_unpacked(tmp_path: Path) -> None:
    """A few kilobytes can unpack to anything."""
    name = keep(tmp_path, "run")
    with ZipFile(tmp_path / name, "w", compression=8) as packed:
        packed.writestr("outcome.npy", b"\0" * (samples.MOST_BYTES + 1))
    with pytest.raises(SamplesError, match="more than 256 MiB"):
        samples.read(tmp_path, name)


def test_a_file_that_is_something_else_is_refused(tmp_path: Path) -> None:
    """Cut, not a zip, objects instead of numbers, columns of different lengths, a column that is missing."""
    name = keep(tmp_path, "run")
    path, columns = tmp_path / name, dict(np.load(tmp_path / name, allow_pickle=False))
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(SamplesError):
        samples.read(tmp_path, name)
    for wrong in (
        {**columns, "outcome": np.array([object()])},
        {**columns, "outcome": columns["outcome"][1:]},
        {**columns, "done_ns": columns["done_ns"] * 1.5},
        {"outcome": columns["outcome"]},
    ):
        np.savez(path, **wrong)
        with pytest.raises(SamplesError):
            samples.read(tmp_path, name)


def test_a_percentile_has_the_interval_that_the_bench_gives_it() -> None:
    """The same convention, the same number of independent requests."""
    latency_ns = np.random.default_rng(1).integers(10 * MS, 90 * MS, 3000)
    told = table(latency_ns)

    for percent, which in ((50, "p50"), (99, "p99")):
        assert samples.quantile(latency_ns, percent) == tuple(told[which][key] for key in ("ns", "low_ns", "high_ns"))
    assert samples.quantile(latency_ns[:0], 50) == (None, None, None)
    assert samples.quantile(np.full(9, NEVER), 50) == (None, None, None)


def test_the_throughput_of_even_batches_has_no_spread(tmp_path: Path) -> None:
    """Batches of 16 every 40 ms are 400/s: no part of the run begins in the middle of a batch."""
    done = np.repeat(np.arange(1, 61) * 40 * MS, 16)
    even = samples.Samples(done, done, done, np.zeros_like(done), np.zeros_like(done))
    value, low, high = samples.throughput(even, 2400 * MS)

    assert (value, low, high) == pytest.approx((400, 400, 400))
    assert samples.throughput(even.part(np.arange(960) < 9), 2400 * MS) == (None, None, None)


def test_goodput_is_a_share_of_what_is_offered(tmp_path: Path) -> None:
    """A refused request is not within any objective."""
    found = samples.read(tmp_path, keep(tmp_path, "run", requests=400, refused=100))
    value, low, high = samples.goodput(found, 20 * MS, 200.0)

    assert value == 150
    assert low is not None
    assert high is not None
    assert 0 < low < 150 < high <= 200
    assert samples.goodput(found, 19 * MS, 200.0)[0] == 0
