"""A timeline as a picture in plain text: one line for each request, time from left to right."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

from batchproof.reports.choice import chosen
from batchproof.reports.wording import line

LEGEND = "q sent  - waiting  M enters the model  = in the model  > answered  x refused or failed  ? never answered"

_LEAST_WIDTH = 56
_NO_CLOCK = "(the model's clock cannot be compared with the client's: only the client's times are drawn)"
_LEAST_SPAN_NS = 10_000  # below this, the labels of the axis would need more digits than they have room for
_NO_TIME = "(all at the same moment)"


@dataclass(frozen=True)
class _Life:
    """One request. runs: when each execution with it began and ended. aside: the words next to its row."""

    name: str
    sent_ns: int
    answered_ns: int | None
    refused: bool
    runs: tuple[tuple[int, int | None], ...]
    aside: str

    def events(self) -> list[int]:
        times = [self.sent_ns, self.answered_ns, *(time for run in self.runs for time in run)]
        return [time for time in times if time is not None]


@dataclass(frozen=True)
class _Scale:
    """Nanoseconds to columns."""

    start_ns: int
    span_ns: int
    columns: int

    def column(self, at_ns: int) -> int:
        return (at_ns - self.start_ns) * (self.columns - 1) // max(self.span_ns, 1)


def draw(
    timeline: Mapping[str, Any], width: int = 100, most: int = 16, span_ns: int = 0, *, about: Collection[str] = ()
) -> str:
    """Return the picture of a timeline's JSON data, at most `width` columns wide, of `most` requests.

    span_ns: at least as much time is drawn. about: the requests that must be seen; without any, the first are shown.
    KeyError or TypeError if the data is of another kind. `LEGEND` explains the letters.
    """
    requests = timeline["requests"]
    together = [run["serials"] for run in timeline["executions"]]
    lives = [_life(request, timeline) for request in chosen(requests, most, about, together)]
    if not lives:
        return "(no request was sent)"
    label = max(2, *(len(life.name) for life in lives))
    aside = max(len(life.aside) for life in lives)
    scale = _scale(lives, timeline["marks"], width - label - 3 - (aside + 1 if aside else 0), span_ns)
    rows = [f"{life.name:<{label}} |{_row(life, scale)}| {life.aside}".rstrip() for life in lives]
    if len(requests) > most:
        rows.append(f"... and {len(requests) - most} more")
    axis = zip(("", "ms"), _axis(scale), strict=True) if scale.span_ns else ()
    rows += [f"{name:<{label}}  {text}".rstrip() for name, text in axis]
    notes = ((timeline["same_clock"], _NO_CLOCK), (scale.span_ns, _NO_TIME))
    return "\n".join([*rows, *(note for holds, note in notes if not holds)])


def side_by_side(pictures: Sequence[tuple[str, Mapping[str, Any]]], width: int, most: int = 30) -> str:
    """Return the pictures of several timelines, each under its title, side by side; below each other where too narrow."""
    each = (width - 3 * (len(pictures) - 1)) // len(pictures)
    if each < _LEAST_WIDTH:
        return "\n\n".join(f"{title}\n{draw(timeline, width, most)}" for title, timeline in pictures)
    span_ns = max(_span_ns([_life(one, timeline) for one in timeline["requests"]]) for _, timeline in pictures)
    columns = [[title, *draw(timeline, each, most, span_ns).splitlines()] for title, timeline in pictures]
    rows = zip_longest(*columns, fillvalue="")
    return "\n".join("   ".join(f"{cell:<{each}}" for cell in row).rstrip() for row in rows)


def _life(request: Mapping[str, Any], timeline: Mapping[str, Any]) -> _Life:
    """Number the batches if there are several, and name what is unusual: several rows, or a refusal."""
    mine = [(at, run) for at, run in enumerate(timeline["executions"], 1) if request["serial"] in run["serials"]]
    batches = " and ".join(str(at) for at, _ in mine) if len(timeline["executions"]) > 1 else ""
    count = request["payload"]["rows"]
    rows = f"{count} rows" if count != 1 else ""
    words = (batches and f"batch {batches}", rows, line(request["kind"]))
    return _Life(
        name=line(request["name"])[:12],
        sent_ns=request["sent_ns"],
        answered_ns=request["answered_ns"],
        refused=bool(request["kind"]),
        runs=tuple((run["enter_ns"], run["exit_ns"]) for _, run in mine) if timeline["same_clock"] else (),
        aside=", ".join(word for word in words if word)[:30],
    )


def _span_ns(lives: list[_Life]) -> int:
    times = [time for life in lives for time in life.events()]
    return max(times, default=0) - min(times, default=0)


def _scale(lives: list[_Life], marks: Mapping[str, int], columns: int, span_ns: int) -> _Scale:
    """From the first event to the last. If a request is still waiting, a quarter more shows it, up to the drive's end."""
    times = [time for life in lives for time in life.events()]
    start, last = min(times), max(times)
    if any(life.answered_ns is None for life in lives):
        end = max(marks.get("end", last), last)
        last = min(end, last + (last - start) // 4) if last > start else end
    span_ns = max(span_ns, last - start)
    return _Scale(start, max(span_ns, _LEAST_SPAN_NS), columns) if span_ns else _Scale(start, 0, 3)


def _row(life: _Life, scale: _Scale) -> str:
    """Draw the later letter over the earlier, and keep q, M and the end apart where they share a column.

    M stays where it is, because the eye compares the M of the requests of one batch.
    """
    row = [" "] * scale.columns
    edge = scale.columns - 1
    # Only a batch that enters in the very first or last column moves, and then all of it: for its q, or its end.
    enters = [min(max(1, scale.column(enter)), edge - 1) for enter, _ in life.runs]
    sent = min(scale.column(life.sent_ns), edge - 1)
    sent -= sent in enters
    last = edge if life.answered_ns is None else scale.column(life.answered_ns)
    last = max(last, sent + 1, *(enter + 1 for enter in enters))
    row[sent:last] = "-" * (last - sent)
    for at, (_, exit_ns) in zip(enters, life.runs, strict=True):
        until = last if exit_ns is None else max(at, scale.column(exit_ns))
        row[at : until + 1] = "M" + "=" * (until - at)
    row[sent] = "q"
    row[last] = "?" if life.answered_ns is None else "x" if life.refused else ">"
    return "".join(row)


def _axis(scale: _Scale) -> tuple[str, str]:
    """Return the line with the ticks and the line with their milliseconds, counted from the first event."""
    step = round_up(max(1, scale.span_ns * 10 // scale.columns))
    decimals = max(0, 7 - len(str(step)))
    ticks, labels = "-" * scale.columns, ""
    for tick in range(0, scale.span_ns + 1, step):
        at = scale.column(scale.start_ns + tick)
        text = f"{tick / 1e6:.{decimals}f}"
        ticks = f"{ticks[:at]}+{ticks[at + 1 :]}"
        if at + len(text) <= scale.columns:
            labels = f"{labels:<{at}}{text}"
    return ticks, labels


def round_up(step: int) -> int:
    """Return the next number of the kind 1, 2, 5, 10, 20, 50, ..."""
    power: int = 10 ** (len(str(step)) - 1)
    return next(power * factor for factor in (1, 2, 5, 10) if power * factor >= step)
