"""Recorded requests for text, in the columns of the Azure LLM inference traces: TIMESTAMP, ContextTokens, GeneratedTokens.

The traces are published at github.com/Azure/AzurePublicDataset (AzureLLMInferenceDataset2023.md); their timestamps look like
`2023-11-16 18:17:03.9799600`.
"""

from __future__ import annotations

import contextlib
import csv
from datetime import datetime, timedelta
from pathlib import Path

import numpy as np

from batchproof.host.plain_files import read_plain_text
from batchproof.load.generation.demand import Demand
from batchproof.load.schedule import LARGEST_TRACE, Schedule, ScheduleError

COLUMNS = ("TIMESTAMP", "ContextTokens", "GeneratedTokens")
SECOND = timedelta(seconds=1)


def read(path: str | Path) -> Demand:
    """Return the requests of a trace, the first of which is due at once; ScheduleError names the wrong line.

    A time is an ISO 8601 timestamp, or a number of seconds.
    """
    file = Path(path)
    try:
        if file.stat().st_size > LARGEST_TRACE:
            raise ScheduleError(f"{file} has more than {LARGEST_TRACE >> 20} MiB")
        rows = list(csv.reader(read_plain_text(file, "utf-8-sig").splitlines()))
    except OSError as error:
        raise ScheduleError(f"cannot read the trace {file}: {error.strerror}") from None
    except (UnicodeDecodeError, csv.Error) as error:
        raise ScheduleError(f"cannot read the trace {file}: {error}") from None
    if not rows or (missing := [name for name in COLUMNS if name not in rows[0]]):
        lacks = ", ".join(missing) if rows else "its first line"
        raise ScheduleError(f"{file} lacks {lacks}: a trace is a CSV file with the columns {', '.join(COLUMNS)}")
    places = [rows[0].index(name) for name in COLUMNS]
    found: list[tuple[int, int, int]] = []
    for number, row in enumerate(rows[1:], 2):
        if any(cell.strip() for cell in row):
            found.append(_request(row, places, f"{file}, line {number}"))
            if len(found) > 1 and found[-1][0] < found[-2][0]:
                raise ScheduleError(f"{file}, line {number}: its time is before that of the line above")
    if not found:
        raise ScheduleError(f"{file} has no requests")
    due, prompts, texts = (np.array(column, np.int64) for column in zip(*found, strict=True))
    return Demand(Schedule(due - due[0], f"{file.name}"), prompts, texts, np.zeros(len(due), np.int32), f"{file.name}")


def fitted(trace: Demand, longest: int) -> tuple[Demand, int]:
    """Return a trace whose requests fit into `longest` tokens, and the number that all lengths were divided by.

    All are divided by the same integer and rounded up, so that long and short requests stay in proportion.
    """
    divisor = 1
    while True:
        prompts, texts = (-(-lengths // divisor) for lengths in (trace.prompts, trace.texts))
        if int((prompts + texts).max()) <= longest:
            told = f"{trace.spec}, lengths divided by {divisor}" if divisor > 1 else trace.spec
            return Demand(trace.schedule, prompts, texts, trace.client, told), divisor
        divisor += 1


def _request(row: list[str], places: list[int], where: str) -> tuple[int, int, int]:
    """Return its due time in ns, and its two lengths."""
    if len(row) <= max(places):
        raise ScheduleError(f"{where}: it has {len(row)} fields, but the columns need {max(places) + 1}")
    time, *lengths = (row[place].strip() for place in places)
    if not all(one.isdecimal() for one in lengths):
        raise ScheduleError(f"{where}: '{lengths[0]}' and '{lengths[1]}' are not two token counts")
    prompt, text = map(int, lengths)
    if prompt < 1 or text < 1:
        raise ScheduleError(f"{where}: a prompt and a text need at least one token")
    return _time_ns(time, where), prompt, text


def _time_ns(text: str, where: str) -> int:
    with contextlib.suppress(ValueError, OverflowError):
        return round(float(text) * 1e9)
    whole, _, fraction = text.removesuffix("Z").partition(".")  # Python 3.10 reads at most six digits
    digits, _, zone = fraction.partition("+")
    try:
        at = datetime.fromisoformat(f"{whole}+{zone}" if zone else whole)
        start = datetime(1970, 1, 1, tzinfo=at.tzinfo)
        return (at - start) // SECOND * 10**9 + int((digits or "0").ljust(9, "0")[:9])
    except ValueError:
        raise ScheduleError(f"{where}: '{text}' is not a time") from None
