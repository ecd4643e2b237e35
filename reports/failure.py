"""The block of text about a rule that did not pass: requirement, expected and actual, picture, hint, commands."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import PurePath
from typing import Any

from batchproof.reports.formats.jsonl import Line
from batchproof.reports.wording import clean, duration, hanging, line, message

WIDTH = 100
PROBLEMS = 3  # of the rig that are shown
PICTURE_WIDTH = WIDTH - 2  # columns; a picture is indented by two
_ELSEWHERE = re.compile(r"\(in a drive of ((?:[A-Z]+)-(?:[A-Z]+-\d{3}|\*))")  # needed again: the rule whose drive it was
_CONFIG = {
    "max_batch_size": "max_batch",
    "max_queue_delay_ns": "delay",
    "queue_timeout_ns": "timeout",
    "preferred_batch_size": "preferred",
}


def text(result: Line, attempts: Iterable[Line], header: Line, folder: str | PurePath = "", cause: str = "") -> str:
    """Return the failure block of one result, at most 100 columns wide except for the commands at its end.

    attempts: those of the whole report, or of this rule; the deciding one gives config, note and picture.
    folder: where the report lies, so that the replay command works from here; without it, from within the report.
    cause: the rule from which it follows, if there is one.
    """
    mine = [attempt for attempt in attempts if attempt["rule"] == result["rule"]]
    shown = deciding(result, mine)
    rows = [
        *_title(result, header),
        *hanging("config", clean(settings(shown, header))),
        *hanging("expected", message(result["expected"])),
        *hanging("actual", message(result["actual"])),
        *hanging("reason", message(result["reason"])),
        *hanging("follows", f"from {cause}" if cause else ""),
        *hanging("note", message(shown.get("note") or "")),
        *hanging("attempts", ", ".join(attempt["verdict"] for attempt in mine) if len(mine) > 1 else ""),
        *(f"  {clean(row)[:PICTURE_WIDTH]}".replace("\n", " ") for row in shown.get("picture", ())),
        *_several("rig", _first([message(problem) for problem in shown.get("problems", ())])),
        *_several("check", [message(hint) for hint in result["hints"]]),
        *hanging("known", line(result["link"])),
        *(f"  {'' if number else 'again':<10}{one}" for number, one in enumerate(again(result, mine, header, folder))),
    ]
    return "\n".join(rows)


def _first(problems: list[str]) -> list[str]:
    """Return the first problems of the rig, and how many there are more: those mostly follow from these."""
    more = len(problems) - PROBLEMS
    return [*problems[:PROBLEMS], f"and {more} more"] if more > 1 else problems


def again(result: Line, attempts: Iterable[Line], header: Line, folder: str | PurePath = "") -> Iterator[str]:
    """Yield the commands that judge it again. They are to be copied: each word is quoted, as it may come from outside."""
    if result["bundle"]:
        bundle = PurePath(folder, result["bundle"]).as_posix()
        yield f"batchproof check --replay {_word(bundle)}   # judged again, offline"
    seed = _seed(deciding(result, [one for one in attempts if one["rule"] == result["rule"]]), header)
    drives = (found for found in _ELSEWHERE.findall(result["actual"] or "") if found != result["rule"])
    rules = ",".join(dict.fromkeys((result["rule"], *drives)))
    yield f"{_command(header)} --rules {_word(rules)} --seed {seed}"


def deciding(result: Line, mine: Sequence[Line]) -> Line:
    """Return the attempt that decided, or else the last one; nothing if there was none."""
    same = next((attempt for attempt in reversed(mine) if attempt["verdict"] == result["verdict"]), None)
    return same or (mine[-1] if mine else {})


def _title(result: Line, header: Line) -> Iterator[str]:
    """The rule on the left, the target on the right; on a line of its own where both do not fit."""
    target = header["target"]
    left = f"{result['verdict']}  {line(result['rule'])}  {line(result['level']):<6} {line(result['title'])}"
    right = line(f"{target['name']} {target['version']}  [{target['sight']}]").replace(" [", "  [")
    if len(left) + 2 + len(right) <= WIDTH:
        yield left + right.rjust(WIDTH - len(left))
    else:
        yield left
        yield from hanging("target", right.replace("  [", " ["))


def _seed(shown: Line, header: Line) -> int:
    return int(shown.get("seed", header["seed"]))


def settings(shown: Line, header: Line) -> str:
    """Return the configuration and the seed of an attempt in one line."""
    config: Mapping[str, Any] = shown.get("config") or {}
    words = [_setting(key, value) for key, value in config.items() if value or key != "queue_timeout_ns"]  # 0: never
    return "  ".join([*words, f"seed {_seed(shown, header)}"])


def _setting(key: str, value: Any) -> str:
    """One setting in a few words, such as `delay 200 ms` or `preferred 2, 6`; a flag is shown by its name."""
    name = _CONFIG.get(key, key.removesuffix("_ns"))
    if value is True:
        return name
    return f"{name} {duration(value) if key.endswith('_ns') and isinstance(value, int) else _terse(value)}"


def _terse(value: Any) -> str:
    """A value in a few words; nested settings are shown only if they are set."""
    if isinstance(value, Mapping):
        return f"({', '.join(_setting(key, one) for key, one in value.items() if one)})"
    return ", ".join(map(_terse, value)) if isinstance(value, list) else str(value)


def _several(label: str, texts: Sequence[str]) -> Iterator[str]:
    for number, one in enumerate(texts):
        yield from hanging("" if number else label, one)


def _command(header: Line) -> str:
    """The command that ran the suite, without its rules and its seed, each word quoted anew; or one with just the target."""
    try:
        words = shlex.split(header.get("command", ""))
    except ValueError:
        words = []
    if words[:2] != ["batchproof", "check"]:
        words = ["batchproof", "check", "--target", header["target"]["reached"]]
    mine = [word for word, before in zip(words, ["", *words], strict=False) if not {word, before} & {"--rules", "--seed"}]
    return " ".join(map(_word, mine))


def _word(text: str) -> str:
    return shlex.quote(clean(text).replace("\n", " "))
