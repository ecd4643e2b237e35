"""An engine's iterations as a picture in plain text: one line for each request, one column for each iteration."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

LEGEND = "p part of a prompt  P its end  . next token  $ last token  ~ waiting  x taken back  ! out of place"
BARS = " ▁▂▃▄▅▆▇█"
NONE = "(no iteration was seen)"
AROUND = 6  # iterations before the first wrong one that are shown


def draw(data: Mapping[str, Any], width: int = 100, most: int = 16) -> str:
    """Return the picture of a `Generations`' JSON data, at most `width` columns wide, of `most` requests.

    Below the requests stand the rows, the share of the token budget, and the share of the KV blocks of each iteration. If a
    text is wrong, the iterations around its first wrong token are shown.
    """
    requests, iterations = data["requests"], data["iterations"]
    if not requests:
        return "(no request was sent)"
    shown = _chosen(data, most)
    label = min(24, max(6, *(len(one["name"]) for one in shown)))
    columns = max(8, width - label - 1)
    first = _first(data, columns)
    window = range(first, min(len(iterations), first + columns))
    lines = [_line(one, data, label, window) for one in shown]
    if len(requests) > len(shown):
        lines.append(f"... and {len(requests) - len(shown)} more")
    if not iterations:
        return "\n".join([*(line.rstrip() for line in lines), NONE])
    strips = [_strip(name, values, label) for name, values in _strips(data, window)]
    foot = f"{'':{label}} iterations {first} to {window[-1]} of {len(iterations)}" if window else ""
    return "\n".join(line.rstrip()[:width] for line in (*lines, *strips, foot, LEGEND) if line.strip())


def _chosen(data: Mapping[str, Any], most: int) -> list[Mapping[str, Any]]:
    """Return the requests with a wrong text, and then the first ones, in the order in which they were sent."""
    wrong = [one for one in data["requests"] if one["name"] in data["wrong"]][:most]
    others = [one for one in data["requests"] if one not in wrong][: most - len(wrong)]
    return [one for one in data["requests"] if one in wrong or one in others]


def _first(data: Mapping[str, Any], columns: int) -> int:
    """Return the iteration with which the picture begins."""
    if len(data["iterations"]) <= columns or not data["wrong"]:
        return 0
    wrong = min(_made_at(one, data["wrong"][one["name"]]) for one in data["requests"] if one["name"] in data["wrong"])
    return max(0, min(wrong - AROUND, len(data["iterations"]) - columns))


def _made_at(one: Mapping[str, Any], place: int) -> int:
    """Return after how many iterations a token of a request came out."""
    so_far = 0
    for at, _ns, tokens, _sample in one["pieces"]:
        so_far += len(tokens)
        if so_far > place:
            return int(at)
    return 0


def _line(one: Mapping[str, Any], data: Mapping[str, Any], label: int, window: range) -> str:
    ended = max((end[1] for end in one["ends"]), default=None)
    cells = []
    for place in window:
        row = next((row for row in data["iterations"][place]["rows"] if row["serial"] == one["serial"]), None)
        if row is not None:
            cells.append(_cell(row, one, last=ended == place + 1))
        elif one["aborted_at"] is not None and place == one["aborted_at"]:
            cells.append("x")
        else:
            cells.append("~" if one["at"] <= place and (ended is None or place < ended) else " ")
    ends = ",".join(dict.fromkeys(end[0] for end in one["ends"])) or "no end"
    mark = "" if data["iterations"] else f"{len(one['prompt'])} tokens, {sum(len(p[2]) for p in one['pieces'])} back, {ends}"
    return f"{one['name'][:label]:{label}} {''.join(cells)}{mark}"


def _cell(row: Mapping[str, Any], one: Mapping[str, Any], *, last: bool) -> str:
    if row["torn"]:
        return "!"
    prompt = len(one["prompt"])
    if row["start"] < prompt:
        return "P" if row["start"] + row["count"] >= prompt else "p"
    return "$" if last else "."


def _strips(data: Mapping[str, Any], window: range) -> list[tuple[str, list[float]]]:
    config, seen = data["config"], [data["iterations"][place]["rows"] for place in window]
    rows = [len(one) / config["max_num_seqs"] for one in seen]
    tokens = [sum(row["count"] for row in one) / config["max_num_batched_tokens"] for one in seen]
    blocks = [len({block for row in one for block in row["blocks"]}) / config["num_blocks"] for one in seen]
    return [("rows", rows), ("budget", tokens), *([("blocks", blocks)] if any(blocks) else [])]


def _strip(name: str, shares: Sequence[float], label: int) -> str:
    bars = ("+" if share > 1 else BARS[max(1, round(share * 8)) if share else 0] for share in shares)
    return f"{name[:label]:{label}} {''.join(bars)}"
