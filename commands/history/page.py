"""`batchproof history page`: every figure over the runs of a history, as one HTML file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from batchproof.commands.history.git import Repository
from batchproof.commands.history.options import Asked, ends
from batchproof.commands.history.suspects import suspects
from batchproof.commands.output import whole
from batchproof.exit_status import ExitStatus, refuse
from batchproof.reports.figures import OF_THE_HOST
from batchproof.reports.history import HistoryUnavailable, parse
from batchproof.reports.plots.history_page import Shown, to_html
from batchproof.reports.plots.tracks import Track, track
from batchproof.reports.wording import line
from batchproof.stats.change_points import OtavaMissing

if TYPE_CHECKING:
    from batchproof.reports.history.changes import Changed
    from batchproof.reports.history.queries import Point, Series
    from batchproof.reports.history.store import Store

MOST = 300  # series on one page
SEARCHED = 2000  # runs of a series in which change points are looked for, the newest


@ends
def write_page(store: str, asked: Asked, out: Path) -> ExitStatus:
    """Write the page, and say where it is."""
    from batchproof.reports.history.queries import Which, counted, heads
    from batchproof.reports.history.store import opened

    repository = Repository(asked.repo)
    which = Which(target=asked.target, branch=asked.branch, host=asked.host)
    with opened(store) as history:
        chosen, notes = _chosen(history, asked)
        tracks, told = _tracks(history, asked, chosen, repository)
        shown = Shown(
            parse(store).shown,
            heads(history, which, asked.last),
            counted(history, which),
            (*notes, *told),
            lambda change: " ".join(suspects(repository, change).says),
        )
    text = to_html(tracks, shown)
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        with whole(out) as file:
            file.write(text)
    except OSError as error:
        raise HistoryUnavailable(f"{out} cannot be written: {error.strerror}; name another --out") from None
    print(out)
    if not chosen and asked.chosen:
        return refuse(f"no series fits {asked.chosen}: the page has no figures", ExitStatus.NOTHING)
    return ExitStatus.FINE


def _chosen(history: Store, asked: Asked) -> tuple[list[Series], list[str]]:
    """Return the series for the page, in the order of its sections, and what is said about those that are left out."""
    from batchproof.reports.history.queries import all_series

    found = all_series(history, figure=asked.figure, target=asked.target, host=asked.host, count=False)
    found.sort(key=lambda one: (one.target, one.form, one.host, one.figure.startswith(OF_THE_HOST), one.figure))
    if len(found) <= MOST:
        return found, []
    return found[:MOST], [
        f"{len(found) - MOST} of {len(found)} series are left out: choose by --figure, --target or --host."
    ]


def _tracks(history: Store, asked: Asked, chosen: Sequence[Series], repository: Repository) -> tuple[list[Track], list[str]]:
    from batchproof.reports.history.changes import changes_of
    from batchproof.reports.history.queries import points_of

    read = [(one, points_of(history, one, last=asked.last, branch=asked.branch)) for one in chosen]
    commits = sorted({point.commit for _, points in read for point in points})
    places = repository.in_order(commits) if commits and all(commits) else None
    tracks: list[Track] = []
    notes: list[str] = []
    for one, points in read:
        if not points:
            continue
        ordered = points if places is None else sorted(points, key=lambda point: _place(point, places))
        found: tuple[Changed, ...] = ()
        try:
            found = () if notes else changes_of(one, ordered[-SEARCHED:], asked.least_change)
        except OtavaMissing as missing:
            notes.append(f"No change points: {line(missing)}.")
        tracks.append(track(one, ordered, found))
    if any(one.together for one in tracks):
        notes.append("Where a series has more runs than places, a dot is the median of several, and its bar their range.")
    return tracks, notes


def _place(point: Point, places: dict[str, int]) -> tuple[int, bool, int, int]:
    return places[point.commit], point.dirty, point.when, point.run
