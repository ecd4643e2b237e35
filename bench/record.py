"""The report folder of a bench: bench.jsonl, whose format is in `reports/formats`, and the raw samples."""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from batchproof.host.awake import kept_awake
from batchproof.load.hdr import MissingPackage, encoded
from batchproof.reports.formats.bench import BenchWriter
from batchproof.reports.formats.jsonl import prepared

if TYPE_CHECKING:
    from batchproof.bench.result import Result
    from batchproof.bench.tables.table import Table
    from batchproof.reports.figures import Figure
    from batchproof.stats.arrays import Ints

SAMPLES = "samples"


class Raw(Protocol):
    """Samples of a run: `load.samples.Samples`, or what has more columns."""

    @property
    def latency_ns(self) -> Ints:
        """From the due time to the answer; NEVER without one."""

    def save(self, path: Path) -> None:
        """Write an .npz."""


class Record:
    """Owns the report folder of one bench. writer: writes its bench.jsonl, which is truncated without a footer."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        with prepared(folder, "bench"):
            folder.mkdir(parents=True, exist_ok=True)
            shutil.rmtree(folder / SAMPLES, ignore_errors=True)  # they belong to an earlier bench
            (folder / SAMPLES).mkdir()
            for derived in ("bench.md", "report.html", "server.log"):
                (folder / derived).unlink(missing_ok=True)
        self.writer = BenchWriter(folder, awake=kept_awake())

    def measurement(
        self,
        name: str,
        question: str,
        word: str,
        seconds: float,
        result: Result,
        tables: Iterable[Table],
        figures: Iterable[Figure] = (),
    ) -> None:
        """Write how a measurement ended, in a word, and what it found."""
        about = {"question": question, "word": word, "seconds": seconds}
        shown = {"tables": [one.facts() for one in tables], "figures": [one.facts() for one in figures]}
        self.writer.measurement(name, {**about, **result.facts(), **shown})

    def samples(self, name: str, samples: Raw) -> str:
        """Keep a run's raw samples as .npz (and its latencies as an HdrHistogram where hdrhistogram is installed).

        Return the path of the .npz within the report folder.
        """
        path = f"{SAMPLES}/{_file_name(name)}.npz"
        with contextlib.suppress(OSError):  # a full disk costs the raw samples, not the figures
            samples.save(self.folder / path)
            _histogram(samples, self.folder / path)
        return path

    def keep(self, name: str, text: str) -> None:
        """Write a text next to bench.jsonl, unless it is empty."""
        if text:
            (self.folder / name).write_text(text, encoding="utf-8")


def _histogram(samples: Raw, path: Path) -> None:
    """Write answered latencies as a histogram in base64, format V2, which the tools of HdrHistogram read."""
    with contextlib.suppress(MissingPackage):
        path.with_suffix(".hdr").write_text(encoded(samples.latency_ns) + "\n", encoding="ascii")


def _file_name(name: str) -> str:
    return "".join(letter if letter.isalnum() or letter in "-_." else "-" for letter in name)
