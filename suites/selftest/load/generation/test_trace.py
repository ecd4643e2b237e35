"""A trace in the columns of the Azure LLM inference traces."""

from __future__ import annotations

from pathlib import Path

import pytest

from batchproof.load.generation.trace import fitted, read
from batchproof.load.schedule import ScheduleError

HEAD = "TIMESTAMP,ContextTokens,GeneratedTokens\n"


def written(folder: Path, text: str) -> Path:
    """Write a trace."""
    path = folder / "trace.csv"
    path.write_text(text, encoding="utf-8")
    return path


def test_the_published_columns_are_read(tmp_path: Path) -> None:
    """Seven digits of a second are kept, and the first request is due at once."""
    rows = "2023-11-16 18:17:03.9799600,4808,10\n2023-11-16 18:17:04.0319600,3180,8\n\n"
    found = read(written(tmp_path, HEAD + rows))

    assert found.schedule.due_ns.tolist() == [0, 52_000_000]
    assert (found.prompts.tolist(), found.texts.tolist()) == ([4808, 3180], [10, 8])


def test_other_columns_and_times_in_seconds(tmp_path: Path) -> None:
    """The order of the columns does not matter, nor do more of them; a time zone is understood."""
    found = read(written(tmp_path, "GeneratedTokens,x,ContextTokens,TIMESTAMP\n1,-,2,0.5\n3,-,4,1.75\n"))
    zoned = read(written(tmp_path, HEAD + "2024-05-10 00:00:00.009930+00:00,1,1\n2024-05-10T00:00:01Z,1,1\n"))

    assert found.schedule.due_ns.tolist() == [0, 1_250_000_000]
    assert found.prompts.tolist() == [2, 4]
    assert zoned.schedule.due_ns.tolist() == [0, 990_070_000]


def test_a_trace_is_made_smaller_in_proportion(tmp_path: Path) -> None:
    """All lengths are divided by the same number."""
    small, divisor = fitted(read(written(tmp_path, HEAD + "0,4808,10\n1,100,1\n")), 512)

    assert divisor == 10
    assert (small.prompts.tolist(), small.texts.tolist()) == ([481, 10], [1, 1])
    assert "divided by 10" in small.spec


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "lacks its first line"),
        ("TIMESTAMP,ContextTokens\n1,2\n", "lacks GeneratedTokens"),
        (HEAD, "has no requests"),
        (HEAD + "0,1,1\n1,2\n", "line 3: it has 2 fields"),
        (HEAD + "0,1,one\n", "line 2: '1' and 'one' are not two token counts"),
        (HEAD + "0,1,0\n", "line 2: a prompt and a text need at least one token"),
        (HEAD + "5,1,1\n4,1,1\n", "line 3: its time is before that of the line above"),
        (HEAD + "soon,1,1\n", "line 2: 'soon' is not a time"),
        (HEAD + "inf,1,1\n", "line 2: 'inf' is not a time"),
    ],
)
def test_a_wrong_trace_is_refused(tmp_path: Path, text: str, said: str) -> None:
    """The message names the line."""
    with pytest.raises(ScheduleError, match=said):
        read(written(tmp_path, text))


def test_a_missing_trace_is_refused(tmp_path: Path) -> None:
    """The message says why it cannot be read."""
    with pytest.raises(ScheduleError, match="cannot read the trace"):
        read(tmp_path / "none.csv")
