"""What follows `?` in a target's word are options for its adapter."""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from batchproof.targets import TargetInfo, resolve
from batchproof.targets.protocol import TargetError, UnknownTarget

HERE = "batchproof.suites.selftest.targets.test_names"


@dataclass
class Plain:
    """A target with two options."""

    python: str = ""
    wire: str = "http"
    info: TargetInfo = field(default_factory=lambda: TargetInfo("plain", "1", "plain"))

    def deploy(self, config: object) -> None:
        """Deploy nothing."""


class NoOptions:
    """A target without options."""

    info = TargetInfo("none", "1", "none")

    def deploy(self, config: object) -> None:
        """Deploy nothing."""


class Exits:
    """It ends the process that makes it, as a server does that cannot bind its port."""

    def __init__(self) -> None:
        sys.exit(0)


class Described:
    """Its `info` is a text."""

    info = "a batcher"

    def deploy(self, config: object) -> None:
        """Deploy nothing."""


READY = NoOptions()


def test_options_reach_the_adapter() -> None:
    """They are its keyword arguments, and the target is reached by them again."""
    target = resolve(f"{HERE}:Plain?python=/opt/a%20b/bin/python&wire=grpc")

    assert (target.inner.python, target.inner.wire) == ("/opt/a b/bin/python", "grpc")
    assert target.info.reached == f"{HERE}:Plain?python=/opt/a%20b/bin/python&wire=grpc"
    assert resolve(f"{HERE}:Plain").info.reached == "plain"


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ("Plain?speed=1", "unknown option speed: choose from python, wire, info"),
        ("Plain?python", "write an option as NAME=VALUE, not 'python'"),
        ("NoOptions?python=x", "unknown option python: it has none"),
        ("READY?python=x", "unknown option python: it has none"),
    ],
)
def test_other_options_are_refused(target: str, message: str) -> None:
    """The message lists those that there are."""
    with pytest.raises(UnknownTarget) as refused:
        resolve(f"{HERE}:{target}")

    assert message in str(refused.value)


def test_a_target_of_the_project_takes_options_too() -> None:
    """A built-in word is no exception."""
    with pytest.raises(UnknownTarget, match=r"--target null\?python=x: unknown option python: it has none"):
        resolve("null?python=x")


def test_an_adapter_in_the_current_folder_is_found(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The folder of a console command's script is on the path, and the folder where it is called is not."""
    text = "from batchproof.suites.selftest.targets.test_names import NoOptions as Mine\n"
    (tmp_path / "adapter_of_this_folder.py").write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [one for one in sys.path if one not in {"", str(Path.cwd())}])

    assert resolve("adapter_of_this_folder:Mine").info.name == "none"


@pytest.mark.parametrize(
    ("source", "error", "says"),
    [
        ("import sys; sys.exit(0)", TargetError, "cannot be started: it has raised SystemExit(0), as sys.exit does"),
        ("[].gone", TargetError, "cannot be started: AttributeError: 'list' object has no attribute 'gone'"),
        ("", UnknownTarget, "module 'program_at_hand' has no 'Target'"),
    ],
)
def test_a_program_that_is_imported_cannot_end_this_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, source: str, error: type[Exception], says: str
) -> None:
    """A script without `if __name__ == "__main__"` runs, and its status is not that of a run in which nothing was judged."""
    (tmp_path / "program_at_hand.py").write_text(source, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "program_at_hand", raising=False)

    with pytest.raises(error, match=re.escape(says)):
        resolve("program_at_hand:Target")


def test_what_is_no_target_is_refused() -> None:
    """One that ends the process when it is made, and one whose `info` is something else."""
    with pytest.raises(TargetError, match="Exits cannot be started: it has raised SystemExit"):
        resolve(f"{HERE}:Exits")
    with pytest.raises(TargetError, match="its `info` is str, and not a TargetInfo"):
        resolve(f"{HERE}:Described")


@pytest.mark.parametrize(
    ("info", "says"),
    [
        ({"name": ""}, "`name` is empty"),
        ({"name": "x" * 10_000_000}, "`name` has 10000000 characters, and may have 200"),
        ({"version": 3}, "`version` is not a text"),
        ({"claims": None}, "`claims` is not a mapping"),
    ],
    ids=["empty", "long", "a number", "no claims"],
)
def test_a_description_that_no_report_can_begin_with_is_refused(
    info: dict[str, Any], says: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before anything is judged, and in few words."""
    monkeypatch.setattr(f"{HERE}.NoOptions.info", replace(NoOptions.info, **info))

    with pytest.raises(TargetError, match=re.escape(f"of its `info`, {says} (see docs/adapters.md)")) as refused:
        resolve(f"{HERE}:NoOptions")

    assert len(str(refused.value)) < 500
