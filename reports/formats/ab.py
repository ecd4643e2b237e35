"""ab.jsonl: two targets side by side. Every pair of blocks as it was measured, then an answer to each question."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from batchproof.reports.formats.jsonl import Line, LineWriter, ReportError, lines, opened, prepared

NAME = "ab"
FILE = f"{NAME}.jsonl"


@dataclass(frozen=True)
class AbReport:
    """One comparison, line by line as it was written. cut: the last line ends in the middle."""

    header: Line
    pairs: tuple[Line, ...]
    answers: tuple[Line, ...]
    footer: Line | None
    cut: bool = False

    @property
    def truncated(self) -> bool:
        """Whether it lacks the footer, because the comparison never got to its end."""
        return self.footer is None

    @property
    def missing(self) -> tuple[str, ...]:
        """The questions without an answer."""
        have = {one["question"] for one in self.answers}
        return tuple(name for name in self.header["questions"] if name not in have)


def read(path: str | Path) -> AbReport:
    """Read a file of this format, or the `ab.jsonl` of a folder; ReportError says what is wrong with it."""
    with opened(path, FILE) as raw:
        found = lines(raw, NAME)
        pairs = tuple(one for one in found.body if one["type"] == "pair")
        answers = tuple(one for one in found.body if one["type"] == "answer")
        _agree(found.header, answers, found.footer)
    return AbReport(found.header, pairs, answers, found.footer, found.cut)


def _agree(header: Line, answers: Sequence[Line], footer: Line | None) -> None:
    names = [one["question"] for one in answers]
    if strange := [name for name in names if name not in header["questions"]]:
        raise ReportError(f"{', '.join(strange)} was answered, but the header does not ask it")
    if len(set(names)) != len(names):
        raise ReportError("one question has two answers")
    if footer is not None and footer["complete"] and set(header["questions"]) - set(names):
        raise ReportError("incomplete although its footer says complete")


class AbWriter:
    """Writes the ab.jsonl of a folder: a header, a line for each pair and each answer, a footer."""

    def __init__(self, folder: Path, *, awake: bool = False) -> None:
        with prepared(folder, "comparison"):
            folder.mkdir(parents=True, exist_ok=True)
            self._folder, self._lines = folder, LineWriter(folder / FILE, NAME, awake=awake)

    def header(self, **fields: Any) -> None:
        """Write the first line; ReportFolderError if that is impossible."""
        with prepared(self._folder, "comparison"):
            self._lines.header(**fields)

    def pair(self, facts: Mapping[str, Any]) -> None:
        """Write a pair."""
        self._lines.write(type="pair", **facts)

    def answer(self, facts: Mapping[str, Any]) -> None:
        """Write an answer."""
        self._lines.write(type="answer", **facts)

    def footer(self, exit_status: int, *, complete: bool, reason: str) -> None:
        """Write the last line: without it the comparison is truncated."""
        self._lines.footer(exit_status, complete=complete, reason=reason)

    def close(self) -> None:
        """End without a footer, if none was written. Safe to call twice."""
        self._lines.close()
