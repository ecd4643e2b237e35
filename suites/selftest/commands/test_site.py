"""`batchproof site`: what it writes, what it refuses, and that it overwrites nothing but itself."""

from __future__ import annotations

import contextlib
import io
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from batchproof.commands import site
from batchproof.commands.site import SiteOptions, build
from batchproof.exit_status import ExitStatus
from batchproof.suites.selftest.report_lines import LINES, header, write


@pytest.fixture
def reports(tmp_path: Path) -> Path:
    """Return a folder with a report in it."""
    (tmp_path / "reports").mkdir()
    write(tmp_path / "reports" / "triton", *LINES)
    return tmp_path / "reports"


def test_a_site_of_a_folder_of_reports(reports: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A folder stands for the reports in it, and one that is given twice counts once."""
    assert build(SiteOptions([reports, reports / "triton"], tmp_path / "site")) is ExitStatus.FINE

    assert capsys.readouterr().out == f"1 report, 10 pages: {tmp_path}/site/index.html\n"
    assert (tmp_path / "site" / "stacks" / "triton-2.51.0" / "badge.svg").is_file()


def test_a_site_is_replaced_and_nothing_else_is(reports: Path, tmp_path: Path) -> None:
    """Pages that are not made any more go; a file that somebody has added stays."""
    out = tmp_path / "site"
    build(SiteOptions([reports], out))
    (out / "CNAME").write_text("example.com")
    index = json.loads((out / "site.json").read_text())
    (out / "rules" / "OLD.html").write_text("old")
    (tmp_path / "outside").write_text("kept")
    (out / "site.json").write_text(json.dumps({**index, "files": [*index["files"], "rules/OLD.html", "../outside"]}))

    assert build(SiteOptions([reports], out)) is ExitStatus.FINE

    assert not (out / "rules" / "OLD.html").exists()
    assert ((out / "CNAME").exists(), (tmp_path / "outside").exists()) == (True, True)


def test_a_disk_that_was_full_leaves_no_broken_site(
    reports: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Once there is room, the same command writes it."""
    out = tmp_path / "site"

    @contextlib.contextmanager
    def full(_path: Path) -> Iterator[io.StringIO]:
        yield io.StringIO()
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as disk:
        disk.setattr(site, "whole", full)
        assert build(SiteOptions([reports], out)) is ExitStatus.UNAVAILABLE
    assert "No space left on device; choose another --out" in capsys.readouterr().err
    assert list(out.iterdir()) == []
    assert build(SiteOptions([reports], out)) is ExitStatus.FINE


@pytest.mark.parametrize(("name", "text"), [("notes.txt", "mine"), ("site.json", "[]"), ("site.json", "{")])
def test_a_folder_with_something_else_is_left_alone(
    reports: Path, tmp_path: Path, name: str, text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """One line that says what to do, and nothing is written."""
    out = tmp_path / "mine"
    out.mkdir()
    (out / name).write_text(text)

    assert build(SiteOptions([reports], out)) is ExitStatus.MISUSE

    assert [one.name for one in out.iterdir()] == [name]
    assert "for --out" in capsys.readouterr().err


def test_catalogues_are_not_mixed(reports: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """As `matrix` refuses them; and no folder is made."""
    write(reports / "other", header(batchproof="2026.10.0"), *LINES[1:])

    assert build(SiteOptions([reports], tmp_path / "site")) is ExitStatus.MISUSE

    assert "judged by different catalogues of rules" in capsys.readouterr().err
    assert not (tmp_path / "site").exists()


def test_no_report_is_misuse(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """An empty site would look like success."""
    assert build(SiteOptions([tmp_path], tmp_path / "site")) is ExitStatus.MISUSE
    assert "no report.jsonl in" in capsys.readouterr().err


def test_a_place_that_cannot_be_written(reports: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A file is in the way."""
    (tmp_path / "file").write_text("")

    assert build(SiteOptions([reports], tmp_path / "file" / "site")) is ExitStatus.UNAVAILABLE
    assert "cannot be written to" in capsys.readouterr().err


def test_a_page_about_a_stack_is_taken_in(reports: Path, tmp_path: Path) -> None:
    """By the target's name; with an address, its links lead there."""
    texts = tmp_path / "texts"
    texts.mkdir()
    (texts / "triton.md").write_text("# Triton\n\nSee [this](programs/x.py).\n")

    build(SiteOptions([reports], tmp_path / "site", texts=texts, texts_at="https://h/docs/stacks"))

    text = (tmp_path / "site" / "stacks" / "triton-2.51.0" / "index.html").read_text()
    assert '<a href="https://h/docs/stacks/programs/x.py" rel="noreferrer">this</a>' in text
