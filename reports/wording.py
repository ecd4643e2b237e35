"""Words and numbers as people read them, and text from outside made safe to show."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

LIMIT = 500  # characters of a message from outside; a server's stack trace would bury the number that matters
_LINES = 10

# Control sequences of terminals, whole: CSI (colours, cursor), OSC (titles, links), and two-character ones.
_ANSI = re.compile(r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[ -/]*[0-~]")
# Characters that XML forbids, that a terminal obeys, or that reorder or hide what stands around them.
_HIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\ufffe\uffff\ud800-\udfff]"
)
_MARKDOWN = re.compile(r"[\\`*\[\]|~$]|(?<![^\W_])_|_(?![^\W_])")  # an underscore within a word marks nothing up
_URL = re.compile(r"https?://[^\s<>()|`\"\\]+")


def clean(text: object) -> str:
    """Return the text without terminal escapes and invisible characters; only line feeds remain of all breaks."""
    shown = re.sub("\r\n?|[\x85\u2028\u2029]", "\n", str(text)).replace("\t", " ")
    return _HIDDEN.sub("", _ANSI.sub("", shown))


def message(text: object) -> str:
    """Clean a message from outside, drop its blank lines, and cut it after 500 characters or 10 lines."""
    lines = [part.rstrip() for part in clean(text).split("\n") if part.strip()]
    whole = "\n".join(lines)
    kept = "\n".join(lines[:_LINES])[:LIMIT].rstrip()
    return kept if kept == whole else f"{kept} ... ({len(whole) - len(kept)} more characters)"


def line(text: object) -> str:
    """Return `message` in one line."""
    return " ".join(message(text).split())


def cell(text: object) -> str:
    """Return the text for a cell or line of markdown, escaped so that it cannot become markup or HTML."""
    shown = line(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return _MARKDOWN.sub(lambda match: "\\" + match[0], shown)


def link(url: str) -> str:
    """Return a markdown link if this is a web address, else the text, escaped."""
    return f"<{url}>" if _URL.fullmatch(url) else cell(url)


def fenced(text: str) -> str:
    """Return a block of code that no run of backticks in the text can end."""
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}text\n{text}\n{fence}"


def table(heads: Sequence[str], rows: Sequence[Sequence[str]], right: Sequence[str] = ()) -> str:
    """Return a markdown table, aligned in the source too; `right` names the columns of numbers.

    The cells are markdown already. A cell beyond 80 characters does not widen its column for all the others.
    """
    widths = [max(3, *(min(len(row[at]), 80) for row in (heads, *rows))) for at in range(len(heads))]
    flush = [str.rjust if head in right else str.ljust for head in heads]
    rule = ["-" * (width - 1) + (":" if head in right else "-") for head, width in zip(heads, widths, strict=True)]
    lines = [[pad(text, width) for pad, text, width in zip(flush, row, widths, strict=True)] for row in (heads, *rows)]
    return "\n".join(f"| {' | '.join(row)} |" for row in (lines[0], rule, *lines[1:]))


def hanging(label: str, text: str, width: int = 100) -> Iterator[str]:
    """Yield `  label     text`, the text wrapped in its own column; nothing for an empty text."""
    for paragraph in text.splitlines():
        for part in textwrap.wrap(paragraph, width - 12, break_on_hyphens=False):
            yield f"  {label:<10}{part}"
            label = ""


def count(number: int, noun: str) -> str:
    """Return `1 rule` or `2 rules`."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def listed(words: Sequence[str], joint: str = "and") -> str:
    """Return `a`, `a and b` or `a, b and c`."""
    *head, last = words
    return f"{', '.join(head)} {joint} {last}" if head else last


def ids_in_words(ids: Iterable[str]) -> str:
    """Return ids of rules for people to read: `DB-SIZE-003 to 007 and DB-ORDER-007`. Two neighbours are not a range."""
    split = [(area, int(number)) for area, _, number in (one.rpartition("-") for one in ids)]
    runs = [list(run) for _, run in groupby(enumerate(split), key=lambda pair: (pair[1][0], pair[1][1] - pair[0]))]
    words = []
    for run in runs:
        (_, (area, first)), (_, (_, last)) = run[0], run[-1]
        words += [f"{area}-{number:03}" for number in (first, last)] if last == first + 1 else [_range(area, first, last)]
    return listed(words)


def host_in_words(host: Mapping[str, Any]) -> str:
    """Return what the header of a report says of the host: `python 3.11.7, kernel 6.1.0, cpus 2, not kept awake`."""
    facts = [f"{name} {value}" for name, value in host.items() if name != "awake"]
    return ", ".join([*facts, "kept awake" if host.get("awake") else "not kept awake"])


def _range(area: str, first: int, last: int) -> str:
    return f"{area}-{first:03}" + (f" to {last:03}" if last > first else "")


def duration(ns: int) -> str:
    """Return nanoseconds in the largest unit that keeps the number short: `200 ms`, `1.5 ms`, `1 h`."""
    for unit, size in (("h", 3_600_000_000_000), ("s", 1_000_000_000)):
        if ns and ns % size == 0:
            return f"{ns // size} {unit}"
    return f"{ns / 1e6:.3f}".rstrip("0").rstrip(".") + " ms"


def number(value: object) -> str:
    """Return a number as people read it, with four digits and separated thousands. Text stays as it is."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return line(value)
    return f"{value:,}" if isinstance(value, int) else f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"
