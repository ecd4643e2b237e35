"""Tests of `batchproof report`: it writes pages, and `report open` finds one and shows it where there is a display."""

from __future__ import annotations

import os
import webbrowser
from pathlib import Path

import pytest

from batchproof.suites.selftest.command_line import invoke, one_message
from batchproof.suites.selftest.report_lines import LINES, write


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The addresses that a browser was asked to show; there is a display."""
    seen: list[str] = []
    monkeypatch.setattr(webbrowser, "open", seen.append)
    monkeypatch.setenv("DISPLAY", ":0")
    return seen


def test_report_writes_the_page(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """It is there for reports from elsewhere, too."""
    folder = write(tmp_path / "one", *LINES)

    invoke(capfd, "report", tmp_path)

    assert (folder / "report.html").read_text(encoding="utf-8").startswith("<!doctype html>")


def test_a_page_that_cannot_be_written_is_told_once(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """The comparison is printed all the same, and its exit status is that of the reports."""
    folder = write(tmp_path / "one", *LINES)
    (folder / "report.html").symlink_to("/dev/full")

    status, out, err = invoke(capfd, "report", folder)

    assert status == 1
    assert out.startswith("# Batchproof: triton 2.51.0")
    assert one_message(err) == f"batchproof: cannot write {folder}/report.html: No space left on device"


def test_open_shows_the_page(tmp_path: Path, capfd: pytest.CaptureFixture[str], opened: list[str]) -> None:
    """It prints the path, writes the page if there is none, and asks a browser."""
    folder = write(tmp_path / "one", *LINES)

    status, out, _ = invoke(capfd, "report", "open", folder)

    assert (status, out) == (0, f"{folder}/report.html\n")
    assert opened == [(folder / "report.html").as_uri()]


def test_without_a_display_no_browser_is_asked(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], opened: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The path is enough: a browser for a terminal would take it over."""
    monkeypatch.delenv("DISPLAY")
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    monkeypatch.setattr("sys.platform", "linux")

    status, out, _ = invoke(capfd, "report", "open", write(tmp_path / "one", *LINES))

    assert (status, out.endswith("report.html\n"), opened) == (0, True, [])


def test_open_shows_the_newest(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], opened: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a folder, the report below reports/out that was written last."""
    monkeypatch.chdir(tmp_path)
    out = tmp_path / "reports" / "out"
    out.mkdir(parents=True)
    for name, at in (("a", 3), ("b", 9), ("c", 5)):
        os.utime(write(out / name, *LINES) / "report.jsonl", (at, at))

    assert invoke(capfd, "report", "open")[:2] == (0, "reports/out/b/report.html\n")
    assert opened == [(out / "b" / "report.html").as_uri()]


def test_open_replaces_a_page_that_is_older_than_its_report(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], opened: list[str]
) -> None:
    """A page of an earlier run would be believed."""
    folder = write(tmp_path / "one", *LINES)
    page = folder / "report.html"
    page.write_text("old", encoding="utf-8")
    os.utime(page, (1, 1))

    invoke(capfd, "report", "open", folder)

    assert page.read_text(encoding="utf-8").startswith("<!doctype html>")
    assert len(opened) == 1


@pytest.mark.parametrize(("arguments", "status", "message"), [
    (("here", "there"), 2, "open shows one report: give it one folder"),
    (("nowhere",), 2, "nowhere/report.html: no such file"),
    ((), 2, "no report in reports/out: name a report folder"),
])  # fmt: skip
def test_open_refuses_in_one_message(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], opened: list[str], monkeypatch: pytest.MonkeyPatch,
    arguments: tuple[str, ...], status: int, message: str,
) -> None:  # fmt: skip
    """Exit 2, and no browser."""
    monkeypatch.chdir(tmp_path)

    found, _, err = invoke(capfd, "report", "open", *arguments)

    assert (found, one_message(err), opened) == (status, f"batchproof: {message}", [])
