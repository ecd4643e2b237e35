"""What is tried on a deployment. Each function drives a `Probe`, waits no longer than it must, and returns facts."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from typing import Any

from batchproof.commands.adapter.answers import Burst, First, waited
from batchproof.commands.adapter.backlog import VERBS, Backlog, Reading
from batchproof.commands.adapter.caller import Hung
from batchproof.commands.adapter.ending import Cancelled, Closing, Expired, Failure, Rows
from batchproof.commands.adapter.finding import MS
from batchproof.commands.adapter.parallel import Beside, Defaults, Instances
from batchproof.commands.adapter.probe import ANSWER_NS, SOON_NS, Probe, Track
from batchproof.host.processor_use import idle_share

FIRST_NS = 2 * ANSWER_NS  # a model's first answer may take longer
FIRST_WORK_NS = 100 * MS
TRIES = 3  # before `submit` is said to wait for the answer: a stalled host, or the first connection, looks like it
BEHIND = 8
WATCHED = 3  # of the requests behind the plug: `queued` is read after each
FEW, MANY = 4, 12  # where a kernel or a proxy deals out requests at random, a few may all go to one of two workers
UNTOLD_NS = 30_000_000_000  # with nothing set, a stack may have a queue delay that its documentation does not tell
DELAYED_NS = 50 * MS  # a lone request that waits for less may have met a slow first call
IDLE_S = 0.3  # a deployment is left alone for so long, several times
CLOSE_NS = 10_000_000_000
STOPS_NS = 3_000_000_000  # what a server may take to end after `close` has returned


def first(probe: Probe, **payload: Any) -> First:
    """Send one request that works for a while, and others while `submit` takes as long as the model: the host may stall.

    payload: what else each of them asks for.
    """
    for number in range(TRIES):
        found = _worked(probe, f"r{number}", **payload)
        if not waited(found):
            break
    return found


def _worked(probe: Probe, name: str, **payload: Any) -> First:
    track = probe.send(name, work_ns=FIRST_WORK_NS, **payload)
    raised = track.ended().error if track.raised else ""
    returned = "" if track.future is None or track.is_future else f"a {type(track.future).__name__}"
    if not raised and not returned:
        probe.settled(track, limit_ns=FIRST_NS)
    return First(FIRST_WORK_NS, track.took_ns, raised, returned, track.ended(), track.model_ns())


def burst(probe: Probe, count: int = 8) -> Burst:
    """Send several requests at once."""
    tracks = [probe.send(f"r{number}") for number in range(count)]
    probe.settled(*tracks)
    return Burst(tuple((track.request.name, track.ended()) for track in tracks))


def _read(probe: Probe, expected: int) -> Reading:
    """Wait until `queued()` says this, and still says it when asked again."""
    sent_ns, said = probe.clock.now_ns(), probe.queued()

    def exact() -> bool:
        nonlocal said
        said = probe.queued()
        return said == expected

    in_time = said == expected or probe.wait(exact)
    took_ns = probe.clock.now_ns() - sent_ns
    if in_time:
        probe.pass_ns(5 * MS)
        in_time = exact()
    return Reading(expected, said, took_ns if in_time else None)


def backlog(probe: Probe, size: int) -> Backlog:
    """Hold a plug in the model, fill the queue behind it one by one, and release."""
    missing = probe.lacks(*VERBS)
    if "release" in missing:
        return Backlog(size, missing)
    gate, sees, counts = probe.gate(), "log" not in missing, "queued" not in missing
    readings: list[Reading] = []
    behind: list[Track] = []
    accepted, passed, hung, logged_ns, early, before = True, False, "", None, False, probe.queued() if counts else None
    plug = probe.send("plug", gate=gate)
    try:
        if sees and probe.wait(lambda: probe.entered(plug) or plug.done()) and probe.entered(plug):
            logged_ns = probe.clock.now_ns() - plug.sent_ns
        elif not sees:
            probe.pass_ns(200 * MS)
        early = plug.done()
        if not early:
            readings += [_read(probe, 0)] if counts else []
            for number in range(BEHIND):
                behind.append(probe.send(f"b{number}"))
                if not (accepted := behind[-1].took_ns is not None):
                    break
                if (
                    counts
                    and (number < WATCHED or number == BEHIND - 1)
                    and all(one.took_ns is not None for one in readings)
                ):
                    readings.append(_read(probe, number + 1))
            early = plug.done()
            passed = not early and any(one.done() or (sees and probe.entered(one)) for one in behind)
    except Hung as verb:
        hung = verb.verb
    probe.release(gate)
    opened = probe.settled(plug, limit_ns=SOON_NS)
    probe.settled(*(track for track in behind if track.is_future))
    after = _read(probe, 0) if counts and not hung and opened else None
    late = False
    if sees:
        served = [track for track in (plug, *behind) if track.done() and not track.ended().error]
        probe.wait(lambda: _all_entered(probe, served))
        late = logged_ns is None and probe.entered(plug)
        probe.read_log()
    tracks = (plug, *behind)
    return Backlog(
        size,
        missing,
        before=before,
        plug_logged_ns=logged_ns,
        plug_late=late,
        early=early,
        opened=opened,
        accepted=accepted,
        hung=hung,
        passed=passed,
        readings=tuple(readings),
        after=after,
        lines=_mine(probe, tracks),
        odd=repr(probe.odd[0])[:200] if probe.odd else "",
        serials=tuple((one.request.name, one.request.serial) for one in tracks),
        answered=tuple(one.request.name for one in tracks if one.done() and not one.ended().error),
        unsettled=tuple(one.request.name for one in tracks if not one.done()),
    )


def _mine(probe: Probe, tracks: tuple[Track, ...]) -> tuple[Mapping[str, Any], ...]:
    """Return the log's lines about the entry of these requests."""
    serials = {track.request.serial for track in tracks}
    return tuple(line for line in probe.lines if serials & set(line.get("serials", ())))


def _all_entered(probe: Probe, tracks: list[Track]) -> bool:
    return sum(probe.entered(track) for track in tracks) == len(tracks)


def held(probe: Probe, name: str = "plug", limit_ns: int = SOON_NS) -> tuple[Track, int]:
    """Send a held request, and wait until it is in the model; return it and its gate."""
    gate = probe.gate()
    plug = probe.send(name, gate=gate)
    probe.wait(lambda: probe.entered(plug), limit_ns)
    return plug, gate


@contextmanager
def plugged(probe: Probe, limit_ns: int = SOON_NS) -> Iterator[Track]:
    """Keep the model busy with a held request; let it go at the end, whatever happens. limit_ns: until it is in there."""
    plug, gate = held(probe, limit_ns=limit_ns)
    try:
        yield plug
    finally:
        probe.release(gate)
        probe.settled(plug)


def queue(probe: Probe, *tracks: Track) -> None:
    """Wait until so many requests are seen in the queue."""
    probe.wait(lambda: probe.queued() >= len(tracks))


def executions(probe: Probe, tracks: list[Track]) -> tuple[tuple[int, ...], ...]:
    """Return the rows of each execution that holds one of these requests, from the log."""
    probe.wait(lambda: _all_entered(probe, tracks))
    serials = {track.request.serial for track in tracks}
    runs = [line for line in probe.lines if "enter_ns" in line and serials & set(line["serials"])]
    return tuple(tuple(line["rows"]) for line in runs)


def rows(probe: Probe, size: int, *, usable: bool) -> Rows:
    """Send a request of three rows alone, and then as many as a batch may have rows, of one, two and three rows each.

    Where requests are counted, they fill a batch, whichever sizes it may have, and that batch has more rows than the limit.
    """
    lone = probe.send("rows", rows=3)
    answered, ended = probe.settled(lone), lone.ended()
    if not answered or ended.error or ended.troubles:
        return Rows(ended.error or "".join(ended.troubles[:1]) or "it is never answered", limit=size)
    if not usable:
        return Rows(limit=size)
    with plugged(probe):
        behind = [probe.send(f"rows{number}", rows=1 + number % 3) for number in range(size)]
        queue(probe, *behind)
    probe.settled(*behind)
    return Rows("", executions(probe, behind), size, len(behind))


def cancelled(probe: Probe, size: int, *, usable: bool) -> Cancelled:
    """Cancel the last of the requests behind a plug: a stack may have staged up to two batches for a busy instance."""
    if probe.deployment.cancel is None or not usable:
        return Cancelled(verb=probe.deployment.cancel is not None)
    cancel = probe.deployment.cancel
    with plugged(probe):
        kept = [probe.send(f"kept{number}") for number in range(2 * size)]
        gone = probe.send("gone")
        queue(probe, *kept, gone)
        before = gone.ended()
        probe.call("cancel", lambda: cancel(gone.future))
        probe.wait(lambda: probe.queued() <= len(kept), SOON_NS // 2)  # a server may learn later than its client
    probe.settled(*kept)
    probe.settled(gone, limit_ns=SOON_NS)
    alone(probe)  # its batch may leave a delay after it was cancelled: what came later shows that its turn is over
    probe.read_log()
    if before.answered:
        return Cancelled(verb=True, before=before.error or before.kind or "an answer")
    return Cancelled(verb=True, executed=probe.entered(gone), ended=gone.ended())


def alone(probe: Probe, **payload: int) -> Track:
    """Send a lone request, and return it when it is settled."""
    track = probe.send("lone", **payload)
    probe.settled(track)
    return track


def instances(probe: Probe, *, usable: bool, claimed: bool) -> Instances:
    """Hold two instances at once, then see whether a free one serves what comes while the other is held."""
    if not usable:
        return Instances()
    most = MANY if claimed else FEW
    plugs = [held(probe, "plug0")]
    for number in range(1, most):
        plugs.append(held(probe, f"plug{number}", SOON_NS if number == most - 1 else SOON_NS // 4))
        if sum(probe.entered(plug) for plug, _ in plugs) > 1:
            break
    inside = [(plug, gate) for plug, gate in plugs if probe.entered(plug)]
    serials = {plug.request.serial for plug, _ in inside}
    named = [int(line["instance"]) for line in probe.lines if "enter_ns" in line and serials & set(line["serials"])]
    shared, executed = None, False
    if len(inside) > 1:
        for plug, gate in plugs:
            if plug is not inside[0][0]:
                probe.release(gate)
        probe.settled(*(plug for plug, _ in inside[1:]))
        others = []
        for number in range(4):
            others.append(probe.send(f"o{number}"))
            probe.settled(others[-1], limit_ns=SOON_NS // 4)
        shared = all(other.done() for other in others)
        executed = any(probe.entered(other) for other in others if not other.done())
    for _, gate in plugs:
        probe.release(gate)
    probe.settled(*(plug for plug, _ in plugs))
    return Instances("", len(plugs), tuple(named), len(inside) > 1, shared, executed)


def expired(probe: Probe, timeout_ns: int, *, usable: bool) -> Expired:
    """Let one request wait for longer than the queue timeout, and another one's model take longer.

    The slow one is last: where it is refused, its model works on, and whatever came next would wait for that.
    """
    if not usable:
        return Expired()
    with plugged(probe):
        late = probe.send("late")
        probe.pass_ns(3 * timeout_ns)
    probe.settled(late)
    slow = alone(probe, work_ns=2 * timeout_ns)
    return Expired("", late.ended(), slow.ended())


def idle(probe: Probe) -> float | None:
    """Return how much of a processor is used while nothing is asked; None in simulated time."""
    return None if probe.deployment.simulated else idle_share(IDLE_S)


def failure(probe: Probe) -> Failure:
    """Let the model raise, and send another request."""
    before = logging.root.manager.disable
    logging.disable(logging.CRITICAL)  # a library that logs the exception, with its traceback, logs what was asked for
    try:
        failed = probe.send("fails", fail=True)
        probe.settled(failed)
    finally:
        logging.disable(before)
    following = probe.send("next")
    probe.settled(following)
    return Failure(failed.ended(), following.ended())


def defaults(probe: Probe, *, usable: bool, delay_ns: int = 0) -> Defaults:
    """Send a request, and then some behind a plug. delay_ns: how long each of them may wait, as the stack documents it.

    If it documents nothing, a second lone request shows whether there is a delay all the same.
    """
    limit_ns = ANSWER_NS + (2 * delay_ns or UNTOLD_NS)
    first = probe.send("first")
    answered, ended = probe.settled(first, limit_ns=limit_ns), first.ended()
    if not answered or ended.error or ended.troubles:
        return Defaults(verb=True, failed=ended.error or "".join(ended.troubles[:1]) or "a request is never answered")
    lone = [first]
    if not delay_ns and (first.outside_ns() or 0) >= DELAYED_NS:
        lone.append(probe.send("second"))
        probe.settled(lone[-1], limit_ns=limit_ns)
    waited_ns = tuple(one.outside_ns() or 0 for one in lone[1:] and lone)
    if not usable:
        return Defaults(verb=True, waited_ns=waited_ns)
    with plugged(probe, limit_ns if waited_ns else SOON_NS):
        behind = [probe.send(f"default{number}") for number in range(BEHIND)]
        queue(probe, *behind)
    probe.settled(*behind, limit_ns=limit_ns)
    sizes = tuple(len(rows) for rows in executions(probe, behind))
    return Defaults(verb=True, batches=sizes, waited_ns=waited_ns)


def beside(one: Probe, other: Probe, *, usable: bool) -> Beside:
    """Hold a request in one deployment, and send one to the other."""
    if one.deployment.inner is other.deployment.inner:
        return Beside(same=True)
    with plugged(one) if usable else nullcontext() as plug:
        beside = other.send("beside")
        served = other.settled(beside) and not beside.ended().error
    again = one.send("again")
    first = [track for track in (plug, again) if track is not None]
    alive = one.settled(*first) and not any(track.ended().error for track in first)
    other.read_log()
    one.read_log()
    mine = {serial for line in one.lines for serial in line.get("serials", ())}
    foreign = sum(bool(mine & set(line.get("serials", ()))) for line in other.lines)
    return Beside(served=served, foreign=foreign, alive=alive)


def closing(probe: Probe, *, usable: bool) -> Closing:
    """Close a deployment while a request waits behind a plug, then let the plug go."""
    plug, gate = held(probe) if usable else (None, 0)
    waiting = probe.send("waiting") if usable else None
    if waiting is not None:
        queue(probe, waiting)
    began_ns = probe.clock.now_ns()
    tracks = [track for track in (plug, waiting) if track is not None]
    raised: list[str] = []

    def close() -> None:
        try:
            probe.deployment.close()
        except Exception as error:
            raised.append(f"{type(error).__name__}: {error}")

    closed = _in_thread(close, alone=not probe.deployment.simulated)
    if tracks:
        probe.release(gate)
    settled = probe.settled(*tracks)
    returned = probe.wait(closed, CLOSE_NS)
    took_ns = probe.clock.now_ns() - began_ns
    served = plug is not None and plug.done() and not plug.ended().error
    dropped = not settled and served and waiting is not None and not probe.entered(waiting)
    return Closing(settled, returned, returned and _goes_on(probe), raised[0] if raised else "", took_ns, dropped)


def _in_thread(function: Callable[[], None], *, alone: bool) -> Callable[[], bool]:
    """Call it, in a thread because a target may return only when all is served; return whether it has returned."""
    if not alone:
        function()
        return lambda: True
    thread = threading.Thread(target=function, name="batchproof-close", daemon=True)
    thread.start()
    thread.join(0.05)
    return lambda: not thread.is_alive()


def _goes_on(probe: Probe) -> bool:
    """Return whether requests are served after `close`, however long one waits for a server that is told to end."""
    began_ns = probe.clock.now_ns()
    while _serves(probe):
        if probe.clock.now_ns() - began_ns > STOPS_NS:
            return True
        probe.pass_ns(50 * MS)
    return False


def _serves(probe: Probe) -> bool:
    """Return whether a request that is sent now gets an answer."""
    late = probe.send("late")
    return probe.settled(late, limit_ns=SOON_NS // 2) and not late.ended().error
