"""What follows `?` in a target's word are options for its adapter."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from batchproof.targets import TargetInfo, resolve
from batchproof.targets.protocol import UnknownTarget

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
