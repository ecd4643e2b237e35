"""A timeline as a picture in SVG: requests as lanes, batches as blocks across them, bounds where they were judged.

A pure function from `reports.lanes.Lanes` to the text of one `<svg>` element, whose colours come from `lanes.css`. What has
a time is an element with a `<title>`, which says the exact times to anyone who points at it or reaches it by keyboard.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace

from markupsafe import Markup, escape

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
    """Return the picture as one element.

    title: what it shows, for those who do not see it. span_ns: at least as much time is drawn, so that two pictures share a
    scale. marked: names of requests, or of batches as `batch 2`, at which two pictures differ first.
    """
    said, whole = picture, max(span(picture), span_ns)
    if not whole:
        picture = in_order(picture)
    scale = _Scale(whole or max(span(picture), 1))
    bottom = TOP + ROW * len(picture.lanes)
    parts = [
        *(_axis(scale, bottom) if whole else ()),
        *(_stall(start, took, scale, bottom) for start, took in picture.stalls if start < scale.span_ns),
        *(_block(block, scale, marked) for block in picture.blocks),
        *(_lane(at, picture, said, scale, marked) for at in range(len(picture.lanes))),
        *_labels(picture, said, scale),
        *(_mark(name, at, scale, bottom) for name, at in picture.marks),
        *(_limit(limit, picture, scale, bottom) for limit in picture.limits if limit.since_ns <= scale.span_ns),
    ]
    head = f'<svg class="lanes" viewBox="0 0 {WIDTH} {bottom + FOOT}" role="group" aria-label="{_safe(title)}">'
    return Markup(f"{head}{''.join(parts)}</svg>")  # noqa: S704 - words go through _safe, and all else is numbers


def in_order(picture: Lanes) -> Lanes:
    """Return a picture in which all happens at one moment, as in simulated time, drawn out: one batch after the other."""
    runs = sorted((block for block in picture.blocks if block.enter_ns is not None), key=lambda block: block.number)
    turn = {block.number: at for at, block in enumerate(runs, 1)}
    blocks = tuple(
        replace(block, enter_ns=3 * turn[block.number], exit_ns=3 * turn[block.number] + 2) if block in runs else block
        for block in picture.blocks
    )
    left = {at: block.exit_ns for block in blocks for at in block.lanes}
    lanes = tuple(
        lane if lane.answered_ns is None else replace(lane, answered_ns=(left.get(at) or 1) + 1)
        for at, lane in enumerate(picture.lanes)
    )
    return replace(picture, lanes=lanes, blocks=blocks, limits=(), delay_ns=0)


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


def _axis(scale: _Scale, bottom: int) -> Iterator[str]:
    step = round_up(max(1, scale.span_ns // TICKS))
    decimals = max(0, 7 - len(str(step)))
    for tick in range(0, scale.span_ns + 1, step):
        x = scale.x(tick)
        yield f'<path class="grid" d="M{x} {TOP}V{bottom + 4}"/>'
        yield f'<text class="tick" x="{x}" y="{bottom + 17}">{tick / 1e6:.{decimals}f}</text>'
    yield f'<text class="unit" x="4" y="{bottom + 17}">ms</text>'


def _stall(start: int, took: int, scale: _Scale, bottom: int) -> str:
    place = f'x="{scale.x(start)}" y="{TOP}" width="{scale.wide(max(start, 0), start + took)}" height="{bottom - TOP}"'
    return _element("stall", words.of_stall(start, took), f"<rect {place}/>")


def _block(block: Block, scale: _Scale, marked: Collection[str]) -> str:
    """Draw the frame around a batch's lanes, and its part in each of them."""
    if block.enter_ns is None or not block.lanes:
        return ""
    until = scale.span_ns if block.exit_ns is None else block.exit_ns
    place = f'x="{scale.x(block.enter_ns)}" width="{scale.wide(block.enter_ns, until, 3)}"'
    top, high = _y(block.lanes[0]), _y(block.lanes[-1]) + ROW - _y(block.lanes[0])
    parts = [f'<rect class="frame" {place} y="{top + 2}" height="{high - 4}"/>']
    parts += [f'<rect class="run" {place} y="{_y(at) + 6}" height="12"/>' for at in block.lanes]
    kinds = ["block", *(["failed"] if block.failed else []), *(["marked"] if f"batch {block.number}" in marked else [])]
    return f'<g class="{" ".join(kinds)}">{"".join(parts)}</g>'


def _lane(at: int, picture: Lanes, said: Lanes, scale: _Scale, marked: Collection[str]) -> str:
    """Draw one request: its name, the time in the queue, the way back, how it ended, and where its delay is over.

    said: the picture with the times that are told, which are not those that are drawn if everything happens at once.
    """
    lane, mine = picture.lanes[at], [block for block in picture.blocks if at in block.lanes]
    y = _y(at) + ROW // 2
    entered = min((block.enter_ns for block in mine if block.enter_ns is not None), default=None)
    last = scale.span_ns if lane.answered_ns is None else lane.answered_ns
    sent, end, waited = scale.x(lane.sent_ns), scale.x(last), scale.x(last if entered is None else entered)
    parts = [
        f'<path class="hit" d="M0 {_y(at)}h{WIDTH}v{ROW}H0z"/>',
        f'<text class="name" x="{LEFT - 10}" y="{y + 4}">{_safe(words.short(lane.name, 12))}</text>',
        f'<path class="queue" d="M{sent} {y}H{waited}"/><path class="back" d="M{waited} {y}H{end}"/>',
        f'<path class="sent" d="M{sent} {y - 5}v10"/>',
        *_dues(at, picture, scale),
        _ending(lane, end, y),
        f'<text class="aside" x="{ASIDE}" y="{y + 4}">{_safe(words.aside(lane, mine))}</text>',
    ]
    kind = "lane"
    if lane.name in marked:
        kind = "lane marked"
        parts.append(f'<path class="flag" d="M2 {y - 6}l8 6l-8 6z"/>')
    true = [block for block in said.blocks if at in block.lanes]
    delay_ns = said.delay_ns if _opens(at, picture) else 0
    return _element(kind, words.of_lane(said.lanes[at], true, delay_ns), "".join(parts), first=at == 0)


def _ending(lane: Lane, x: str, y: int) -> str:
    """Draw a triangle for an answer, a cross for a refusal, and a question mark for neither: shapes as well as colours."""
    if lane.answered_ns is None:
        return f'<text class="bad open" x="{x}" y="{y + 5}">?</text>'
    if lane.kind:
        return f'<path class="bad" d="M{x} {y}m-4 -4l8 8m0 -8l-8 8"/>'
    return f'<path class="answer" d="M{x} {y - 5}l7 5l-7 5z"/>'


def _dues(at: int, picture: Lanes, scale: _Scale) -> Iterator[str]:
    """Draw where a queue delay ends, and where a timeout does."""
    lane, top = picture.lanes[at], _y(at)
    for kind, took in (("delay", picture.delay_ns if _opens(at, picture) else 0), ("timeout", lane.timeout_ns)):
        if took and lane.sent_ns + took <= scale.span_ns:
            end = scale.x(lane.sent_ns + took)
            yield f'<path class="{kind}" d="M{scale.x(lane.sent_ns)} {top + 3}H{end}M{end} {top + 1}v{ROW - 2}"/>'


def _opens(at: int, picture: Lanes) -> bool:
    """Return whether a delay counts from this request: the oldest of its batch, or one without a batch."""
    mine = [block for block in picture.blocks if at in block.lanes]
    return not mine or any(min(block.lanes, key=lambda one: picture.lanes[one].sent_ns) == at for block in mine)


def _labels(picture: Lanes, said: Lanes, scale: _Scale) -> Iterator[str]:
    """Number the batches above the lanes, as far as the numbers do not touch; each can be reached all the same."""
    free = 0.0
    both = [pair for pair in zip(picture.blocks, said.blocks, strict=True) if pair[0].enter_ns is not None]
    for block, true in sorted(both, key=lambda pair: pair[0].enter_ns or 0):
        x = scale.x(block.enter_ns or 0)
        label = f"batch {block.number}" if len(picture.blocks) <= TICKS else str(block.number)
        parts = [f'<path d="M{x} {TOP - 8}v8"/>']
        if float(x) >= free:
            parts.append(f'<text x="{x}" y="{TOP - 11}">{_safe(label)}</text>')
            free = float(x) + 7 * len(label) + 6
        yield _element("label", words.of_block(true), "".join(parts))


def _mark(name: str, at: int, scale: _Scale, bottom: int) -> str:
    return _element("mark", words.of_mark(name, at), f'<path d="M{scale.x(at)} {TOP}V{bottom + 5}m-4 0h8l-4 -6z"/>')


def _limit(limit: Limit, picture: Lanes, scale: _Scale, bottom: int) -> str:
    """Draw a bound: a bar where it ends, the slack behind it filled, and what noise would explain as an outline."""
    top, high = (TOP, bottom - TOP) if limit.lane is None else (_y(limit.lane), ROW)
    at = limit.since_ns + limit.bound_ns
    slack, noise = at + limit.slack_ns, at + limit.slack_ns + STALLS * limit.stall_ns
    since, end = scale.x(limit.since_ns), scale.x(at)
    place = f'y="{top + 1}" height="{high - 2}"'
    shape = (
        f'<rect class="slack" x="{end}" width="{scale.wide(at, slack, 0)}" {place}/>'
        f'<rect class="noise" x="{scale.x(slack)}" width="{scale.wide(slack, noise, 0)}" {place}/>'
        f'<path class="bar" d="M{since} {top + high - 2}H{end}M{end} {top}v{high}m-5 0h10l-5 -6z"/>'
    )
    return _element("limit over" if over_ns(limit) > 0 else "limit", words.of_limit(limit, picture), shape)


def _element(kind: str, says: str, shape: str, *, first: bool = False) -> str:
    """Return what can be pointed at and reached by keyboard. One element of a picture is a stop of the tab key."""
    stop = ' tabindex="0"' if first else ""
    return f'<g class="{kind}" role="img"{stop}><title>{_safe(says)}</title>{shape}</g>'


def _safe(text: str) -> str:
    """Return text from outside for an element or an attribute."""
    return str(escape(visible(text)))


def _y(lane: int) -> int:
    return TOP + ROW * lane


def _tenths(tenths: int) -> str:
    whole, tenth = divmod(tenths, 10)
    return f"{whole}.{tenth}" if tenth else str(whole)
