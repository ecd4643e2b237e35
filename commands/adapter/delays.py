"""Tries the queue delay of a deployment; `timing` judges what comes out."""

from __future__ import annotations

from dataclasses import replace

from batchproof.commands.adapter.experiments import TRIES, alone, executions, plugged, queue
from batchproof.commands.adapter.probe import Probe, Track
from batchproof.commands.adapter.timing import KEPT, LONE_WORK_NS, SILENT, Delayed, Waits, is_none, kept

PHASES = 9  # of a delay, at which lone requests are sent
FEW = 4  # of them are enough if each request waits for the whole delay


def waits(probe: Probe, delay_ns: int) -> Waits:
    """Send lone requests, and bursts that need not wait; the least of several is what counts.

    With a delay of 0, a busy host can look like one, but not each time: then all of it is done again.
    """
    found = Waits(delay_ns, LONE_WORK_NS, (), ())
    for _ in range(TRIES):
        lone = [alone(probe, work_ns=LONE_WORK_NS) for _ in range(5)]
        quickest = []
        for _ in range(3):
            tracks = [probe.send(f"f{number}") for number in range(8)]
            probe.settled(*tracks)
            quickest += sorted(_outside(tracks))[:1]
        found = replace(
            found, lone_ns=(*found.lone_ns, *_outside(lone)), burst_ns=(*found.burst_ns, *quickest)
        )
        if delay_ns or not found.lone_ns or not found.burst_ns or is_none(found):
            break
    return found


def _outside(tracks: list[Track]) -> list[int]:
    return [spent for track in tracks if (spent := track.outside_ns()) is not None]


def delayed(probe: Probe, delay_ns: int, plain: Waits, *, usable: bool) -> Delayed:
    """Send lone requests at several phases of the delay, and one that waits behind a busy model for longer than it.

    plain: what was seen with the least delay. If that looks the same, the lone requests are sent again: a timer that runs
    freely and a busy host can look like that, but not each time.
    """
    for _ in range(TRIES):
        found = _lone(probe, delay_ns)
        if found.unanswered >= SILENT or not plain.lone_ns or kept(found, plain):
            break
    if found.unanswered >= SILENT or not usable:
        return found
    tried: list[int] = []
    for _ in range(TRIES):
        left, grew = _after_busy(probe, delay_ns)
        if left is None:
            break
        tried.append(left)
        if left < delay_ns // 2:  # more than that may be the host's doing, which does not come each time
            break
    return replace(found, after_busy_ns=min(tried, default=None), grew=grew)


def _lone(probe: Probe, delay_ns: int) -> Delayed:
    """Send lone requests at several phases of the delay; fewer if each of the first waits for all of it."""
    lone: list[Track] = []
    forming = None
    for number in range(PHASES):
        if number == FEW and min(_outside(lone), default=0) >= KEPT * delay_ns:
            break
        probe.pass_ns(delay_ns * (4 * number % PHASES) // PHASES)  # a loop that comes round each delay is met at each phase
        track = probe.send("lone")
        if number == 0 and probe.deployment.queued is not None:
            probe.pass_ns(delay_ns // 2)
            forming = None if track.done() else probe.queued()
        probe.settled(track, limit_ns=10 * delay_ns)
        lone.append(track)
        if (silent := sum(not one.done() for one in lone)) >= SILENT:
            break
    return Delayed(delay_ns, tuple(_outside(lone)), silent, forming)


def _after_busy(probe: Probe, delay_ns: int) -> tuple[int | None, bool]:
    """Keep a request behind a busy model for longer than the delay; return what it still waits, and if it has company."""
    with plugged(probe):
        old = probe.send("old")
        queue(probe, old)
        probe.pass_ns(3 * delay_ns)
        new = probe.send("new")
        queue(probe, old, new)
        released_ns = probe.clock.now_ns()
    probe.settled(old, new)
    model_ns, together = old.model_ns(), executions(probe, [old])
    left = None if model_ns is None or old.answered_ns is None else old.answered_ns - released_ns - model_ns
    return left, any(len(batch) > 1 for batch in together)
