"""The end of a deployment and of a target is bounded, and an error in it is nobody's verdict."""

from __future__ import annotations

import threading

import pytest

from batchproof.targets import lifecycle
from batchproof.targets.null import NullTarget
from batchproof.targets.verbs import full, full_deployment


class Hangs(NullTarget):
    """It never finishes, and never closes."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[str] = []

    def finish(self) -> None:
        """Wait for ever."""
        self.asked.append("finish")
        threading.Event().wait()

    def close(self) -> None:
        """Raise."""
        self.asked.append("close")
        raise OSError("no route")


def test_what_hangs_is_left_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    """After the first, the others are not waited for as long; an error while closing is swallowed."""
    monkeypatch.setattr(lifecycle, "LIMIT_S", 0.01)
    monkeypatch.setattr(lifecycle, "SHORTER_S", 0.01)
    monkeypatch.setattr(lifecycle, "_hung", threading.Event())
    target = Hangs()

    lifecycle.finish(full_deployment(target))
    lifecycle.finish(full_deployment(target))
    lifecycle.close(full(target))

    assert target.asked == ["finish", "finish", "close"]
    assert lifecycle._hung.is_set()
