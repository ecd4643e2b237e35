"""The queue delay: whether 0 is none at all, whether a delay is kept, and from when it counts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median_low

from batchproof.commands.adapter.backlog import NEEDED
from batchproof.commands.adapter.finding import MS, Finding, ms, note, ok, unseen, wrong

WARM_UP = (
    "return from `deploy` when the model is loaded: send requests that fill a batch, and await them, "
    'as in `deployed.submit(Request("warm-up", -1)).exception(30)`; a program behind stdio executes such batches itself '
    "before it answers `configure`, and drops their lines from its log"
)
DELAY_UNIT = "pass config.max_queue_delay_ns on, in the stack's unit: it is in nanoseconds"
FACTOR = 3  # a wait of more than this many times the cheapest one, and of more than a tenth of the model's time, is a delay
KEPT = 0.9  # of the delay: less is not the whole of it
LEFT = 3  # a wait that is longer by this part of the delay is one
SPINS = 0.1  # of a processor
SILENT = 2  # lone requests without an answer: one may be due to a host that stalled
ANCHORS = {
    "oldest-enqueue": "from the time at which the request was queued",
    "first-dequeue": "from the time at which a worker takes the first request",
    "loop-entry": "from the time at which the worker begins to look, or since the last flush, which is the same claim",
}


@dataclass(frozen=True)
class Waits:
    """What lone requests, and the quickest of each burst, spent outside the model, in nanoseconds; the model's own time."""

    delay_ns: int
    model_ns: int
    lone_ns: tuple[int, ...]
    burst_ns: tuple[int, ...]


@dataclass(frozen=True)
class Delayed:
    """A deployment with a queue delay.

    lone_ns: what lone requests waited, sent at several phases. unanswered: so many of them were never answered in time.
    forming: `queued()` while a lone request waited for company. after_busy_ns: what a request still waited after the release
    of a plug that had been in the model for longer than the delay; None if that could not be tried. grew: whether a request
    that came when the delay was over, while the model was still busy, was in the same batch.
    """

    delay_ns: int
    lone_ns: tuple[int, ...]
    unanswered: int = 0
    forming: int | None = None
    after_busy_ns: int | None = None
    grew: bool | None = None


@dataclass(frozen=True)
class Fresh:
    """What the first requests of several fresh deployments waited, and at most later ones of the first deployment."""

    delay_ns: int
    first_ns: tuple[int, ...]
    later_ns: int

    @property
    def late(self) -> bool:
        """Whether all of the first requests waited for more than the delay, and for much longer than later ones."""
        least = min(self.first_ns, default=0)
        return least > self.delay_ns * 3 // 2 and least - self.later_ns > self.delay_ns // 2


def judge_fresh(fresh: Fresh) -> tuple[Finding, ...]:
    """Judge whether the stack was ready when `deploy` returned."""
    if not fresh.late:
        return ()
    says = (
        f"with a delay of {ms(fresh.delay_ns)} the first request after `deploy` waits {ms(min(fresh.first_ns))} or more, "
        f"and later ones {ms(fresh.later_ns)} at most"
    )
    return (wrong("ready", says, "deploy", WARM_UP),)


def judge_idle(share: float | None) -> tuple[Finding, ...]:
    """Judge how much of a processor an idle deployment uses: one that always looks for work disturbs what it serves."""
    if share is None:
        return ()
    says = f"{share:.0%} of a processor while nothing is asked"
    if share < SPINS:
        return (ok("idle", says),)
    mend = "if it is the stack that looks for work all the time, rules about time may be INCONCLUSIVE for that reason"
    return (note("idle", f"{says}: {mend}"),)


def is_none(waits: Waits) -> bool:
    """Return whether a lone request does not wait. The least of several is compared, because noise only adds."""
    least = min(waits.lone_ns)
    return least <= max(FACTOR * min(waits.burst_ns), waits.model_ns // 10)


def kept(delayed: Delayed, plain: Waits) -> bool:
    """Return whether lone requests wait for longer with the delay than without, or than with the least that can be set.

    The third longest waits are compared, so that two requests that met a stall of the host do not look like a delay. With a
    free-running timer, any part of the period may be left, so a third of what the two delays differ by is enough: one of a
    hundred such stacks is told wrongly, and by the median it would be one of six. `delays` tries it again where it is not.
    """
    longer_ns = delayed.delay_ns - plain.delay_ns
    return bool(delayed.lone_ns) and _third(delayed.lone_ns) - _third(plain.lone_ns) >= longer_ns / LEFT


def _third(waits_ns: Sequence[int]) -> int:
    """Return the third longest of them; of fewer than five, the upper one of the middle."""
    return sorted(waits_ns, reverse=True)[min(2, (len(waits_ns) - 1) // 2)]


def anchor(delayed: Delayed) -> str:
    """Return from when the delay counts, as far as it shows; empty if it does not."""
    if delayed.after_busy_ns is None or not delayed.lone_ns:
        return ""
    if min(delayed.lone_ns) < KEPT * delayed.delay_ns:
        return "loop-entry"
    return "oldest-enqueue" if delayed.after_busy_ns < delayed.delay_ns // 2 else "first-dequeue"


def took_early(delayed: Delayed) -> bool:
    """Return whether a batch is closed while the model is busy: its requests are taken without waiting for the model."""
    return anchor(delayed) == "oldest-enqueue" and delayed.grew is False


def judge_none(waits: Waits) -> tuple[Finding, ...]:
    """Judge a deployment with the least delay."""
    if not waits.lone_ns or not waits.burst_ns:
        return (unseen("delay 0", "no lone request was answered"),)
    lone, burst = ms(min(waits.lone_ns)), ms(min(waits.burst_ns))
    says = f"a lone request spends {lone} outside the model, the quickest of a burst {burst}"
    if waits.delay_ns:
        return (note("delay 0", f"a delay of 0 is not possible; with {ms(waits.delay_ns)} {says}"),)
    if is_none(waits):
        return (ok("delay 0", says),)
    longer = f"more than {FACTOR} times as long, and more than a tenth of the model's {ms(waits.model_ns)}"
    return (note("delay 0", f"with a queue delay of 0 a lone request still waits: {says} ({longer})", "deploy", DELAY_UNIT),)


def judge_delay(delayed: Delayed, plain: Waits, *, claimed: bool) -> tuple[Finding, ...]:
    """Judge a deployment with a delay against one without."""
    asked = ms(delayed.delay_ns)
    least = min(delayed.lone_ns, default=0)
    if delayed.unanswered >= SILENT or least > 5 * delayed.delay_ns:
        waited = "for longer than 1 s" if delayed.unanswered >= SILENT else ms(least)
        return (
            wrong(
                "delay", f"with a delay of {asked} a lone request waits {waited}: is the unit right?", "deploy", DELAY_UNIT
            ),
        )
    if not delayed.lone_ns or not plain.lone_ns:
        return (unseen("delay", "no lone request was answered"),)
    if not kept(delayed, plain):
        says = f"a delay of {asked} changes nothing: a lone request waits {ms(median_low(delayed.lone_ns))}"
        mend = f"{DELAY_UNIT}; if it is passed on, the batcher breaks DB-DELAY-*; if it has none, do not claim `delay`"
        return (wrong("delay", says, "deploy", mend) if claimed else note("delay", says, "deploy", DELAY_UNIT),)
    waits = f"{ms(min(delayed.lone_ns))} to {ms(max(delayed.lone_ns))}"
    return (ok("delay", f"with a delay of {asked} lone requests wait {waits}"), *_forming(delayed), *_anchor(delayed))


def _forming(delayed: Delayed) -> tuple[Finding, ...]:
    if delayed.forming is None:
        return ()
    if delayed.forming == 1:
        return (ok("queue, forming", "`queued()` counts a request whose batch is being formed"),)
    says = f"`queued()` is {delayed.forming} while the batch of one request is being formed"
    return (note("queue, forming", says, "queued", "count until the request enters the model, if the stack lets you"),)


def _anchor(delayed: Delayed) -> tuple[Finding, ...]:
    name = anchor(delayed)
    if not name or delayed.after_busy_ns is None:
        return (unseen("delay anchor", f"it needs {NEEDED}"),)
    also = ", or first-dequeue, which looks alike here" if took_early(delayed) else ""
    says = f"{name}{also}, roughly: {ANCHORS[name]} ({ms(max(0, delayed.after_busy_ns))} left after a busy model)"
    grew = {True: "a batch takes in newcomers while the model is busy", False: "a batch is closed while the model is busy"}
    late = (ok("late binding", grew[delayed.grew]),) if delayed.grew is not None else ()
    return (ok("delay anchor", says), *late)


LONE_WORK_NS = 20 * MS
