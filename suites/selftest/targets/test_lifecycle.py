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


@pytest.fixture(autouse=True)
def nothing_yet(monkeypatch: pytest.MonkeyPatch) -> None:
    """What other tests of this process have left behind does not count here."""
    monkeypatch.setattr(lifecycle, "_waited_s", [])
    monkeypatch.setattr(lifecycle, "_took_s", [])


def test_what_hangs_is_left_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    """After the first, the others are not waited for as long; an error while closing is swallowed."""
    monkeypatch.setattr(lifecycle, "LIMIT_S", 0.01)
    monkeypatch.setattr(lifecycle, "SHORTER_S", 0.005)
    target = Hangs()

    before = lifecycle.unfinished()
    lifecycle.finish(full_deployment(target))
    first = lifecycle.unfinished()
    lifecycle.finish(full_deployment(target))
    lifecycle.close(full(target))

    assert target.asked == ["finish", "finish", "close"]
    assert before == ""
    assert first.startswith("1 deployment did not end: `finish` (or `close`) had not returned after 0.01 s")
    assert lifecycle.unfinished().startswith("2 deployments did not end")


def test_what_ends_late_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    """An adapter may bound its own `finish`: then each deployment still costs its time."""
    monkeypatch.setattr(lifecycle, "SLOW_S", 0.0)

    lifecycle.finish(full_deployment(NullTarget()))

    assert lifecycle.unfinished() == "1 deployment took long to end: up to 0.0 s each"
