"""Decisions are kept one by one, and a laboratory that was stopped goes on where it was."""

from __future__ import annotations

import contextlib
import json
import os
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from batchproof.bench.ab.gates import trials
from batchproof.bench.ab.gates.cases import SIZES, Case
from batchproof.bench.ab.gates.slow_reference import BATCH_NS, SlowReference
from batchproof.bench.ab.gates.tables import markdown, print_tables
from batchproof.bench.ab.gates.trials import Setting, computing, file_of, made, repeat
from batchproof.host.keeper import descendants
from batchproof.reference_batcher import BatcherConfig
from batchproof.targets import resolve
from batchproof.targets.protocol import Request

if TYPE_CHECKING:
    from collections.abc import Callable

CASE = Case("reference", 5.0)


def decision(case: Case = CASE, answer: str = "SLOWER", new: float = 609.5) -> dict[str, Any]:
    """A decision that was made."""
    blocks = {name: {"rows_per_s": rate, "typical_rows_per_s": rate, "stalled": 0.0, "wrong": False}
              for name, rate in (("base", 640.0), ("new", new))}  # fmt: skip
    pair = {"first": "base", "at_s": 0.0, "dropped": False, **blocks}
    answers = {name: {"answer": answer, "seconds": 8.0, "pairs": 11} for name in ("typical throughput", "mean throughput")}
    about = {"target": case.target, "percent": case.percent, "seed": 1, "load": [1.0, 2.0], "took_s": 8.0}
    return {**about, "answer": answer, "answers": answers, "pairs": [pair] * 11}


@pytest.fixture
def decided(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The seeds of the decisions that were made, which take no time."""
    seeds: list[int] = []

    def decide(case: Case, _setting: Setting, seed: int) -> dict[str, Any]:
        seeds.append(seed)
        return decision(case)

    monkeypatch.setattr(trials, "decide", decide)
    return seeds


def test_it_goes_on_where_it_stopped(tmp_path: Path, decided: list[int]) -> None:
    """With other seeds, and until there are as many as were asked for."""
    first = repeat(CASE, Setting(), 5, tmp_path)
    next(first)
    next(first)
    first.close()
    rest = list(repeat(CASE, Setting(), 5, tmp_path))

    assert len(rest) == 3
    assert len(made(file_of(tmp_path, CASE, Setting()))) == 5
    assert len(set(decided)) == 5


def test_half_a_line_is_no_decision(tmp_path: Path, decided: list[int]) -> None:
    """A laboratory that was killed leaves one, and the next line does not join it."""
    path = file_of(tmp_path, CASE, Setting())
    path.write_text(json.dumps(decision()) + '\n{"target": "refer', encoding="utf-8")
    list(repeat(CASE, Setting(), 3, tmp_path))

    assert len(made(path)) == 3
    assert len(decided) == 2


def test_each_setting_has_a_file_of_its_own(tmp_path: Path) -> None:
    """Decisions under other conditions are not counted together."""
    settings = Setting(), Setting(busy=4), Setting(margin=0.02)

    assert [file_of(tmp_path, CASE, one).name for one in settings] == [
        "reference-5.jsonl", "reference-5-busy4.jsonl", "reference-5-margin2.jsonl",
    ]  # fmt: skip


def test_busy_processes_end() -> None:
    """They compute, and are gone afterwards."""
    with computing(2):
        assert comes_to(2)
    assert comes_to(0)


def comes_to(count: int) -> bool:
    """Wait until so many processes compute; False if that does not come."""
    deadline = time.monotonic() + 20
    while len(running()) != count and time.monotonic() < deadline:
        time.sleep(0.01)
    return len(running()) == count


def running() -> list[str]:
    """The processes of this one that compute."""
    found = []
    for pid in descendants(os.getpid()):
        with contextlib.suppress(OSError):
            found.append(Path(f"/proc/{pid}/cmdline").read_text(encoding="utf-8"))
    return [line for line in found if "while True: pass" in line]


@pytest.mark.parametrize("percent", SIZES)
def test_on_triton_a_batch_of_one_row_less_costs_as_much_as_it_says(percent: float) -> None:
    """By the arithmetic of the device."""
    assert 100 * (1 / Case("triton", percent).nominal - 1) == pytest.approx(percent, abs=0.31)


@pytest.mark.parametrize("case", [Case("triton", 5.0), Case("litserve", 0.0)])
def test_an_effect_that_there_is_not_is_refused(case: Case) -> None:
    """Before anything is started."""
    with pytest.raises(ValueError, match="effect"):
        case.specs()


def test_the_slow_reference_sleeps_in_its_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    """Once for each batch, for this share of a full batch; and answers as the reference does."""
    slept: list[float] = []
    sleep: Callable[[float], None] = time.sleep
    monkeypatch.setattr(time, "sleep", lambda seconds: (slept.append(seconds), sleep(seconds))[1])
    target = resolve("batchproof.bench.ab.gates.slow_reference:SlowReference?percent=5")
    deployment = target.deploy(BatcherConfig(max_batch_size=8))
    answers = [deployment.submit(Request(f"r{number}", number)).result(10) for number in (1, 2)]
    deployment.finish()

    assert len(answers) == 2
    assert slept.count(BATCH_NS * 0.05 / 1e9) == 2
    assert isinstance(target.inner, SlowReference)


def test_the_tables_count_what_the_folder_has(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Answers with bounds, the other rules, and the times."""
    cases = {"reference-0": [decision(Case("reference", 0.0), "SAME", 640.0)] * 4, "reference-5": [decision()] * 3}
    for name, found in cases.items():
        (tmp_path / f"{name}.jsonl").write_text("".join(f"{json.dumps(one)}\n" for one in found), encoding="utf-8")
    print_tables(tmp_path)
    printed = capsys.readouterr().out

    assert printed == markdown(cases) + "\n"
    answers, _, others, times = (part.splitlines() for part in printed.split("\n\n"))
    assert [cell.strip() for cell in answers[2].split("|")[1:-1]] == [
        "reference-0", "4", "0", "4", "0", "0", "0", "0.0 %", "68.4 %",
    ]  # fmt: skip
    assert "3 of 3" not in others[2]
    assert "-4.77 % (by design -4.76 %)" in times[3]


def test_an_empty_folder_says_what_to_do(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """There is nothing to print."""
    print_tables(tmp_path)

    assert "--decisions" in capsys.readouterr().out
