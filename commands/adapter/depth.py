"""A deep queue: whether `queued()` still counts all that was sent, where a queue of the stack's may be full."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from batchproof.commands.adapter.experiments import plugged
from batchproof.commands.adapter.finding import Finding, note, ok, unseen, wrong
from batchproof.commands.adapter.probe import ANSWER_NS, Probe, Track
from batchproof.fixtures.driving.driver import CROWD

CHECK = "queue, deep"
HANDED_OVER = (
    "if a full queue keeps its callers waiting (blocking back-pressure), or a pool of threads is too small to hand over so"
    " many, count a request from where it is handed over, and not only from where it is in the queue"
)
IN_A_THREAD = "a full queue keeps its callers waiting (blocking back-pressure): hand requests over in a `Pool` of threads"


@dataclass(frozen=True)
class Deep:
    """Requests behind a held one, as many as any rule lets wait that is not about crowds.

    sent: those whose `submit` returned. said: the most that `queued()` was. refused: those that ended meanwhile.
    """

    asked: int = CROWD
    sent: int = 0
    said: int = 0
    refused: int = 0
    tried: bool = True


def filled(probe: Probe, *, usable: bool) -> Deep:
    """Send so many behind a plug, and wait as long as the count still grows."""
    if not usable:
        return Deep(tried=False)
    said, behind = 0, []
    with plugged(probe):
        for number in range(CROWD):
            behind.append(probe.send(f"deep{number}"))
            if behind[-1].took_ns is None:
                break
        while said < CROWD and probe.wait(partial(_more, probe, said)):
            said = probe.queued()
        refused = sum(one.done() for one in behind)
    sent = [one for one in behind if one.took_ns is not None]
    while left := _left(sent):  # a slow stack takes its time
        if not probe.wait(partial(_fewer, sent, left), ANSWER_NS):
            break
    return Deep(CROWD, len(sent), said, refused)


def _more(probe: Probe, than: int) -> bool:
    return probe.queued() > than


def _left(sent: list[Track]) -> int:
    return sum(not one.done() for one in sent)


def _fewer(sent: list[Track], than: int) -> bool:
    return _left(sent) < than


def judge(deep: Deep) -> tuple[Finding, ...]:
    """Judge how deep a queue is seen."""
    if not deep.tried:
        return (unseen(CHECK, "it needs a queue that can be filled behind a busy model"),)
    if deep.sent < deep.asked:
        says = f"`submit` does not return with {deep.sent} requests behind a busy model"
        return (wrong(CHECK, says, "submit", IN_A_THREAD),)
    if deep.said >= deep.asked:
        return (ok(CHECK, f"`queued()` counts {deep.asked} that wait"),)
    if deep.refused:
        says = f"of {deep.asked} requests behind a busy model {deep.refused} are refused, and {deep.said} wait"
        return (note(CHECK, says),)
    says = f"`queued()` stops at {deep.said} with {deep.asked} behind a request in the model, and none of these is refused"
    return (wrong(CHECK, says, "queued", HANDED_OVER),)
