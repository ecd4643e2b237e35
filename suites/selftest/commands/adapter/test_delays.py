"""What a busy host shows once is tried again before it is taken for a delay, or for none."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from batchproof.commands.adapter import delays, timing
from batchproof.commands.adapter.finding import MS
from batchproof.commands.adapter.probe import Probe
from batchproof.commands.adapter.timing import Delayed
from batchproof.reference_batcher import BatcherConfig
from batchproof.suites.selftest.commands.adapter.seen import PLAIN
from batchproof.targets.verbs import full
from batchproof.targets.virtual import VirtualTarget


@pytest.mark.parametrize(
    ("left_ms", "anchored"),
    [((120, 2), "oldest-enqueue"), ((120, 110, 1), "oldest-enqueue"), ((152, 151, 150, 1), "first-dequeue")],
)
def test_what_a_host_adds_is_not_taken_for_a_delay(
    monkeypatch: pytest.MonkeyPatch, left_ms: tuple[int, ...], anchored: str
) -> None:
    """A request that was late once behind a busy model is tried again; one that always waits for the delay does so."""
    tries = iter(left_ms)
    monkeypatch.setattr(delays, "_after_busy", lambda _probe, _delay_ns: (next(tries) * MS, True))
    probe = Probe(full(VirtualTarget()).deploy(BatcherConfig(max_queue_delay_ns=150 * MS)))

    found = delays.delayed(probe, 150 * MS, PLAIN, usable=True)

    assert timing.anchor(found) == anchored
    assert found.grew


@pytest.mark.parametrize(
    ("delay_ns", "lone_ns", "tries"),
    [(0, [9 * MS] * 5 + [MS // 2] * 10, 2), (0, [9 * MS] * 15, 3), (0, [MS // 2] * 15, 1), (MS, [9 * MS] * 15, 1)],
    ids=["a busy host", "a delay", "none", "asked for"],
)
def test_a_wait_without_a_delay_is_tried_again(
    delay_ns: int, lone_ns: list[int], tries: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A host that is busy looks like a delay of its own, but not each time."""
    waits_ns = iter(lone_ns)
    monkeypatch.setattr(delays, "alone", lambda *_, **__: SimpleNamespace(outside_ns=lambda: next(waits_ns)))
    quick = SimpleNamespace(outside_ns=lambda: MS // 4)
    probe: Any = SimpleNamespace(send=lambda _: quick, settled=lambda *_: True)

    seen = delays.waits(probe, delay_ns)

    assert (len(seen.lone_ns), len(seen.burst_ns)) == (5 * tries, 3 * tries)


SHORT = (63, 5, 70, 12, 66, 9, 44, 20, 31)  # a timer that runs freely, on a host that was busy before


@pytest.mark.parametrize(
    ("tries", "lasts", "kept"),
    [((SHORT, (140, 20, 90, 110)), 2, True), ((SHORT,) * 3, 3, False), (((150, 151),), 1, True)],
    ids=["a short series", "no delay", "a delay"],
)
def test_a_delay_that_does_not_show_is_tried_again(
    monkeypatch: pytest.MonkeyPatch, tries: tuple[tuple[int, ...], ...], lasts: int, *, kept: bool
) -> None:
    """Lone requests may meet the end of each period of a timer that runs freely, but not each time."""
    series = [Delayed(150 * MS, tuple(wait * MS for wait in waits)) for waits in tries]
    monkeypatch.setattr(delays, "_lone", lambda *_: series.pop(0))
    busy = replace(PLAIN, lone_ns=(30 * MS, 25 * MS, 20 * MS))

    found = delays.delayed(Probe(full(VirtualTarget()).deploy(BatcherConfig())), 150 * MS, busy, usable=False)

    assert len(tries) - len(series) == lasts
    assert timing.kept(found, busy) is kept
