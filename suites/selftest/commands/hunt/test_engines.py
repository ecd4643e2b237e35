"""`batchproof hunt` on engines: what it finds, how small it gets, and how it ends."""

from __future__ import annotations

from pathlib import Path

import pytest

from batchproof.reports.formats import hunt
from batchproof.suites.selftest.command_line import invoke, one_message

Capture = pytest.CaptureFixture[str]
BROKEN = "batchproof.suites.selftest.broken_engines"


def hunted(capfd: Capture, folder: Path, target: str, *more: object) -> tuple[int, str, str]:
    """Hunt through a few campaigns."""
    return invoke(capfd, "hunt", "--target", target, "--campaigns", 8, "--corpus", folder, *more)


def test_a_correct_engine_passes(capfd: Capture, tmp_path: Path) -> None:
    """Nothing is found; the end says how much of each kind was judged."""
    status, out, err = hunted(capfd, tmp_path, "continuous")
    file = hunt.read(tmp_path)

    assert (status, err) == (0, "")
    assert "8 campaigns, " in out
    assert out.rstrip().endswith("nothing found")
    assert file.state is not None
    assert all(file.state["decisions"][kind] > 0 for kind in ("text", "end", "context", "limit", "step", "order"))


def test_a_counterexample_is_small_and_is_judged_again(capfd: Capture, tmp_path: Path) -> None:
    """It is printed with its picture, and its bundle fails again without the engine."""
    status, out, _ = hunted(capfd, tmp_path, f"{BROKEN}:LastFirst", "--first")
    found = hunt.read(tmp_path).found

    assert status == 1
    assert "FOUND  order: requests are admitted in order" in out
    assert "which is ahead of it (iteration" in out
    assert [one["kind"] for one in found][:1] == ["order"]
    assert len(found[0]["case"]["script"]) < 8
    assert found[0]["reproduced"] == 3
    status, out, _ = invoke(capfd, "check", "--replay", tmp_path / found[0]["bundle"])
    assert status == 1
    assert "CB-LAW-009" in out


def test_an_engine_that_dies_is_found(capfd: Capture, tmp_path: Path) -> None:
    """Its end is the finding: what it left undone is not told besides."""
    status, out, _ = hunted(capfd, tmp_path, f"{BROKEN}:Mortal")

    assert status == 1
    assert "FOUND  gone: the engine continues to serve" in out
    assert "was killed by SIGSEGV" in out
    assert out.count("FOUND") == 1


def test_an_engine_that_cannot_be_opened(capfd: Capture, tmp_path: Path) -> None:
    """One message, and the status that says that nothing was judged."""
    status, _, err = hunted(capfd, tmp_path, f"{BROKEN}:Nothing")

    assert status == 5
    assert "nothing could be opened: an engine of " in one_message(err)


@pytest.mark.parametrize("option", ["--sequences", "--resume"])
def test_what_is_for_batchers_is_refused(capfd: Capture, tmp_path: Path, option: str) -> None:
    """One message names the option."""
    hunted(capfd, tmp_path, "continuous")

    status, _, err = hunted(capfd, tmp_path, "continuous", option)

    assert status == 2
    assert f"{option} is for dynamic batchers, and continuous is an engine" in one_message(err)
