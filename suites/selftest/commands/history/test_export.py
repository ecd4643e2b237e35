"""`batchproof history export` under test."""

from __future__ import annotations

import csv
import os
from pathlib import Path

import pytest

from batchproof.reports.formats.history import read
from batchproof.reports.history.store import opened
from batchproof.reports.history.writing import add
from batchproof.suites.selftest.command_line import invoke, one_message
from batchproof.suites.selftest.reports.history.samples import OTHER, run

RUNS = [run(1), run(2, commit=None), run(3, host=OTHER)]


@pytest.fixture(autouse=True)
def _three() -> None:
    """A history of three runs."""
    with opened("reports/history.sqlite", create=True) as store:
        list(add(store, RUNS))


def test_runs_are_exported_in_order(capfd: pytest.CaptureFixture[str]) -> None:
    """To standard output and to a file, and only those that are asked for."""
    _, out, _ = invoke(capfd, "history", "export")
    to_file = invoke(capfd, "history", "export", "--out", "x.jsonl", "--host", OTHER.fingerprint[:6])

    assert [one.key for one in read(out.encode()).runs] == [one.key for one in RUNS]
    assert [one.key for one in read(Path("x.jsonl").read_bytes()).runs] == [RUNS[2].key]
    assert to_file == (0, "", "")


def test_a_table_has_a_line_for_each_figure(capfd: pytest.CaptureFixture[str]) -> None:
    """With all that is known of its run."""
    assert invoke(capfd, "history", "export", "--csv", "--out", "x.csv")[0] == 0

    with Path("x.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [(row["run"], row["commit"][-1:], row["figure"][:4]) for row in rows] == [
        ("1", "1", "open"), ("1", "1", "swee"), ("2", "", "open"), ("2", "", "swee"), ("3", "3", "open"), ("3", "3", "swee")]
    assert {row["low"] for row in rows} == {"", "99.0"}


@pytest.mark.parametrize("name", ["=1+1", "+1", "-1", "@sum(1)", "\t=1"])
def test_a_table_has_no_formulas(capfd: pytest.CaptureFixture[str], name: str) -> None:
    """A spreadsheet that opens it runs nothing; numbers stay numbers."""
    with opened("reports/history.sqlite", create=True) as store:
        list(add(store, [run(4, target=name)]))
    invoke(capfd, "history", "export", "--csv", "--out", "x.csv")

    with Path("x.csv").open(newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["run"] == "4"]
    assert {row["target"] for row in rows} == {f"'{name.strip()}"}
    assert {row["low"] for row in rows} == {"", "99.0"}


def test_only_a_file_is_replaced(capfd: pytest.CaptureFixture[str]) -> None:
    """A link stays a link, and a pipe a pipe, which gets the export."""
    Path("real.jsonl").write_text("old")
    Path("link.jsonl").symlink_to("real.jsonl")
    invoke(capfd, "history", "export", "--out", "link.jsonl")
    assert Path("link.jsonl").is_symlink()
    assert len(read(Path("real.jsonl").read_bytes()).runs) == 3

    os.mkfifo("pipe")
    reading = os.open("pipe", os.O_RDONLY | os.O_NONBLOCK)
    status, _, _ = invoke(capfd, "history", "export", "--out", "pipe")
    assert (status, Path("pipe").is_fifo()) == (0, True)
    assert len(read(os.read(reading, 1 << 16)).runs) == 3
    os.close(reading)
    assert not list(Path().glob(".*"))


def test_a_file_that_cannot_be_written(capfd: pytest.CaptureFixture[str]) -> None:
    """The message names it, and no half of it is left."""
    status, _, err = invoke(capfd, "history", "export", "--out", "gone/x.jsonl")

    assert (status, one_message(err)) == (
        4, "batchproof: gone/x.jsonl cannot be written: No such file or directory; name another --out")
