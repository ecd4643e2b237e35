"""The export of a history under test: it comes back as it was, and what is wrong in it is named by its line."""

from __future__ import annotations

import json
from typing import Any

import pytest

from batchproof.reports import ReportError
from batchproof.reports.formats.history import facts, read, written
from batchproof.suites.selftest.reports.history.samples import OTHER, run

RUNS = [(3, run(1)), (9, run(2, commit=None, host=OTHER))]


def lines(**change: Any) -> bytes:
    """Return an export whose first run is changed."""
    head, first, *rest = written(RUNS)
    return "".join([head, json.dumps({**json.loads(first), **change}) + "\n", *rest]).encode()


def test_an_export_comes_back() -> None:
    """Each run with all of its fields."""
    found = read(lines())

    assert (found.runs, found.truncated) == (tuple(one for _, one in RUNS), False)


def test_every_line_fits_the_schema() -> None:
    """The reader checks each line, so the writer's are right if they are read."""
    assert [json.loads(line)["type"] for line in written(RUNS)] == ["header", "run", "run", "footer"]
    assert facts(run(1))["commit"]["at"] == "2023-11-14T23:13:20Z"


@pytest.mark.parametrize("drop", [b'{"type": "footer"', b'{"type": "run", "id": 9'])
def test_a_truncated_export_says_so(drop: bytes) -> None:
    """Without its footer, or with fewer runs than that counts; what is whole is read."""
    kept = b"\n".join(line for line in lines().split(b"\n") if not line.startswith(drop))

    assert (read(kept).truncated, len(read(kept).runs)) == (True, 2 if b"footer" in drop else 1)


def test_an_export_that_ends_within_a_line_says_so() -> None:
    """As a full disk leaves it."""
    found = read(lines()[:-40])

    assert (found.truncated, len(found.runs)) == (True, 1)


FIGURE = facts(run(1))["figures"][0]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"when": "yesterday"}, "line 2, run: 'when': 'yesterday' does not match"),
        ({"when": "2023-13-45T00:00:00Z"}, "line 2, run: month must be in 1..12"),
        ({"figures": []}, "'figures' has 0 of the 1 entries"),
        ({"figures": [FIGURE, FIGURE]}, "occurs twice in one run"),
        ({"figures": [{**FIGURE, "id": "<script>"}]}, "is not the id of a figure"),
        ({"figures": [{**FIGURE, "n": 2**70}]}, "line 2, run: n of "),
        ({"commit": {"sha": "main", "at": "2023-11-14T23:13:20Z", "dirty": False, "branch": ""}}, "does not match"),
        ({"kind": "guess"}, "'kind' is 'guess', and may be"),
        ({"more": 1}, "unknown fields: 'more'"),
    ],
)
def test_what_is_wrong_is_named(change: dict[str, Any], words: str) -> None:
    """The message has the line and the field."""
    with pytest.raises(ReportError) as caught:
        read(lines(**change))

    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("raw", "words"),
    [
        (b"", "the file is empty"),
        (b"hello\n", "the first line is not a header, so this is not history.jsonl"),
        (b'{"type": "header", "format": 99}\n', "its format is 99, and this version of Batchproof reads format 1"),
    ],
)
def test_what_is_not_an_export_is_refused(raw: bytes, words: str) -> None:
    """A foreign file, and one of a newer version."""
    with pytest.raises(ReportError, match=words):
        read(raw)
