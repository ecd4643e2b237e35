"""Tests of `batchproof history page`."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

pytest.importorskip("sqlalchemy", reason="the extra `history` (sqlalchemy) is not installed")

from batchproof.commands.history import page
from batchproof.commands.history.options import Asked
from batchproof.commands.history.page import write_page
from batchproof.exit_status import ExitStatus
from batchproof.reports.figures import Figure
from batchproof.reports.history.run import Commit, Host, Run
from batchproof.reports.history.store import opened
from batchproof.reports.history.writing import add

if TYPE_CHECKING:
    from pathlib import Path

DAY = 86_400


@pytest.fixture
def store(tmp_path: Path) -> str:
    """A history of 24 runs: one figure falls by a tenth before the 13th, and another one stays."""
    where = str(tmp_path / "history.sqlite")
    with opened(where, create=True) as history:
        list(add(history, [run(number) for number in range(1, 25)]))
    return where


def run(number: int, target: str = "reference") -> Run:
    """Return a run of a day."""
    rate = (100.0 if number < 13 else 90.0) + number % 3 / 10
    figures = (Figure("sweep.best_rows_per_s[work=w]", rate, "rows/s", "higher", rate - 1, rate + 1, 8),
               Figure("open.p99_ns[work=w]", 5e6 + number % 2, "ns", "lower", None, None, 500, number != 7))
    commit = Commit(f"{number:040x}", DAY * number, branch="main")
    host = Host({"fingerprint": "h"})
    return Run(DAY * number, "bench", "batchproof 1", target, "1", "bench quick", host, figures, commit)


def test_it_writes_one_page_with_every_figure(store: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Into a folder that is made, with each change point, and what git has to say about it."""
    pytest.importorskip("otava", reason="apache-otava is not installed")
    out = tmp_path / "a" / "history.html"

    assert write_page(store, Asked(repo=tmp_path), out) == ExitStatus.FINE
    text = out.read_text(encoding="utf-8")
    assert capsys.readouterr().out == f"{out}\n"
    assert text.count('class="card"') == 2
    assert "CHANGED: 1 of 2 series" in text
    assert 'href="#run-12"' in text
    assert 'id="run-24"' in text


def test_it_shows_what_is_asked_for(store: str, tmp_path: Path) -> None:
    """Some figures, some runs, or nothing at all."""
    out = tmp_path / "history.html"
    write_page(store, Asked(figure="open.*", last=5, repo=tmp_path), out)
    text = out.read_text(encoding="utf-8")

    assert text.count('class="card"') == 1
    assert "5 of 24 runs" in text
    assert 'id="run-19"' not in text
    assert write_page(store, Asked(target="nobody", repo=tmp_path), out) == ExitStatus.NOTHING
    assert "NO FIGURES" in out.read_text(encoding="utf-8")


def test_without_otava_the_page_says_what_to_install(store: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And has everything else."""
    monkeypatch.setitem(sys.modules, "otava.analysis", None)
    out = tmp_path / "history.html"

    assert write_page(store, Asked(repo=tmp_path), out) == ExitStatus.FINE
    text = out.read_text(encoding="utf-8")
    assert "No change points: " in text
    assert "apache-otava" in text
    assert text.count('class="card"') == 2


def test_more_series_than_a_reader_can_look_at_are_counted(
    store: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The page says how many it leaves out."""
    monkeypatch.setattr(page, "MOST", 1)
    out = tmp_path / "history.html"
    write_page(store, Asked(repo=tmp_path), out)

    assert "1 of 2 series are left out" in out.read_text(encoding="utf-8")


def test_what_cannot_be_read_or_written_is_said(store: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """No history there, and a place that is a file."""
    assert write_page(str(tmp_path / "none.sqlite"), Asked(), tmp_path / "out.html") == ExitStatus.MISUSE
    assert "there is no history at" in capsys.readouterr().err
    assert write_page(store, Asked(repo=tmp_path), tmp_path / "history.sqlite" / "out.html") == ExitStatus.UNAVAILABLE
    assert "name another --out" in capsys.readouterr().err
