"""The page of a history: every figure over its runs, with its change points."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Any

from batchproof.reports.history.run import moment
from batchproof.reports.html.page import asset, page, render
from batchproof.reports.plots.chart import short, unit_of
from batchproof.reports.plots.line_chart import drawn
from batchproof.reports.plots.tracks import Place, Track
from batchproof.reports.wording import count, line
from batchproof.stats.change import FASTER, SLOWER
from batchproof.stats.change_points import LEAST

if TYPE_CHECKING:
    from batchproof.reports.history.changes import Changed
    from batchproof.reports.history.queries import Head

MOST_RUNS = 500  # rows of the table of runs
SHORT = 10  # characters of a commit


@dataclass(frozen=True)
class Shown:
    """What a page is about. where: the history. runs: the newest, the oldest first; in_all: how many there are.

    notes: what a reader has to know. suspects: says which commits may be behind a change.
    """

    where: str
    runs: Sequence[Head]
    in_all: int
    notes: Sequence[str] = ()
    suspects: Callable[[Changed], str] = lambda _: ""


def to_html(tracks: Sequence[Track], shown: Shown) -> str:
    """Return the page. tracks: in order of target, form and host, which make a section each."""
    listed = {run.id for run in shown.runs[-MOST_RUNS:]}
    told = [_told(track) for track in tracks]
    changes = [(number, one) for number, track in enumerate(tracks) for one in track.changes]
    said, tone = _sentence(tracks)
    left = len(shown.runs) - len(listed)
    body = render(
        "history.html",
        __package__ or "",
        title=f"History: {line(shown.where)}",
        sentence=said,
        tone=tone,
        about=_about(shown),
        notes=" ".join(line(note) for note in shown.notes),
        changes=[_change(number, one, shown) for number, one in changes],
        listed=listed,
        groups=list(_groups(tracks, told)),
        runs=[_run(run) for run in reversed(shown.runs[-MOST_RUNS:])],
        more_runs=f"The newest {len(listed)} of {len(shown.runs)} runs on this page." if left > 0 else "",
        data=[{"runs": [place.run for place in one.places], "told": texts} for one, texts in zip(tracks, told, strict=True)],
    )
    package = __package__ or ""
    return page(
        f"History: {line(shown.where)}", body, style=asset("history.css", package), script=asset("history.js", package)
    )


def _sentence(tracks: Sequence[Track]) -> tuple[str, str]:
    changed = [track for track in tracks if track.changes]
    slower = sum(track.changes[-1].word == SLOWER for track in changed)
    if not tracks:
        return "NO FIGURES: no run in this history has what was asked for", "warn"
    enough = sum(sum(place.runs for place in track.places if place.valid) >= LEAST for track in tracks)
    if not enough:
        return f"TOO FEW RUNS: no series has {LEAST} valid runs, which a change point needs", "warn"
    if not changed:
        return f"NO CHANGES: no change point in the {enough} of {len(tracks)} series that have {LEAST} valid runs", ""
    faster = len(changed) - slower
    told = f"CHANGED: {len(changed)} of {len(tracks)} series; the latest change made {slower} SLOWER and {faster} FASTER"
    return told, "fail" if slower else "pass"


def _about(shown: Shown) -> str:
    if not shown.runs:
        return "no runs"
    first, last = moment(shown.runs[0].when), moment(shown.runs[-1].when)
    some = count(len(shown.runs), "run") if len(shown.runs) == shown.in_all else f"{len(shown.runs)} of {shown.in_all} runs"
    return f"{some}, measured from {first} to {last}"


def _groups(tracks: Sequence[Track], told: Sequence[Sequence[str]]) -> Iterable[dict[str, Any]]:
    def key(number: int) -> tuple[str, str, str]:
        series = tracks[number].series
        return series.target, series.form, series.host

    for (target, form, host), members in groupby(range(len(tracks)), key=key):
        valid_first = sorted(members, key=lambda number: not any(place.valid for place in tracks[number].places))
        cards = [_card(number, tracks[number], told[number]) for number in valid_first]
        yield {"title": f"{line(target)}, {line(form)}, host {line(host)}", "cards": cards}


def _card(number: int, track: Track, told: Sequence[str]) -> dict[str, Any]:
    series, places = track.series, track.places
    scale, unit = _scale(track)
    runs = sum(place.runs for place in places)
    changed = "; ".join(f"{one.word} {_share(one)} from run {one.after.run} on" for one in track.changes)
    newest = next(
        (text for place, text in zip(reversed(places), reversed(told), strict=True) if place.valid), "no valid run"
    )
    return {
        "number": number,
        "anchor": f"s-{number}",
        "figure": series.figure,
        "unit": line(unit),
        "better": series.better,
        "drawn": drawn(track, scale),
        "told": f"{series.figure} over {runs} runs. Newest: {newest}. {changed or 'No change point'}.",
        "newest": newest,
        "first": _when(places[0]) if places else "",
        "last": _when(places[-1]) if len(places) > 1 else "",
    }


def _when(place: Place) -> str:
    return place.commit[:SHORT] or moment(place.when)[:10]


def _scale(track: Track) -> tuple[float, str]:
    """Return what values are divided by, and the unit that they have then."""
    unit = track.series.unit
    if unit != "ns":
        return 1.0, "" if unit == "1" else unit
    return unit_of(max((place.value for place in track.places), default=0.0))


def _told(track: Track) -> list[str]:
    scale, unit = _scale(track)
    return [_place(place, scale, unit) for place in track.places]


def _place(place: Place, scale: float, unit: str) -> str:
    several = f"runs up to {place.run}" if place.runs > 1 else f"run {place.run}"
    where = f"{several}, {place.commit[:SHORT] or moment(place.when)}"
    if not place.valid:
        return f"{where}: INVALID"
    bounds = ["?" if one is None else short(one / scale) for one in (place.low, place.high)]
    span = "" if bounds == ["?", "?"] else f" ({bounds[0]} to {bounds[1]})"
    several = f", median of {place.runs}" if place.runs > 1 else ""
    return f"{where}: {short(place.value / scale)} {unit}{span}{several}".replace("  ", " ").rstrip()


def _share(one: Changed) -> str:
    return "from 0" if one.share is None else f"{one.share:+.1%}"


def _change(number: int, one: Changed, shown: Shown) -> dict[str, Any]:
    scale, unit = unit_of(max(one.mean_before, one.mean_after)) if one.series.unit == "ns" else (1.0, one.series.unit)
    unit = "" if unit == "1" else f" {line(unit)}"
    return {
        "tone": "pass" if one.word == FASTER else "fail",
        "label": f"{'▲' if one.word == FASTER else '▼'} {one.word} {_share(one)}",
        "figure": one.series.figure,
        "anchor": f"s-{number}",
        "before": f"{short(one.mean_before / scale)}{unit}",
        "after": f"{short(one.mean_after / scale)}{unit}",
        "runs": [one.before.run, one.after.run],
        "says": line(shown.suspects(one)),
    }


def _run(run: Head) -> Mapping[str, Any]:
    commit = run.commit
    sha = "" if commit is None else commit.sha[:SHORT] + (" with changes" if commit.dirty else "")
    return {
        "id": run.id,
        "when": moment(run.when),
        "commit": sha,
        "branch": line(run.branch),
        "target": line(f"{run.target} {run.version}"),
        "form": line(run.form),
        "host": line(run.host),
    }
