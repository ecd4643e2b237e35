"""The gate, the log and the queue: what a rule relies on when it fills a queue behind a held request."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from batchproof.commands.adapter.finding import MS, Finding, Level, ms, note, ok, unseen, wrong

VERBS = {
    "release": "rules that need a backlog",
    "log": "rules that need a backlog, and executions whose answers never arrive",
    "queued": "rules that queue something behind a held request",
}
NEEDED = "`release`, `log` and `queued`, and requests that wait for a busy model"
SLOW_NS = 500 * MS
FOLDER = "read the folder that the witness was given"
BLOCKS = (
    "a model that waits must not stop the server from accepting requests: call it in a thread, or as the stack's users do"
)
LOST = "if the stack lost them, the rules DB-LIVE-* say so; if the adapter did, settle their Futures"
COUNT = "count what is accepted and not yet in the model: neither the request in the model, nor twice, nor late"


@dataclass(frozen=True)
class Reading:
    """`queued()` after so many requests were sent. took_ns: until it said so; None if it never did; said: the last value."""

    expected: int
    said: int
    took_ns: int | None


@dataclass(frozen=True)
class Backlog:
    """A held request (the plug), requests behind it one by one, and then the release.

    plug_logged_ns: from sending it until the log showed that it is in the model; None if it never did. plug_late: the log
    showed it only after the release. early: it was answered before the release. opened: it was answered after the release.
    accepted: `submit` of the requests behind it returned. hung: a verb that did not return while the plug was in the model.
    passed: a request behind the plug was in the model, or answered, while the plug was still there.
    before: `queued()` before anything was sent. readings: 0 with only the plug sent, then 1, 2, 3, ... after: at the end.
    lines: those of the log about the entry of these requests. odd: a line that cannot be read, or empty. serials: by name.
    answered: the names of those that got an answer. unsettled: of those that never ended.
    """

    size: int
    missing: tuple[str, ...] = ()
    before: int | None = None
    plug_logged_ns: int | None = None
    plug_late: bool = False
    early: bool = False
    opened: bool = False
    accepted: bool = True
    hung: str = ""
    passed: bool = False
    readings: tuple[Reading, ...] = ()
    after: Reading | None = None
    lines: tuple[Mapping[str, Any], ...] = ()
    odd: str = ""
    serials: tuple[tuple[str, int], ...] = ()
    answered: tuple[str, ...] = ()
    unsettled: tuple[str, ...] = ()

    @property
    def usable(self) -> bool:
        """Whether rules, and the checks after this one, can fill a queue behind a plug."""
        held = (
            not (self.missing or self.hung or self.early or self.passed) and self.opened and self.plug_logged_ns is not None
        )
        right = not any(one.level is Level.WRONG for one in (*_log(self), *_queue(self)))
        return held and right

    @property
    def batches(self) -> tuple[int, ...]:
        """How many requests each execution had, without the plug's."""
        return tuple(map(len, self._runs))

    @property
    def disorder(self) -> str:
        """What of the order of their arrival these requests did not keep: `order`, or only `order_within` their batches."""
        sent = {serial: place for place, (_, serial) in enumerate(self.serials)}
        runs = [[sent.get(serial, 0) for serial in serials] for serials in self._runs]
        sets = [sorted(places) for places in runs]
        left = [place for places in sets for place in places]
        if left != sorted(left):
            return "order"
        return "" if sets == runs else "order_within"

    @property
    def _runs(self) -> list[list[int]]:
        """The serials of each execution, without the plug's."""
        runs = [line["serials"] for line in self.lines if "enter_ns" in line]
        plug = dict(self.serials).get("plug")
        return [serials for serials in runs if plug not in serials]


def is_batched(backlog: Backlog) -> bool:
    """Return whether it left in batches: as few as there can be, or one more."""
    return len(backlog.batches) <= -(-sum(backlog.batches) // backlog.size) + 1


def judge(backlog: Backlog) -> tuple[Finding, ...]:
    """Judge gate, log, queue, and whether a busy model keeps the server from accepting."""
    return (*_verbs(backlog), *_gate(backlog), *_log(backlog), *_queue(backlog), *_busy(backlog), *_batches(backlog))


def _verbs(backlog: Backlog) -> tuple[Finding, ...]:
    """Return a note for each verb that is not there."""
    return tuple(note(_ROW[verb], f"there is no `{verb}`: lost are {VERBS[verb]}", "deploy") for verb in backlog.missing)


_ROW = {"release": "gate", "log": "log", "queued": "queue"}


def _gate(backlog: Backlog) -> tuple[Finding, ...]:
    if "release" in backlog.missing:
        return ()
    if backlog.early:
        says = "a held request was answered before `release` was called"
        return (wrong("gate", says, "submit", "send request.tensor() unchanged: its column `hold` names the gate"),)
    if not backlog.opened:
        mend = "open the gate in the folder that the witness was given: release(folder, token)"
        return (wrong("gate", "a held request was not answered after `release`", "release", mend),)
    return (ok("gate", "holds a request in the model until `release`"),)


def _log(backlog: Backlog) -> tuple[Finding, ...]:
    if "log" in backlog.missing:
        return ()
    if backlog.odd:
        return (wrong("log", f"a line of the log cannot be read: {backlog.odd}", "log", f"{FOLDER}: read_log does"),)
    entries = [line for line in backlog.lines if "enter_ns" in line]
    if again := _most([(line["instance"], line["batch"]) for line in entries]):
        says = f"execution {again[1]} of instance {again[0]} has more than one line for its entry"
        return (
            wrong("log", says, "log", "return only the lines that are new since the last call: keep read_log's cursors"),
        )
    names = {serial: name for name, serial in backlog.serials}
    if twice := _most([serial for line in entries for serial in line["serials"]]):
        says = f"{names.get(twice, twice)} is in more than one execution"
        return (wrong("log", says, "log", "let each execution be written once, by one witness"),)
    if backlog.plug_late:
        says = "an execution is only seen in the log when it is over"
        return (
            wrong("log", says, "log", "return the line of the entry while the model is busy: do not buffer, do not wait"),
        )
    if backlog.plug_logged_ns is None:
        return (wrong("log", "the log never shows the request that is in the model", "log", FOLDER),)
    seen = {serial for line in entries for serial in line["serials"]}
    if gone := [name for name in backlog.answered if dict(backlog.serials)[name] not in seen]:
        return (wrong("log", f"{gone[0]} was answered, and the log has no execution with it", "log", FOLDER),)
    if backlog.plug_logged_ns > SLOW_NS:
        return (note("log", f"one line for each execution, {ms(backlog.plug_logged_ns)} after it was sent", "log"),)
    return (ok("log", f"one line for each execution, {ms(backlog.plug_logged_ns)} after it was sent"),)


def _most(values: list[Any]) -> Any:
    """Return a value that occurs more than once, or None."""
    return next((value for value, count in Counter(values).items() if count > 1), None)


def _queue(backlog: Backlog) -> tuple[Finding, ...]:
    if "queued" in backlog.missing:
        return ()
    if backlog.before:
        return (wrong("queue", f"`queued()` is {backlog.before} before anything was sent", "queued", COUNT),)
    if backlog.hung or backlog.early:
        return ()
    if backlog.passed:
        return (unseen("queue", "nothing waits behind a busy model"),)
    for reading in backlog.readings:
        if reading.took_ns is None:
            what = f"{reading.expected} behind a request in the model" if reading.expected else "only a request in the model"
            mend = COUNT if reading.said or not reading.expected else f"{COUNT}. If it counts rightly: {BLOCKS}"
            return (wrong("queue", f"`queued()` is {reading.said} with {what}", "queued", mend),)
    if backlog.opened and backlog.after and backlog.after.took_ns is None:
        if 0 < backlog.after.said <= len(backlog.unsettled):
            says = f"{', '.join(backlog.unsettled)}, behind a request in the model, never ended"
            return (note("queue", f"{says}, and {backlog.after.said} are counted", "submit", LOST),)
        return (wrong("queue", f"`queued()` is {backlog.after.said} after all were answered", "queued", COUNT),)
    if not backlog.readings:
        return (unseen("queue", "`queued()` could not be tried without a gate"),)
    slowest = max(reading.took_ns or 0 for reading in backlog.readings)
    says = f"exact from 0 to {backlog.readings[-1].expected} and back, at most {ms(slowest)} late"
    return (note("queue", says, "queued", "each rule waits for it") if slowest > SLOW_NS else ok("queue", says),)


def _busy(backlog: Backlog) -> tuple[Finding, ...]:
    if backlog.early or "release" in backlog.missing:
        return ()
    if backlog.passed:
        says = "with instances = 1, a request is executed while another one is in the model: nothing waits for an instance"
        return (
            note("busy model", says, "deploy", "rules that need a backlog cannot be tried, unless the stack can be told"),
        )
    if not backlog.accepted:
        return (wrong("busy model", "`submit` does not return while the model is busy", "submit", BLOCKS),)
    if backlog.hung:
        return (wrong("busy model", f"`{backlog.hung}` does not return while the model is busy", backlog.hung, BLOCKS),)
    if backlog.readings and backlog.readings[-1].said == 0 and len(backlog.readings) > 1:
        return (unseen("busy model", "whether requests are accepted while the model is busy"),)
    return (ok("busy model", "requests are accepted while the model is busy"),)


def _batches(backlog: Backlog) -> tuple[Finding, ...]:
    if not backlog.usable:
        return (unseen("batches", f"a backlog needs {NEEDED}"),)
    sizes = list(backlog.batches)
    if not sizes:
        return (unseen("batches", "the backlog is not in the log"),)
    if max(sizes) > backlog.size:
        return (
            wrong(
                "batches",
                f"a backlog of {sum(sizes)} leaves in {sizes}, with max_batch_size {backlog.size}",
                "deploy",
                "pass config.max_batch_size on; a batcher that has no limit claims `batch_limit = false`, and another one "
                "breaks DB-SIZE-001",
            ),
        )
    says = f"a backlog of {sum(sizes)} leaves in {sizes}"
    if is_batched(backlog):
        return (ok("batches", says),)
    return (note("batches", f"{says}: {'hardly anything' if max(sizes) > 1 else 'nothing'} is batched"),)
