"""bench.jsonl: one bench of one target. Read, checked against itself, and written line by line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from batchproof.reports.formats.jsonl import Line, LineWriter, ReportError, lines, opened, prepared, target_name

NAME = "bench"
FILE = f"{NAME}.jsonl"


@dataclass(frozen=True)
class BenchReport:
    """One bench of one target, line by line as it was written.

    cut: the last line ends in the middle. yardsticks: how fast the host itself was, before and after the measurements.
    """

    header: Line
    measurements: tuple[Line, ...]
    footer: Line | None
    cut: bool = False
    yardsticks: tuple[Line, ...] = ()

    @property
    def truncated(self) -> bool:
        """Whether it lacks the footer, because the bench never got to its end."""
        return self.footer is None

    @property
    def target(self) -> str:
        """Name and version of what was measured."""
        return target_name(self.header)

    @property
    def missing(self) -> tuple[str, ...]:
        """The selected measurements without a line."""
        have = {one["measurement"] for one in self.measurements}
        return tuple(name for name in self.header["measurements"] if name not in have)


def read(path: str | Path) -> BenchReport:
    """Read a bench file, or the `bench.jsonl` of a folder; ReportError says what is wrong with it."""
    with opened(path, FILE) as raw:
        found = lines(raw, NAME)
        measurements, yardsticks = (
            tuple(one for one in found.body if one["type"] == kind) for kind in ("measurement", "yardstick")
        )
        _agree(found.header, measurements, found.footer)
    return BenchReport(found.header, measurements, found.footer, found.cut, yardsticks)


def _agree(header: Line, found: Sequence[Line], footer: Line | None) -> None:
    names = [one["measurement"] for one in found]
    if strange := [name for name in names if name not in header["measurements"]]:
        raise ReportError(f"{', '.join(strange)} was measured, but the header did not select it")
    if len(set(names)) != len(names):
        raise ReportError("one measurement has two lines")
    if footer is not None and footer["names"] != names:
        raise ReportError("the footer's list of measurements is not that of the lines")
    if footer is not None and footer["complete"] and set(header["measurements"]) - set(names):
        raise ReportError("incomplete although its footer says complete")
    for one in found:
        if any(len(row) != len(shown["heads"]) for shown in one["tables"] for row in shown["rows"]):
            raise ReportError(f"a table of {one['measurement']} has a row with more or fewer cells than column heads")


class BenchWriter:
    """Writes the bench.jsonl of a folder: a header, a line for each measurement, a footer."""

    def __init__(self, folder: Path, *, awake: bool = False) -> None:
        self.names: list[str] = []
        with prepared(folder, "bench"):
            folder.mkdir(parents=True, exist_ok=True)
            self._folder, self._lines = folder, LineWriter(folder / FILE, NAME, _plain, awake=awake)

    def header(self, **fields: Any) -> None:
        """Write the first line; ReportFolderError if that is impossible."""
        with prepared(self._folder, "bench"):
            self._lines.header(**fields)

    def measurement(self, name: str, result: Mapping[str, Any]) -> None:
        """Write what a measurement found; `result` has the fields of the schema, and figures of its own."""
        self.names.append(name)
        self._lines.write(type="measurement", measurement=name, **result)

    def yardstick(self, when: str, figures: Sequence[Mapping[str, Any]]) -> None:
        """Write how fast the host itself was, `before` or `after` the measurements."""
        self._lines.write(type="yardstick", when=when, figures=figures)

    def footer(self, exit_status: int, *, complete: bool, reason: str) -> None:
        """Write the last line: without it the bench is truncated."""
        self._lines.footer(exit_status, complete=complete, reason=reason, names=self.names)

    def close(self) -> None:
        """End without a footer, if none was written: the bench stays truncated. Safe to call twice."""
        self._lines.close()


def _plain(value: Any) -> Any:
    """Return a numpy number as a Python number, and anything else as text."""
    return value.item() if hasattr(value, "item") else str(value)
