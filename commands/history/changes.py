"""`batchproof history changes`: where figures changed, by how much, and which commits may have done it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from batchproof.commands.history.git import Repository
from batchproof.commands.history.options import Asked, ends
from batchproof.commands.history.suspects import HOST, Suspects, differences, suspects
from batchproof.exit_status import ExitStatus, refuse
from batchproof.reports.figures import OF_THE_HOST
from batchproof.reports.history import HistoryError
from batchproof.reports.wording import count, line, number
from batchproof.stats.change import SLOWER
from batchproof.stats.change_points import LEAST, OtavaMissing

if TYPE_CHECKING:
    from batchproof.reports.history.changes import Changed
    from batchproof.reports.history.queries import Point
    from batchproof.reports.history.store import Store


@ends
def print_changes(store: str, asked: Asked, *, within: int, as_json: bool) -> ExitStatus:
    """Print every change point of every series that was asked for. within: a SLOWER so few runs ago is a failure."""
    from batchproof.reports.history.store import opened

    repository = Repository(asked.repo)
    try:
        with opened(store) as history:
            found, looked, short, mixed = _search(history, asked, repository)
    except OtavaMissing as missing:
        raise HistoryError(str(missing)) from None
    for one, software in found:
        blamed = HOST if _of_host(one) else suspects(repository, one, software)
        print(json.dumps(_facts(one, blamed)) if as_json else "\n".join(_shown(one, blamed)))
    if not as_json:
        _print_end(len(found), looked, short, mixed)
    if not (looked or short) and asked.chosen:
        return refuse(f"no series fits {asked.chosen}", ExitStatus.NOTHING)
    if not looked:
        return refuse(f"no series has {LEAST} valid runs, which a change point needs", ExitStatus.NOTHING)
    bad = [one for one, _ in found if not _of_host(one) and one.word == SLOWER and one.newest <= within]
    return ExitStatus.FAILED if bad else ExitStatus.FINE


def _search(
    history: Store, asked: Asked, repository: Repository
) -> tuple[list[tuple[Changed, list[str]]], int, int, set[str]]:
    """Return the changes with what else changed then, how many series are long enough, how many are too short, and branches.

    The branches are empty unless they are several.
    """
    from batchproof.reports.history.changes import changes_of
    from batchproof.reports.history.queries import all_series, entries, points_of

    found: list[tuple[Changed, list[str]]] = []
    looked = short = 0
    branches: set[str] = set()
    for series in all_series(history, figure=asked.figure, target=asked.target, host=asked.host):
        points = points_of(history, series, last=asked.last, branch=asked.branch, only_valid=True)
        if len(points) < LEAST:
            short += 1
            continue
        looked += 1
        branches |= {point.branch for point in points}
        for one in changes_of(series, _in_order(repository, points), asked.least_change):
            beside = {entry.id: entry.run.about for entry in entries(history, ids=(one.earliest.run, one.latest.run))}
            found.append((one, differences(beside[one.earliest.run], beside[one.latest.run])))
    return found, looked, short, branches if len(branches) > 1 else set()


def _of_host(one: Changed) -> bool:
    """Whether a figure is the host's own: a commit does not change it, and it fails nothing."""
    return one.series.figure.startswith(OF_THE_HOST)


def _in_order(repository: Repository, points: Sequence[Point]) -> list[Point]:
    """Return points in the order of their commits' ancestry if git knows them all, else as they are."""
    commits = sorted({point.commit for point in points})
    places = repository.in_order(commits) if all(commits) else None
    if places is None:
        return list(points)
    return sorted(points, key=lambda point: (places[point.commit], point.dirty, point.when, point.run))


def _shown(one: Changed, blamed: Suspects) -> list[str]:
    series = one.series
    share = "from 0" if one.share is None else f"{100 * one.share:+.1f} %"
    unit = "" if series.unit == "1" else f" {line(series.unit)}"
    before, after = number(one.mean_before), number(one.mean_after)
    means = f"means of {count(len(one.runs_before), 'run')} before and {count(len(one.runs_after), 'run')} after"
    return [
        f"{one.word}  {share}  {series.figure}",
        f"  {line(series.target)}, {line(series.form)}, host {series.host}",
        f"  from {before} to {after}{unit}: {means}",
        f"  {_place(one)}",
        *(f"  {text}" for text in blamed.says),
        "",
    ]


def _place(one: Changed) -> str:
    likely = f"between run {one.before.run} and run {one.after.run}"
    return likely if one.certain else f"between run {one.earliest.run} and run {one.latest.run}, most likely {likely}"


def _print_end(found: int, looked: int, short: int, mixed: set[str]) -> None:
    left = f"; {short} series left out with fewer than {LEAST} valid runs" if short else ""
    print(f"{count(found, 'change point')} in {looked} series{left}")
    if mixed:
        names = ", ".join(sorted(line(one) or "no branch" for one in mixed))
        print(f"runs of several branches are in one series ({names}): --branch takes one")


def _facts(one: Changed, blamed: Suspects) -> dict[str, Any]:
    series = one.series
    return {
        "change": one.word, "share": one.share, "figure": series.figure, "unit": series.unit, "target": series.target,
        "form": series.form, "host": series.host, "mean_before": one.mean_before, "mean_after": one.mean_after,
        "p_value": one.p_value, "runs_before": one.runs_before, "runs_after": one.runs_after,
        "run_before": one.before.run, "run_after": one.after.run,
        "run_earliest": one.earliest.run, "run_latest": one.latest.run, "commit_before": one.before.commit,
        "commit_after": one.after.commit, "commits": blamed.commits, "exact": blamed.exact, "says": " ".join(blamed.says),
    }  # fmt: skip
