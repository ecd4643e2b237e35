"""hunt.jsonl: what is written is read, what is damaged is told line by line, and a file that goes on begins a new line."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from batchproof.reports.formats import hunt
from batchproof.reports.formats.jsonl import ReportError

if TYPE_CHECKING:
    from pathlib import Path

TARGET = {"name": "x", "version": "1", "reached": "x", "contact": "", "sight": "wire", "claims": {}}
PHASE = {"name": "burst", "kind": "open", "asks": [{}, {"rows": 2}], "wait": True, "alone": False}
KEPT: dict[str, Any] = {"campaign": 3, "config": {}, "phases": [PHASE], "reached": [["a"], ["a", "b"]]}


def written(folder: Path, *lines: str) -> Path:
    """Write a header, a campaign that is kept, and these lines."""
    writer = hunt.HuntWriter(folder, more=False)
    writer.header(TARGET, 7)
    writer.line("kept", **KEPT)
    writer.close()
    with (folder / hunt.FILE).open("a", encoding="utf-8") as file:
        file.write("\n".join(lines))
    return folder


def test_what_was_written_is_read(tmp_path: Path) -> None:
    """Field by field."""
    found = hunt.read(written(tmp_path))

    assert found.header["seed"] == 7
    assert found.kept == ({"type": "kept", **KEPT},)
    assert (found.found, found.state, found.damaged, found.campaigns) == ((), None, (), 3)


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ('{"type": "kept", "campai', "line 3 is not a line of hunt.jsonl"),
        ("[1]", "line 3 is not a line of hunt.jsonl"),
        ("[" * 100_000, "line 3 is not a line of hunt.jsonl"),
        ('{"type": "header"}', "line 3 is not a line of hunt.jsonl"),
        (json.dumps({"type": "kept", **KEPT, "campaign": "x"}), "line 3, kept: 'campaign' is not an integer"),
        (json.dumps({"type": "kept", **KEPT, "phases": [{**PHASE, "kind": "x"}]}), "line 3, kept: 'phases.0.kind' is 'x'"),
        (json.dumps({"type": "kept", **KEPT, "phases": [{**PHASE, "asks": [{"rows": "x"}]}]}), "line 3, kept: 'phases.0"),
    ],
)
def test_a_damaged_line_is_told_and_left_out(tmp_path: Path, line: str, says: str) -> None:
    """The others are read."""
    found = hunt.read(written(tmp_path, line, json.dumps({"type": "kept", **KEPT, "campaign": 5})))

    assert found.damaged[0].startswith(says)
    assert [one["campaign"] for one in found.kept] == [3, 5]


def test_a_hunt_that_goes_on_begins_a_line(tmp_path: Path) -> None:
    """What a killed hunt left does not spoil the first new line."""
    writer = hunt.HuntWriter(written(tmp_path, '{"type": "ke'), more=True)
    writer.line("kept", **{**KEPT, "campaign": 9})
    writer.close()

    assert [one["campaign"] for one in hunt.read(tmp_path).kept] == [3, 9]


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    """A folder in its place, for instance."""
    (tmp_path / hunt.FILE).mkdir()

    with pytest.raises(ReportError, match=r"hunt\.jsonl: cannot be read"):
        hunt.read(tmp_path)
