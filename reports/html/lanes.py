"""A timeline as a picture in SVG: requests as lanes, batches as blocks across them, bounds where they were judged.

A pure function from `reports.lanes.Lanes` to the text of one `<svg>` element, whose colours come from `lanes.css`. What has
a time is an element with a `<title>`, which says the exact times to whoever points at it, or reaches it by keyboard.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass

from markupsafe import Markup

from batchproof.reports.html import lane_words as words
from batchproof.reports.html.lane_words import over_ns
from batchproof.reports.html.page import visible
from batchproof.reports.lanes import Block, Lane, Lanes, Limit
from batchproof.reports.picture import round_up
from batchproof.stats.gates import STALLS

WIDTH, LEFT, RIGHT, TOP, ROW, FOOT = 960, 96, 150, 30, 24, 26
ASIDE = WIDTH - RIGHT + 14
SEEN = 1.6  # times the span of the events: a bound or a delay that ends later is not in the picture
TICKS = 10


@dataclass(frozen=True)
class _Scale:
    """Nanoseconds to units of the picture."""

    span_ns: int

    def x(self, at_ns: int) -> str:
        """Return a place, no further than the picture's edges."""
        tenths = at_ns * (WIDTH - LEFT - RIGHT) * 10 // self.span_ns
        return _tenths(LEFT * 10 + min(max(tenths, 0), (WIDTH - LEFT - RIGHT) * 10))

    def wide(self, from_ns: int, to_ns: int, least: float = 1.5) -> str:
        """Return the width from one moment to another, so wide that it can be seen."""
        return f"{max(float(self.x(to_ns)) - float(self.x(from_ns)), least):g}"


def svg(picture: Lanes, title: str, *, span_ns: int = 0, marked: Collection[str] = ()) -> Markup:
    """Return the picture as one element. Nothing in it comes from outside without being escaped.

    title: what it shows, for those who do not see it. span_ns: at least as much time is drawn, so that two pictures share a
    scale. marked: names of requests, or of batches as `batch 2`, at which two pictures differ first.
    """
    scale = _Scale(max(span(picture), span_ns, 1))
    bottom = TOP + ROW * len(picture.lanes)
    parts = [
        *_axis(scale, bottom),
        *(_stall(start, took, scale, bottom) for start, took in picture.stalls if start < scale.span_ns),
        *(_block(block, scale, marked) for block in picture.blocks),
        *(_lane(at, picture, scale, marked) for at in range(len(picture.lanes))),
        *_labels(picture, scale),
        *(_mark(name, at, scale, bottom) for name, at in picture.marks),
        *(_limit(limit, picture, scale, bottom) for limit in picture.limits if limit.since_ns <= scale.span_ns),
    ]
    return Markup('<svg class="lanes" viewBox="0 0 {} {}" role="group" aria-label="{}">{}</svg>').format(
        WIDTH, bottom + FOOT, visible(title), Markup("").join(parts)
    )


def span(picture: Lanes) -> int:
    """Return how much time the picture shows, in nanoseconds from its first event.

    If a request is still waiting, a quarter more shows it, up to the drive's end. Bounds that are not far off belong to it.
    """
    moments = [at for lane in picture.lanes for at in (lane.sent_ns, lane.accepted_ns, lane.answered_ns)]
    moments += [at for block in picture.blocks for at in (block.enter_ns, block.exit_ns)]
    last = max((at for at in moments if at is not None), default=0)
    if any(lane.answered_ns is None for lane in picture.lanes):
        last = min(max(picture.end_ns, last), last + last // 4) if last else picture.end_ns
    near = [end for end in _ends(picture) if last < end <= last * SEEN]
    return max([last, *near]) * 102 // 100


def _ends(picture: Lanes) -> Iterator[int]:
    """Yield when bounds, queue delays and timeouts end."""
    yield from (limit.since_ns + limit.bound_ns + limit.slack_ns for limit in picture.limits)
    for lane in picture.lanes:
        yield from (lane.sent_ns + took for took in (picture.delay_ns, lane.timeout_ns) if took)


def _axis(scale: _Scale, bottom: int) -> Iterator[Markup]:
    step = round_up(max(1, scale.span_ns // TICKS))
    decimals = max(0, 7 - len(str(step)))
    line_ = Markup('<path class="grid" d="M{0} {1}V{2}"/><text class="tick" x="{0}" y="{3}">{4}</text>')
    for tick in range(0, scale.span_ns + 1, step):
        yield line_.format(scale.x(tick), TOP, bottom + 4, bottom + 17, f"{tick / 1e6:.{decimals}f}")
    yield Markup('<text class="unit" x="{}" y="{}">ms</text>').format(ASIDE, bottom + 17)


def _stall(start: int, took: int, scale: _Scale, bottom: int) -> Markup:
    shape = Markup('<rect x="{}" y="{}" width="{}" height="{}"/>').format(
        scale.x(start), TOP, scale.wide(max(start, 0), start + took), bottom - TOP
    )
    return _element("stall", words.of_stall(start, took), shape)


def _block(block: Block, scale: _Scale, marked: Collection[str]) -> Markup:
    """Draw the frame around a batch's lanes, and its part in each of them."""
    if block.enter_ns is None or not block.lanes:
        return Markup("")
    until = scale.span_ns if block.exit_ns is None else block.exit_ns
    x, wide = scale.x(block.enter_ns), scale.wide(block.enter_ns, until, 3)
    top, end = _y(block.lanes[0]), _y(block.lanes[-1]) + ROW
    parts = [Markup('<rect class="frame" x="{}" y="{}" width="{}" height="{}"/>').format(x, top + 2, wide, end - top - 4)]
    parts += [
        Markup('<rect class="run" x="{}" y="{}" width="{}" height="12"/>').format(x, _y(at) + 6, wide) for at in block.lanes
    ]
    kinds = ["block", *(["failed"] if block.failed else []), *(["marked"] if f"batch {block.number}" in marked else [])]
    return Markup('<g class="{}">{}</g>').format(" ".join(kinds), Markup("").join(parts))


def _lane(at: int, picture: Lanes, scale: _Scale, marked: Collection[str]) -> Markup:
    """Draw one request: its name, the time in the queue, the way back, how it ended, and where its delay is over."""
    lane, mine = picture.lanes[at], [block for block in picture.blocks if at in block.lanes]
    middle = _y(at) + ROW // 2
    entered = min((block.enter_ns for block in mine if block.enter_ns is not None), default=None)
    last = scale.span_ns if lane.answered_ns is None else lane.answered_ns
    waits_until = last if entered is None else entered
    sent, end = scale.x(lane.sent_ns), scale.x(last)
    parts = [
        Markup('<rect class="hit" x="0" y="{}" width="{}" height="{}"/>').format(_y(at), WIDTH, ROW),
        Markup('<text class="name" x="{}" y="{}">{}</text>').format(LEFT - 10, middle + 4, words.short(lane.name, 12)),
        Markup('<path class="queue" d="M{} {}H{}"/>').format(sent, middle, scale.x(waits_until)),
        Markup('<path class="back" d="M{} {}H{}"/>').format(scale.x(waits_until), middle, end),
        Markup('<path class="sent" d="M{} {}v10"/>').format(sent, middle - 5),
        *_dues(at, picture, scale),
        _ending(lane, end, middle),
        Markup('<text class="aside" x="{}" y="{}">{}</text>').format(ASIDE, middle + 4, words.aside(lane, mine)),
    ]
    kind = "lane marked" if lane.name in marked else "lane"
    return _element(kind, words.of_lane(lane, mine, picture.delay_ns), Markup("").join(parts), first=at == 0)


def _ending(lane: Lane, x: str, middle: int) -> Markup:
    """Draw a triangle for an answer, a cross for a refusal, and a question mark for neither: shapes beside colours."""
    if lane.answered_ns is None:
        return Markup('<text class="bad open" x="{}" y="{}">?</text>').format(x, middle + 5)
    if lane.kind:
        return Markup('<path class="bad" d="M{0} {1}m-4 -4l8 8m0 -8l-8 8"/>').format(x, middle)
    return Markup('<path class="answer" d="M{} {}l7 5l-7 5z"/>').format(x, middle - 5)


def _dues(at: int, picture: Lanes, scale: _Scale) -> Iterator[Markup]:
    """Draw where a queue delay ends, for the oldest request of each batch and for one without; and its timeout."""
    lane, top = picture.lanes[at], _y(at)
    mine = [block for block in picture.blocks if at in block.lanes]
    oldest = not mine or any(min(block.lanes, key=lambda one: picture.lanes[one].sent_ns) == at for block in mine)
    for kind, took in (("delay", picture.delay_ns if oldest else 0), ("timeout", lane.timeout_ns)):
        if took and lane.sent_ns + took <= scale.span_ns:
            shape = Markup('<path class="{}" d="M{} {}H{}M{} {}v{}"/>')
            end = scale.x(lane.sent_ns + took)
            yield shape.format(kind, scale.x(lane.sent_ns), top + 3, end, end, top + 1, ROW - 2)


def _labels(picture: Lanes, scale: _Scale) -> Iterator[Markup]:
    """Number the batches above the lanes, as far as the numbers do not touch; each can be reached all the same."""
    free = 0.0
    for block in sorted((one for one in picture.blocks if one.enter_ns is not None), key=lambda one: one.enter_ns or 0):
        x = float(scale.x(block.enter_ns or 0))
        label = f"batch {block.number}" if len(picture.blocks) <= TICKS else str(block.number)
        parts = [Markup('<path d="M{:g} {}v8"/>').format(x, TOP - 8)]
        if x >= free:
            parts.append(Markup('<text x="{:g}" y="{}">{}</text>').format(x, TOP - 11, label))
            free = x + 7 * len(label) + 6
        yield _element("label", words.of_block(block), Markup("").join(parts))


def _mark(name: str, at: int, scale: _Scale, bottom: int) -> Markup:
    shape = Markup('<path d="M{0} {1}V{2}m-4 0h8l-4 -6z"/>').format(scale.x(at), TOP, bottom + 5)
    return _element("mark", words.of_mark(name, at), shape)


def _limit(limit: Limit, picture: Lanes, scale: _Scale, bottom: int) -> Markup:
    """Draw a bound: a bar where it ends, the slack behind it hatched, and what noise would explain as an outline."""
    top, high = (TOP, bottom - TOP) if limit.lane is None else (_y(limit.lane), ROW)
    at = limit.since_ns + limit.bound_ns
    slack, noise = at + limit.slack_ns, at + limit.slack_ns + STALLS * limit.stall_ns
    shape = Markup(
        '<rect class="slack" x="{0}" y="{1}" width="{2}" height="{3}"/>'
        '<rect class="noise" x="{4}" y="{1}" width="{5}" height="{3}"/>'
        '<path class="bar" d="M{6} {7}H{0}M{0} {8}v{9}m-5 0h10l-5 -6z"/>'
    ).format(
        scale.x(at), top + 1, scale.wide(at, slack, 0), high - 2, scale.x(slack), scale.wide(slack, noise, 0),
        scale.x(limit.since_ns), top + high - 2, top, high,
    )  # fmt: skip
    return _element("limit over" if over_ns(limit) > 0 else "limit", words.of_limit(limit, picture), shape)


def _element(kind: str, says: str, shape: Markup, *, first: bool = False) -> Markup:
    """Return what can be pointed at and reached by keyboard. One element of a picture is a stop of the tab key."""
    form = Markup('<g class="{}" role="img" tabindex="{}"><title>{}</title>{}</g>')
    return form.format(kind, 0 if first else -1, visible(says), shape)


def _y(lane: int) -> int:
    return TOP + ROW * lane


def _tenths(tenths: int) -> str:
    whole, tenth = divmod(tenths, 10)
    return f"{whole}.{tenth}" if tenth else str(whole)
