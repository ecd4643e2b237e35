"""What `batchproof adapter check` prints and writes, and how it ends."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from rich.console import Console

from batchproof.commands.adapter import table
from batchproof.exit_status import COMMANDS, ExitStatus
from batchproof.suites.selftest.command_line import LIARS, invoke, one_message
from batchproof.suites.selftest.commands.adapter import wrong_adapters
from batchproof.targets.claims import problems

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

HERE = wrong_adapters.__name__
Capture = pytest.CaptureFixture[str]


def test_a_clean_adapter(capfd: Capture, tmp_path: Path) -> None:
    """The table, the claims and what to do next are printed; the claims that are written are claims."""
    file = tmp_path / "claims.toml"

    status, out, err = invoke(capfd, "adapter", "check", f"{HERE}:Right", "--claims", file)

    assert (status, err) == (ExitStatus.FINE, "")
    assert "The adapter is ready" in out
    assert "measured, not assumed" in file.read_text().lower()
    assert problems(tomllib.loads(file.read_text())["claims"]) == []


def test_a_hostile_name_is_only_a_name(capfd: Capture, tmp_path: Path) -> None:
    """It changes no colour and is not read as markup, and it cannot begin or end a line of the claims."""
    status, out, _ = invoke(capfd, "adapter", "check", f"{HERE}:HostileName", "--claims", tmp_path / "claims.toml")

    assert (status, out.splitlines()[0].strip()) == (ExitStatus.FINE, "evil [/bold] rows = 1 1.0")
    assert "\x1b" not in out
    assert problems(tomllib.loads((tmp_path / "claims.toml").read_text())["claims"]) == []


def test_a_wrong_adapter(capfd: Capture) -> None:
    """What is wrong, the line with its text, and what to do are printed."""
    status, out, _ = invoke(capfd, "adapter", "check", f"{HERE}:QueueNeverLess")

    assert status == ExitStatus.FAILED
    assert "WRONG  queue: `queued()` is 8 after all were answered" in out
    assert "def queued(self) -> int:  # <- here" in out
    assert "Fix this first: nothing else can be tried yet" in out


def test_several_things_are_counted(capfd: Capture) -> None:
    """What does not depend on each other is told in one run."""
    status, out, _ = invoke(capfd, "adapter", "check", f"{HERE}:SeveralThings")

    assert (status, "2 things to fix before any rule is judged" in out) == (ExitStatus.FAILED, True)


def test_what_was_tried_is_not_said_to_be_untried(capfd: Capture) -> None:
    """A stack whose queue cannot be seen, or that has none, is tried to the end, and what was measured is printed."""
    status, out, _ = invoke(capfd, "adapter", "check", f"{HERE}:IgnoresDelayUnseen")

    assert status == ExitStatus.FAILED
    assert "1 thing to fix before any rule is judged" in out
    assert "Measured claims" in out
    assert "nothing else can be tried yet" not in out


def test_json(capfd: Capture) -> None:
    """Only JSON is on standard output: findings with their lines, and claims with what they rest on."""
    status, out, _ = invoke(capfd, "adapter", "check", f"{HERE}:IgnoresDelay", "--json")

    document = json.loads(out)
    (wrong,) = (one for one in document["findings"] if one["result"] == "wrong")
    assert (status, document["target"]) == (ExitStatus.FAILED, "IgnoresDelay")
    assert (wrong["check"], wrong["where"].rpartition(":")[0].endswith("deploys.py")) == ("delay", True)
    assert document["claims"]["delay"] == {"value": False, "because": "a delay of 150 ms changes nothing for a lone request"}


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        (["nonsense"], ExitStatus.MISUSE, "unknown target 'nonsense'"),
        (["no_such_module:Thing"], ExitStatus.MISUSE, "no module 'no_such_module'"),
        ([f"{LIARS}:DiesAtStart"], ExitStatus.UNAVAILABLE, "RuntimeError: the licence server is down"),
        ([f"{LIARS}:NoTarget"], ExitStatus.UNAVAILABLE, "it has no `deploy`"),
        ([f"{HERE}:Right", "--claims", "/no/such/folder/file"], ExitStatus.UNAVAILABLE, "cannot write /no/such/folder/file"),
    ],
)
def test_what_cannot_be_checked_is_said_in_one_message(
    capfd: Capture, arguments: list[str], status: ExitStatus, message: str
) -> None:
    """There is no traceback, and the status is one that the command may return."""
    found, _, err = invoke(capfd, "adapter", "check", *arguments)

    assert (found, message in one_message(err)) == (status, True)
    assert status in COMMANDS["adapter"]


def test_a_constructor_that_raises_is_told_its_line(capfd: Capture) -> None:
    """The line is the one that raised."""
    _, _, err = invoke(capfd, "adapter", "check", f"{LIARS}:DiesAtStart")

    assert "liars.py:" in one_message(err)


def test_what_is_tried_is_shown_on_standard_error(capfd: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    """A slow stack takes minutes, and standard output may lead into a file."""
    shown: list[str] = []

    class Line:
        """Notes what it is to show."""

        def __init__(self, console: Console) -> None:
            assert console.stderr

        def show(self, what: str) -> None:
            shown.append(what)

        def stop(self) -> None:
            """Nothing is left."""

    monkeypatch.setattr(table, "LiveLine", Line)

    invoke(capfd, "adapter", "check", f"{HERE}:QueueNeverLess")

    assert shown[:2] == ["deploying", "deploying max_queue_delay_ns = 0"]
    assert {"answers", "gate, log and queue", "closing"} < set(shown)
