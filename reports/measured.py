"""What a folder says was measured: the figures of a bench, of `tune`, of a check or of `ab`, and where they were taken.

Comparison, history and pages read figures through this module, whichever file holds them.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from batchproof.host.plain_files import read_plain
from batchproof.reports.figures import Figure
from batchproof.reports.formats import ab, bench, report
from batchproof.reports.formats.jsonl import Line, ReportError, target_name
from batchproof.reports.wording import listed

FILES = {bench.FILE: "a bench", report.FILE: "a check", ab.FILE: "a comparison of two sides"}


@dataclass(frozen=True)
class Measured:
    """The figures of one run, in the order in which they were measured.

    where: the file. header: its first line, with host, target, seed and command. truncated: the run never got to its end.
    missing: what was selected and has no line. The yardsticks of the host come first: `host.*`.
    """

    where: Path
    header: Line
    figures: tuple[Figure, ...]
    truncated: bool
    missing: tuple[str, ...]

    @property
    def target(self) -> str:
        """Name and version of what was measured."""
        return target_name(self.header)

    @property
    def host(self) -> Mapping[str, Any]:
        """What is known of the machine."""
        host: Mapping[str, Any] = self.header["host"]
        return host

    def by_id(self) -> dict[str, Figure]:
        """Return the figures by their ids."""
        return {one.id: one for one in self.figures}


def measured(path: str | Path) -> Measured:
    """Read the folder of a bench, of `tune` or of a check, or its .jsonl file; ReportError says what is wrong with it."""
    file = _file(Path(path))
    if file.name == report.FILE or (file.name != bench.FILE and _is_report(file)):
        found = report.read(file)
        header, truncated, missing, lines = found.header, found.truncated, found.missing, found.results
    elif file.name == ab.FILE:
        sides = ab.read(file)
        header, truncated, missing, lines = sides.header, sides.truncated, sides.missing, sides.answers
    else:
        bench_found = bench.read(file)
        header, truncated, missing = bench_found.header, bench_found.truncated, bench_found.missing
        lines = (*bench_found.yardsticks, *bench_found.measurements)
    return Measured(file, header, _figures(lines, file), truncated, missing)


def figures_of(path: str | Path) -> tuple[Figure, ...]:
    """Return the figures in the folder of a bench, of `tune` or of a check; ReportError as in `measured`."""
    return measured(path).figures


def _file(path: Path) -> Path:
    """Return the file to read; ReportError if a folder has none, or several."""
    if not path.is_dir():
        return path
    found = [path / name for name in FILES if (path / name).is_file()]
    if len(found) > 1:
        raise ReportError(
            f"{path} holds {listed([FILES[one.name] for one in found])}: name {listed([str(one) for one in found], 'or')}"
        )
    if not found:
        raise ReportError(f"{path}: there is no {listed(list(FILES), 'or')} in this folder")
    return found[0]


def _is_report(file: Path) -> bool:
    """Say whether the first line of a file with any name is that of a check; whatever else it is, `read` will say."""
    try:
        header = json.loads(read_plain(file, 1_000_000).partition(b"\n")[0])
    except (OSError, ValueError, RecursionError):
        return False
    return isinstance(header, dict) and "rules" in header


def _figures(lines: Iterable[Line], file: Path) -> tuple[Figure, ...]:
    try:
        found = tuple(Figure.of(facts) for line in lines for facts in line.get("figures", ()))
    except (ValueError, OverflowError) as wrong:
        raise ReportError(f"{file}: {wrong}") from None
    twice = [one for one, count in Counter(figure.id for figure in found).items() if count > 1]
    if twice:
        raise ReportError(f"{file}: two figures have the id {twice[0]}")
    return found
