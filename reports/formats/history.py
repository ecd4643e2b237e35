"""An exported history: runs as lines of JSON, to be read by other programs, kept in a repository, or imported elsewhere."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from batchproof import __version__
from batchproof.reports.figures import Figure
from batchproof.reports.formats.jsonl import ReportError, lines, now
from batchproof.reports.formats.schemas import version
from batchproof.reports.history.run import Commit, HistoryError, Host, Run, moment, seconds_of

NAME = "history"


@dataclass(frozen=True)
class Exported:
    """What an export holds. truncated: it lacks the footer, or runs that the footer counts."""

    runs: tuple[Run, ...]
    truncated: bool


def written(runs: Iterable[tuple[int, Run]]) -> Iterator[str]:
    """Yield the lines of an export, given the number and the run of each."""
    yield _line(type="header", format=version(NAME, "header"), batchproof=__version__, exported=now())
    count = 0
    for number, run in runs:
        yield _line(type="run", id=number, **facts(run))
        count += 1
    yield _line(type="footer", runs=count)


def facts(run: Run) -> dict[str, Any]:
    """Return a run as JSON data."""
    commit = run.commit
    return {
        "when": moment(run.when),
        "kind": run.kind,
        "origin": run.origin,
        "target": run.target,
        "version": run.version,
        "form": run.form,
        "host": dict(run.host.facts),
        "commit": commit and {"sha": commit.sha, "at": moment(commit.at), "dirty": commit.dirty, "branch": commit.branch},
        "about": dict(run.about),
        "figures": [figure.facts() for figure in run.figures],
    }


def read(raw: bytes) -> Exported:
    """Read an export; ReportError says which line is wrong and why."""
    found = lines(raw, NAME)
    runs = tuple(_run(number, line) for number, line in enumerate(found.body, 2))
    return Exported(runs, found.footer is None or found.footer["runs"] != len(runs))


def _run(number: int, line: Mapping[str, Any]) -> Run:
    given = {key: value for key, value in line.items() if key not in ("type", "id")}
    try:
        commit = given["commit"] and Commit(**{**given["commit"], "at": seconds_of(given["commit"]["at"])})
        figures = tuple(Figure.of(one) for one in given["figures"])
        more = {"when": seconds_of(given["when"]), "host": Host(given["host"]), "commit": commit, "figures": figures}
        return Run(**{**given, **more})
    except (ValueError, HistoryError) as error:
        raise ReportError(f"line {number}, run: {error}") from None


def _line(**fields: Any) -> str:
    return json.dumps(fields) + "\n"
