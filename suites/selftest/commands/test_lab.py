"""`batchproof lab` under test: each verb measures in its shortest form, and reports an error in one line."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from batchproof.bench.oracle import target_validation
from batchproof.cli import app
from batchproof.load import punctuality
from batchproof.load.second_opinion import rounds

PATIENT = 60  # seconds before a subprocess counts as hung; nothing waits that long


def lab(*arguments: str) -> Result:
    """Run a verb in this process."""
    return CliRunner().invoke(app, ["lab", *arguments])


@pytest.mark.parametrize(
    ("arguments", "shown"),
    [
        (["oracle", "--target", "virtual", "--base-ms", "2", "--row-ms", "0.2", "--seconds", "0.3"], "| PASS |"),
        (["simulator-speed", "--requests", "300"], "closed loop, M 32, 64 clients"),
    ],
)
def test_a_verb_prints_its_table(arguments: list[str], shown: str) -> None:
    """The exit status is 0, and the table is on stdout."""
    result = lab(*arguments)

    assert (result.exit_code, shown in result.stdout) == (0, True)


@pytest.mark.parametrize(
    ("verdicts", "status"),
    [({"PASS"}, 0), ({"PASS", "FAIL"}, 1), ({"INCONCLUSIVE"}, 75), ({"INCONCLUSIVE", "PASS"}, 0)],
    ids=lambda value: "-".join(sorted(value)) if isinstance(value, set) else str(value),
)
def test_the_exit_status_of_the_oracle(monkeypatch: pytest.MonkeyPatch, verdicts: set[str], status: int) -> None:
    """It is 1 if the target is slower, and 75 if nothing could be judged."""
    monkeypatch.setattr(target_validation, "print_table", lambda *_, **__: verdicts)

    assert lab("oracle").exit_code == status


@pytest.mark.parametrize(
    ("verdicts", "status"),
    [({"PASS", "INCONCLUSIVE"}, 0), ({"PASS", "FAIL"}, 1), ({"INCONCLUSIVE"}, 75), (set(), 75)],
    ids=lambda value: "-".join(sorted(value)) if isinstance(value, set) else str(value),
)
def test_the_exit_status_of_second_opinions(monkeypatch: pytest.MonkeyPatch, verdicts: set[str], status: int) -> None:
    """It is 1 if a tool differs without an explanation, and 75 if nothing could be judged."""
    monkeypatch.setattr(rounds, "print_agreement", lambda *_, **__: verdicts)

    assert lab("second-opinions").exit_code == status


@pytest.mark.parametrize(("valid", "status"), [(True, 0), (False, 75)])
def test_the_exit_status_of_punctuality(monkeypatch: pytest.MonkeyPatch, valid: bool, status: int) -> None:
    """It is 75 if a run is INVALID."""
    monkeypatch.setattr(punctuality, "print_lag", lambda *_, **__: valid)

    assert lab("punctuality").exit_code == status


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        (["oracle", "--target", "nonsense"], 2, "batchproof: unknown target 'nonsense'"),
        (["second-opinions", "--json", "/no/such/folder/file"], 2, "No such file or directory: '/no/such/folder/file'"),
        (["punctuality", "--rate", "1e7", "--seconds", "3600"], 2, "more than the 50000000"),
        (["awake", "no-such-program"], 2, "batchproof: cannot run no-such-program"),
        (["punctuality", "--rate", "nan"], 2, "'--rate'"),
        (["theory", "--requests", "1"], 2, "'--requests'"),
        (["awake"], 2, "Missing argument"),
    ],
)
def test_misuse_is_refused_in_one_message(arguments: list[str], status: int, message: str) -> None:
    """The exit status is right, nothing is printed on stdout, and there is no traceback."""
    result = lab(*arguments)

    assert (result.exit_code, message in result.stderr, "Traceback" in result.stderr) == (status, True, False)
    assert result.stdout == ""


def test_awake_exits_as_its_command_does() -> None:
    """The command keeps its own options, and `awake` exits with its status."""
    command = [sys.executable, "-m", "batchproof", "lab", "awake", sys.executable, "-c", "raise SystemExit(7)", "--seed"]

    assert subprocess.run(command, timeout=PATIENT, check=False).returncode == 7


def measuring(attempts: int = 3) -> subprocess.Popen[str]:
    """Start `lab oracle`, and return it when it measures; on a busy host it may end before, with a message."""
    command = [sys.executable, "-m", "batchproof", "lab", "oracle", "--seconds", "60"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True)
    assert process.stdout
    if any(line.startswith("|---") for line in iter(process.stdout.readline, "")):
        return process
    _, said = process.communicate(timeout=PATIENT)
    assert attempts > 1, said
    return measuring(attempts - 1)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_leaves_nothing_behind(number: signal.Signals) -> None:
    """Ctrl-C and SIGTERM end the verb with one line, and none of its processes is left."""
    process = measuring()
    time.sleep(0.3)
    process.send_signal(number)
    _, said = process.communicate(timeout=PATIENT)

    assert (process.returncode, said) == (130, "batchproof: interrupted\n")
    with pytest.raises(ProcessLookupError):
        os.killpg(process.pid, 0)


def test_a_folder_without_configurations_is_misuse(tmp_path: Path) -> None:
    """Nothing is started for it."""
    result = lab("configurations", str(tmp_path))

    assert (result.exit_code, "no file with .pbtxt in its name" in result.stderr) == (2, True)
