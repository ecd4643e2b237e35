"""An engine's iterations as a picture in plain text: one line for each request, one column for each iteration."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from batchproof.reports import choice

LEGEND = "p part of a prompt  P its end  . next token  $ last token  ~ waiting  x aborted  ! out of place"
BARS = " ▁▂▃▄▅▆▇█"
NONE = "(no iteration was seen)"
AROUND = 6  # how many iterations before the first wrong one are shown


def draw(
    data: Mapping[str, Any], width: int = 100, most: int = 16, *, mark: int | None = None, about: Collection[str] = ()
) -> str:
    """Return the picture of a `Generations`' JSON data, at most `width` columns wide, of `most` requests.

    Below the requests are the rows, the share of the token budget and the share of the KV blocks used in each iteration. If
    a text is wrong, the iterations around its first wrong token are shown. mark: an iteration that is pointed at instead;
    about: the requests that must be seen, from the arrival of the first of them if nothing else tells where to look.
    """
    requests, iterations = data["requests"], data["iterations"]
    if not requests:
        return "(no request was sent)"
    shown = chosen(data, most, about)
    label = min(24, max(6, *(len(one["name"]) for one in shown)))
    window = window_of(data, max(8, width - label - 1), mark, about)
    lines = [_line(one, data, label, window) for one in shown]
    if mark is not None and mark in window:
        lines.append(f"{'':{label}} {' ' * (mark - window.start)}^ iteration {mark}")
    if len(requests) > len(shown):
        lines.append(f"... and {len(requests) - len(shown)} more")
    if not iterations:
        return "\n".join([*(line.rstrip() for line in lines), NONE])
    below = [_strip(name, values, label) for name, values in strips(data, window)]
    foot = f"{'':{label}} iterations {window[0]} to {window[-1]} of {len(iterations)}" if window else ""
    return "\n".join(line.rstrip()[:width] for line in (*lines, *below, foot, LEGEND) if line.strip())


def chosen(data: Mapping[str, Any], most: int, about: Collection[str] = ()) -> list[Mapping[str, Any]]:
    """Return the requests that a picture is about, or whose text is wrong, and those around them, in their order."""
    together = [[row["serial"] for row in one["rows"]] for one in data["iterations"]]
    return choice.chosen(data["requests"], most, (*about, *data["wrong"]), together)


def window_of(data: Mapping[str, Any], columns: int, mark: int | None = None, about: Collection[str] = ()) -> range:
    """Return the iterations that a picture shows: those around the marked one, or around the first wrong token.

    about: without both, the iterations since the first of these requests arrived are shown.
    """
    count = len(data["iterations"])
    if mark is None and data["wrong"]:
        mark = min(_made_at(one, data["wrong"][one["name"]]) for one in data["requests"] if one["name"] in data["wrong"])
    if mark is None:
        mark = min((one["at"] for one in data["requests"] if one["name"] in about), default=None)
    if count <= columns or mark is None:
        return range(min(count, columns))
    first = max(0, min(mark - AROUND, count - columns))
    return range(first, first + columns)


def _made_at(one: Mapping[str, Any], place: int) -> int:
    """Return after how many iterations a token of a request came out."""
    so_far = 0
    for at, _ns, tokens, _sample in one["pieces"]:
        so_far += len(tokens)
        if so_far > place:
            return int(at)
    return 0


def _line(one: Mapping[str, Any], data: Mapping[str, Any], label: int, window: range) -> str:
    cells = [cell(one, data, place)[0] for place in window]
    ends = ",".join(dict.fromkeys(end[0] for end in one["ends"])) or "no end"
    mark = "" if data["iterations"] else f"{len(one['prompt'])} tokens, {sum(len(p[2]) for p in one['pieces'])} back, {ends}"
    return f"{one['name'][:label]:{label}} {''.join(cells)}{mark}"


def cell(one: Mapping[str, Any], data: Mapping[str, Any], place: int) -> tuple[str, Mapping[str, Any] | None]:
    """Return what a request does in an iteration, as a letter of the legend or a space, and its row there."""
    ended = max((end[1] for end in one["ends"]), default=None)
    row = next((row for row in data["iterations"][place]["rows"] if row["serial"] == one["serial"]), None)
    if row is None:
        if one["aborted_at"] is not None and place == one["aborted_at"]:
            return "x", None
        return "~" if one["at"] <= place and (ended is None or place < ended) else " ", None
    if row["torn"]:
        return "!", row
    prompt = len(one["prompt"])
    if row["start"] < prompt:
        return "P" if row["start"] + row["count"] >= prompt else "p", row
    return "$" if ended == place + 1 else ".", row


def strips(data: Mapping[str, Any], window: range) -> list[tuple[str, list[float]]]:
    """Return the share that each iteration has of the rows, of the token budget and, if they are seen, of the KV blocks."""
    config, seen = data["config"], [data["iterations"][place]["rows"] for place in window]
    rows = [len(one) / config["max_num_seqs"] for one in seen]
    tokens = [sum(row["count"] for row in one) / config["max_num_batched_tokens"] for one in seen]
    blocks = [len({block for row in one for block in row["blocks"]}) / config["num_blocks"] for one in seen]
    return [("rows", rows), ("budget", tokens), *([("blocks", blocks)] if any(blocks) else [])]


def _strip(name: str, shares: Sequence[float], label: int) -> str:
    bars = ("+" if share > 1 else BARS[max(1, round(share * 8)) if share else 0] for share in shares)
    return f"{name[:label]:{label}} {''.join(bars)}"
