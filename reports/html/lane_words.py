"""What a picture of a timeline says in words: the exact times of whatever a reader points at."""

from __future__ import annotations

from collections.abc import Sequence

from batchproof.reports.html.page import visible
from batchproof.reports.lanes import Block, Lane, Lanes, Limit
from batchproof.reports.wording import count, duration
from batchproof.stats.gates import STALLS

NO_CLOCK = "The model's clock cannot be compared with the client's, so only the client's times are drawn."

ONE_MOMENT = "All of it happened at the same moment of simulated time: the picture shows the order, and not times."


def of_lane(lane: Lane, mine: Sequence[Block], delay_ns: int) -> str:
    """Return the whole life of a request in a sentence. mine: the batches that it was in."""
    rows = f" ({count(lane.rows, 'row')})" if lane.rows != 1 else ""
    parts = [f"{plain(lane.name)}{rows}: sent at {ms(lane.sent_ns)}"]
    if lane.accepted_ns is not None and lane.accepted_ns != lane.sent_ns:
        parts.append(f"seen in the queue at {ms(lane.accepted_ns)}")
    for block in mine:
        if block.enter_ns is None:
            parts.append(f"in batch {block.number}")
            continue
        waited = f"waited for {ms(block.enter_ns - lane.sent_ns)}"
        parts.append(f"{waited}, in the model with batch {block.number} from {ms(block.enter_ns)} {_until(block)}")
    fate = "never answered" if lane.answered_ns is None else f"{plain(lane.kind) or 'answered'} at {ms(lane.answered_ns)}"
    text = f"{', '.join([*parts, fate])}."
    for what, took in (("queue delay", delay_ns), ("timeout", lane.timeout_ns)):
        if took:
            text += f" Its {what} of {duration(took)} ends at {ms(lane.sent_ns + took)}."
    return text


def of_block(block: Block) -> str:
    """Return when a batch was in the model, and how large it was."""
    many = f"{count(block.requests, 'request')}, {count(block.rows, 'row')}"
    enter_ns = block.enter_ns or 0
    stayed = "" if block.exit_ns is None else f", for {ms(block.exit_ns - enter_ns)}"
    more = " It failed." if block.failed else ""
    more += f" {len(block.lanes)} are drawn." if len(block.lanes) < block.requests else ""
    where = f"Batch {block.number} on instance {block.instance}"
    return f"{where}: {many}, in the model from {ms(enter_ns)} {_until(block)}{stayed}.{more}"


def of_limit(limit: Limit, picture: Lanes) -> str:
    """Return a bound, what it allows beyond it, and what was measured."""
    whose = "the drive" if limit.lane is None else plain(picture.lanes[limit.lane].name)
    over, noise = over_ns(limit), STALLS * limit.stall_ns
    ended = "kept" if over <= 0 else "exceeded" if over > noise else "exceeded by no more than noise explains"
    allowed = f"{ms(limit.slack_ns)} slack, {STALLS} x {ms(limit.stall_ns)} worst stall"
    until = f"from {ms(limit.since_ns)} on, so until {ms(limit.since_ns + limit.bound_ns)}"
    return f"Bound for {whose}: {ms(limit.bound_ns)} {until}; {allowed}. It took {ms(limit.observed_ns)}: {ended}."


def of_stall(start_ns: int, took_ns: int) -> str:
    """Return for how long the host stalled."""
    return f"The host stalled for {ms(took_ns)}, from {ms(start_ns)} to {ms(start_ns + took_ns)}."


def of_mark(name: str, at_ns: int) -> str:
    """Return what the rig did: `release gate at 5 ms`."""
    return f"{plain(name).replace(':', ' ')} at {ms(at_ns)}."


def aside(lane: Lane, mine: Sequence[Block]) -> str:
    """Return the few words next to a lane: its batch, its rows, and why it was refused."""
    numbers = " and ".join(str(block.number) for block in mine[:3])
    rows = count(lane.rows, "row") if lane.rows != 1 else ""
    return short(", ".join(filter(None, (numbers and f"batch {numbers}", rows, lane.kind))), 22)


def notes(picture: Lanes, span_ns: int) -> tuple[str, ...]:
    """Return what a reader has to know about a picture that shows so much time, in sentences; most need none."""
    found = []
    if picture.hidden:
        are = "is" if picture.hidden == 1 else "are"
        found.append(f"{count(picture.hidden, 'more request')} of this drive {are} not drawn.")
    if any(block.enter_ns is None for block in picture.blocks):
        found.append(NO_CLOCK)
    if picture.lanes and not span_ns:
        found.append(ONE_MOMENT)
    elif picture.delay_ns > span_ns:
        found.append(f"The queue delay of {duration(picture.delay_ns)} ends outside the picture.")
    return tuple(found)


def over_ns(limit: Limit) -> int:
    """Return by how much a bound and its slack were exceeded; at most 0 if they were kept."""
    return limit.observed_ns - limit.bound_ns - limit.slack_ns


def short(text: str, most: int) -> str:
    """Return the text in one line of at most so many characters."""
    text = plain(text)
    return text if len(text) <= most else f"{text[: most - 1]}\u2026"


def plain(text: str) -> str:
    """Return the text in one line, with whatever cannot be seen written out."""
    return " ".join(visible(text).split())


def ms(ns: int) -> str:
    """Return milliseconds with microseconds, without zeros at the end."""
    micros = (abs(ns) + 500) // 1000
    sign = "-" if ns < 0 and micros else ""
    text = f"{micros // 1000}.{micros % 1000:03}".rstrip("0").rstrip(".")
    return f"{sign}{text} ms"


def _until(block: Block) -> str:
    return "and never left it" if block.exit_ns is None else f"until {ms(block.exit_ns)}"
