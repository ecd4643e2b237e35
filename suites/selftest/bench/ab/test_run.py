"""A whole comparison, with both processes, in simulated time; and how it ends where it cannot be made."""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from rich.console import Console

from batchproof.bench.ab import run as run_module
from batchproof.bench.ab.options import FORMS, AbOptions, Wanted
from batchproof.bench.ab.run import run
from batchproof.cli.measuring import AbFormat
from batchproof.exit_status import ExitStatus
from batchproof.reports import measured
from batchproof.reports.formats import ab

if TYPE_CHECKING:
    from batchproof.bench.ab.side import Side

HERE = "batchproof.suites.selftest.bench.ab.targets_for_ab"
TWELVE, ELEVEN = (f"max_batch_size: {size}\ndynamic_batching {{}}\n" for size in (12, 11))


def compared(folder: Path, base: Wanted, new: Wanted, **options: object) -> tuple[ExitStatus, str]:
    """Compare; return the exit status and what was printed."""
    printed = io.StringIO()
    console = Console(file=printed, width=500, highlight=False)
    return run(AbOptions(base, new, report=folder, **options), console), printed.getvalue()  # type: ignore[arg-type]


def children() -> list[str]:
    """The processes that this one has started for sides."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            if b"batchproof.commands.ab_side" in (entry / "cmdline").read_bytes() and str(os.getpid()) in (
                (entry / "cmdline").read_bytes().decode().split("\0")
            ):
                found.append(entry.name)
        except OSError:
            continue
    return found


def test_the_same_target_twice_is_the_same(tmp_path: Path) -> None:
    """In simulated time it is exactly so, for latency too; the folder says it, and both processes have ended."""
    status, printed = compared(tmp_path, Wanted("virtual"), Wanted("virtual"), load=0.6)
    report = ab.read(tmp_path)

    assert status == ExitStatus.FINE
    assert [one["answer"] for one in report.answers] == ["SAME"] * 4
    assert [one["ratio"]["estimate"] for one in report.answers] == pytest.approx([1.0] * 4)
    assert "SAME      typical throughput: +0.0 % against the base" in printed
    assert "requests judged: each result is its own request's" in printed
    assert all(one["base"]["judged"] == one["base"]["requests"] for one in report.pairs)
    assert {one.name for one in measured(tmp_path).figures} == {
        f"ab.{name}" for name in ("typical_ratio", "typical_rows_per_s", "throughput_ratio", "rows_per_s",
                                  "p50_ratio", "p50_ns", "p99_ratio", "p99_ns")
    }  # fmt: skip
    assert measured(tmp_path).target == "virtual " + report.header["batchproof"]
    assert not children()


def test_json_on_standard_output_is_nothing_but_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What a script reads; what a person reads is on standard error."""
    status = run(AbOptions(Wanted("virtual"), report=tmp_path, form="json"))
    captured = capsys.readouterr()

    assert status == ExitStatus.FINE
    assert [(one["question"], one["answer"]) for one in json.loads(captured.out)] == [
        ("typical throughput", "SAME"), ("mean throughput", "SAME"),
    ]  # fmt: skip
    assert "requests judged" in captured.err
    assert {one.value for one in AbFormat} == set(FORMS)


def test_another_configuration_is_slower(tmp_path: Path) -> None:
    """A batch of 12 rows takes 14 ms and one of 11 rows 13.5 ms: 4.9 % less throughput, which is not within 4 %."""
    files = []
    for name, text in (("base", TWELVE), ("new", ELEVEN)):
        files.append(tmp_path / f"{name}.pbtxt")
        files[-1].write_text(text, encoding="utf-8")
    status, printed = compared(tmp_path / "out", Wanted("virtual", files[0]), Wanted("virtual", files[1]), margin=0.04)
    answer = ab.read(tmp_path / "out").answers[1]

    assert status == ExitStatus.FAILED
    assert "SLOWER    mean throughput: -4.9 % against the base" in printed
    assert answer["ratio"]["estimate"] == pytest.approx((11 / 13.5) / (12 / 14))
    assert (tmp_path / "out" / "ab.md").read_text(encoding="utf-8").startswith("# virtual")


def test_more_instances_are_faster(tmp_path: Path) -> None:
    """Twice as many, twice the throughput."""
    status, printed = compared(tmp_path, Wanted("virtual"), Wanted("virtual", instances=2))

    assert status == ExitStatus.FINE
    assert "FASTER    typical throughput: +100.0 % against the base" in printed


def test_a_batcher_that_is_wrong_fails_whatever_its_speed(tmp_path: Path) -> None:
    """The acceptor sees it, and the folder has the picture."""
    status, printed = compared(tmp_path, Wanted("virtual"), Wanted("mutant:mixes-when-full"))

    assert status == ExitStatus.FAILED
    assert "wrong under load, new: " in printed
    assert (tmp_path / "wrong-under-load.txt").read_text(encoding="utf-8").startswith("new: ")


@pytest.mark.parametrize(
    ("base", "new", "status", "said"),
    [
        (Wanted("virtual"), Wanted("tritn"), ExitStatus.MISUSE, "new: unknown target 'tritn': did you mean 'triton'?"),
        (Wanted(f"{HERE}:Refuses"), Wanted("virtual"), ExitStatus.NOTHING, "base: refuses does not support preferred sizes"),
        (Wanted("virtual"), Wanted(f"{HERE}:Broken"), ExitStatus.UNAVAILABLE, "new: "),
        (Wanted("virtual", python="/no/such/python"), Wanted("virtual"), ExitStatus.MISUSE, "base: cannot run /no/such"),
        (Wanted("virtual", python="/bin/false"), Wanted("virtual"), ExitStatus.MISUSE, "is it an interpreter of Python?"),
        (Wanted("virtual", revision="no-such-revision"), Wanted("virtual"), ExitStatus.MISUSE, "there is no revision"),
    ],
)
def test_what_cannot_be_compared_is_one_message(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], base: Wanted, new: Wanted, status: ExitStatus, said: str
) -> None:
    """It names the side, and nothing is left running."""
    found, _ = compared(tmp_path, base, new)
    message = capsys.readouterr().err

    assert (found, message.count("\n")) == (status, 1)
    assert said in message
    assert not children()


def test_a_side_that_dies_half_way_ends_it(tmp_path: Path) -> None:
    """The pairs that were made are kept, and the message says which side it was."""
    status, printed = compared(tmp_path, Wanted(f"{HERE}:Dies"), Wanted(f"{HERE}:Slow"))
    report = ab.read(tmp_path)

    assert status == ExitStatus.FAILED
    assert "ended early: base: its process ended with status 3" in printed
    assert not report.truncated
    assert not report.footer["complete"]  # type: ignore[index]
    assert report.pairs
    assert "**Ended early**: base" in (tmp_path / "ab.md").read_text(encoding="utf-8")
    assert not children()


def test_a_folder_that_cannot_be_written_is_one_message(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It is a file."""
    (tmp_path / "file").write_text("", encoding="utf-8")
    status, _ = compared(tmp_path / "file" / "out", Wanted("virtual"), Wanted("virtual"))

    assert status == ExitStatus.UNAVAILABLE
    assert "choose another --report" in capsys.readouterr().err


def test_ctrl_c_keeps_the_pairs_and_ends_both_sides(tmp_path: Path) -> None:
    """As a user does it, with the whole command."""
    command = [sys.executable, "-m", "batchproof", "ab", "--base", f"{HERE}:Slow", "--report", str(tmp_path)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and not (
        (tmp_path / "ab.jsonl").exists() and (tmp_path / "ab.jsonl").read_text(encoding="utf-8").count("\n") > 2
    ):
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    printed, _ = process.communicate(timeout=60)
    report = ab.read(tmp_path)

    assert process.returncode == ExitStatus.INTERRUPTED
    assert "ended early: interrupted" in printed
    assert "Traceback" not in printed
    assert report.pairs
    assert report.footer is not None
    assert report.footer["reason"] == "interrupted"


def test_a_session_is_started_once_for_each_side(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """If the second side cannot be started, the first one is ended all the same."""
    ended: list[Side] = []
    before, close_all = set(threading.enumerate()), run_module.close_all
    monkeypatch.setattr(run_module, "close_all", lambda sides: (ended.extend(sides), close_all(sides)))
    compared(tmp_path, Wanted("virtual"), Wanted("virtual", python="/no/such/python"))

    assert [one.spec.name for one in ended] == ["base"]
    assert len(set(threading.enumerate()) - before) < 10  # some end a moment later
