"""Writes `bench.jsonl` line by line while a bench goes on, and the raw samples beside it."""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from batchproof.host.awake import kept
from batchproof.load.hdr import MissingPackage, encoded
from batchproof.reports.writing import Lines, prepared

if TYPE_CHECKING:
    from batchproof.bench.measurement import Result
    from batchproof.bench.tables.table import Table
    from batchproof.load.samples import Samples

FORMAT = 1
FILE = "bench.jsonl"
SAMPLES = "samples"


class Record:
    """The folder of one bench: a header, a line for each measurement, a footer. Without a footer it is truncated."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.names: list[str] = []
        with prepared(folder, "bench"):
            folder.mkdir(parents=True, exist_ok=True)
            shutil.rmtree(folder / SAMPLES, ignore_errors=True)  # they belong to an earlier bench
            (folder / SAMPLES).mkdir()
            for derived in ("bench.md", "server.log"):
                (folder / derived).unlink(missing_ok=True)
            self._lines = Lines(folder / FILE, FORMAT, _plain, awake=kept())

    def header(self, **fields: Any) -> None:
        """Write the first line."""
        self._lines.header(**fields)

    def measurement(
        self, name: str, question: str, word: str, seconds: float, result: Result, tables: Iterable[Table]
    ) -> None:
        """Write how a measurement ended, in a word, and what it found."""
        self.names.append(name)
        about = {"measurement": name, "question": question, "word": word, "seconds": seconds}
        self._lines.write(type="measurement", **about, **result.facts(), tables=[one.facts() for one in tables])

    def footer(self, exit_status: int, *, complete: bool, reason: str) -> None:
        """Write the last line: without it the bench is truncated."""
        self._lines.footer(exit_status, complete=complete, reason=reason, names=self.names)

    def close(self) -> None:
        """End without a footer, if none was written: the bench stays truncated. Safe to call twice."""
        self._lines.close()

    def samples(self, name: str, samples: Samples) -> str:
        """Keep a run's raw samples as .npz (and its latencies as an HdrHistogram where hdrhistogram is installed).

        Return the path of the .npz within the report folder.
        """
        path = f"{SAMPLES}/{_file_name(name)}.npz"
        with contextlib.suppress(OSError):  # a full disk costs the raw samples, not the figures
            samples.save(self.folder / path)
            _histogram(samples, self.folder / path)
        return path

    def keep(self, name: str, text: str) -> None:
        """Write a text beside the bench; nothing if it is empty."""
        if text:
            (self.folder / name).write_text(text, encoding="utf-8")


def _histogram(samples: Samples, path: Path) -> None:
    """Write answered latencies as a histogram in base64, format V2, which the tools of HdrHistogram read."""
    with contextlib.suppress(MissingPackage):
        path.with_suffix(".hdr").write_text(encoded(samples.latency_ns) + "\n", encoding="ascii")


def _plain(value: Any) -> Any:
    """Numpy's numbers as Python's; anything else as text."""
    return value.item() if hasattr(value, "item") else str(value)


def _file_name(name: str) -> str:
    return "".join(letter if letter.isalnum() or letter in "-_." else "-" for letter in name)
