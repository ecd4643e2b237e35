"""Runs: an open loop on a schedule, and a closed loop of clients. They work on the host's clock and on a simulated one."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from batchproof.host.clock import Clock
from batchproof.host.watch import Watch, conditions, cores, sharp_timer
from batchproof.load.answers import Answers
from batchproof.load.closed_loop import Clients, Loop, Submit, flush_of
from batchproof.load.samples import Samples
from batchproof.load.schedule import Schedule
from batchproof.load.validity import Asked, Seen, Validity, judge
from batchproof.stats.arrays import NEVER, Ints
from batchproof.stats.autocorrelation import integrated_time
from batchproof.stats.percentile import fewest, interval, percentile
from batchproof.stats.quantiles import CONFIDENCE

__all__ = ["Run", "Validity", "closed_loop", "open_loop"]

OPEN, CLOSED = "open", "closed"
PERCENTS = {"p50": 50.0, "p90": 90.0, "p99": 99.0, "p99_9": 99.9}
STEP_S = 0.05  # an interruption is noticed this soon
HEAD_START_NS = 20_000_000  # time for the issuer's thread to start


@dataclass(frozen=True, eq=False)
class Run:
    """One stretch of load, and everything that is known about it.

    kind: "open" or "closed". asked: the schedule's spec, or "clients=16". duration_ns: how long load was offered: the length
    of the schedule, or up to the last send of a closed loop. host: JSON data, empty in simulated time.
    """

    kind: str
    asked: str
    samples: Samples
    duration_ns: int
    validity: Validity
    host: dict[str, Any] = field(default_factory=dict)

    @property
    def valid(self) -> bool:
        """Whether it may be reported."""
        return self.validity.valid

    @property
    def throughput(self) -> float:
        """Answers per second while load was offered; neither the time after that counts, nor the answers in it."""
        done_ns = self.samples.done_ns[self.samples.answered]
        return float(np.count_nonzero(done_ns <= self.duration_ns)) * 1e9 / self.duration_ns

    def latency_ns(self, percent: float) -> int | None:
        """Return a percentile from the scheduled time; None if too few requests were sent for it, or too few answered."""
        if self.samples.count < fewest(percent):
            return None
        found = percentile(self.samples.latency_ns, percent)
        return None if found == NEVER else found

    def summary(self) -> dict[str, Any]:
        """Return JSON data. What an invalid run measured is under "discarded" and nowhere else.

        throughput: answers per second. latency (from the schedule), service (from the send), lag (between the two): by p50,
        p90, p99, p99_9, each with ns, low_ns and high_ns (99 % confidence, for the number of independent requests that the
        autocorrelation leaves), n, and `why` where there is no number.
        """
        measured = {
            "throughput": self.throughput,
            "latency": table(self.samples.latency_ns),
            "service": table(self.samples.service_ns),
            "lag": table(self.samples.lag_ns),
        }
        facts = {
            "kind": self.kind,
            "asked": self.asked,
            "valid": self.valid,
            "reasons": list(self.validity.reasons),
            "requests": self.samples.count,
            "outcomes": self.samples.outcomes(),
            "duration_ns": self.duration_ns,
            "host": self.host,
        }
        return facts | (measured if self.valid else {"discarded": measured})


def open_loop(
    submit: Submit,
    clock: Clock,
    schedule: Schedule,
    *,
    wait_ns: int,
    slo_ns: int | None = None,
    percent: float | None = None,
    compute_threads: int = 0,
    start_ns: int | None = None,
) -> Run:
    """Send every request when it is due, whatever the target does; latency counts from then.

    submit: given the number of the request, from 0; must not block; its Future settles with an answer or raises Refused. If
    it has a `flush()`, that is called when nothing more is due for now; until then it may collect what it sends.
    wait_ns: how long after the schedule's end an answer may come. slo_ns, percent, compute_threads: see `validity.Asked`;
    with a limit, p99 is asked for. If `submit` raises, the target has refused that request. start_ns: when on the clock the
    schedule begins, for a start that was agreed upon; otherwise it begins at once.
    """
    asked = Asked(slo_ns, 99.0 if percent is None and slo_ns is not None else percent, compute_threads)
    simulated = clock.simulated
    due = schedule.due_ns.tolist()
    deadline_ns = schedule.end_ns + wait_ns
    with conditions(simulated=simulated) as watch:
        if start_ns is None:
            start_ns = clock.now_ns() + (0 if simulated else HEAD_START_NS)
        noted = Answers(clock.now_ns, start_ns, schedule.count)
        issuer = _Issuer(submit, clock, noted, due, start_ns, deadline_ns)
        if simulated:
            issuer.run(clock.sleep_until_ns)
        else:
            watch.facts |= {"timer_slack_ns": issuer.in_a_thread()}
        clock.wait(noted.settled, start_ns + deadline_ns)
    samples = noted.samples(schedule.due_ns)
    done_ns = samples.done_ns[samples.done_ns != NEVER]
    duration_ns = schedule.end_ns or int(done_ns.max(initial=1))
    return _run(OPEN, schedule.spec, samples, duration_ns, asked, wait_ns, schedule.end_ns, watch)


def closed_loop(
    submit: Submit | Clients,
    clock: Clock,
    clients: int,
    *,
    wait_ns: int,
    requests: int = 0,
    seconds: float = 0.0,
    slo_ns: int | None = None,
    percent: float | None = None,
    compute_threads: int = 0,
) -> Run:
    """Keep `clients` requests under way until `requests` were sent and `seconds` are over: each answer sends the next.

    submit: sends for any client; or `Clients`, which know who sends. wait_ns: how long the target may be silent before the
    requests under way count as unanswered. A closed loop slows down with its target, so its latencies do not say what users
    would see. The rest is as in `open_loop`.
    """
    if clients < 1 or (requests < 1 and seconds <= 0):
        raise ValueError(f"a closed loop needs clients, and requests or seconds; not {clients}, {requests} and {seconds}")
    asked = Asked(slo_ns, 99.0 if percent is None and slo_ns is not None else percent, compute_threads)
    with conditions(simulated=clock.simulated) as watch:
        start_ns = clock.now_ns()
        loop = Loop(submit, clock.now_ns, start_ns, requests, round(seconds * 1e9))
        loop.begin(clients)
        _until_over(loop, clock, wait_ns)
        loop.stop()
    samples = loop.noted.samples()
    done_ns = samples.done_ns[samples.done_ns != NEVER]
    duration_ns = loop.last_sent_ns if samples.count > clients else int(done_ns.max(initial=1))
    if loop.too_many():
        raise RuntimeError(f"{samples.count} requests in {duration_ns} ns of {seconds} s: the target takes no time at all")
    return _run(CLOSED, f"clients={clients}", samples, max(1, duration_ns), asked, wait_ns, None, watch)


def until_valid(make: Callable[[], Run], attempts: int, between: Callable[[], None] = lambda: None) -> Run:
    """Return the first valid run, or the last attempt. `between` is called after each attempt that was not valid."""
    for _ in range(attempts - 1):
        if (run := make()).valid:
            return run
        between()
    return make()


def table(values_ns: Ints) -> dict[str, dict[str, Any]]:
    """Return the percentiles of values in the order of the schedule, as in `Run.summary`."""
    return {name: _entry(values_ns, percent) for name, percent in PERCENTS.items()}


class _Issuer:
    """Sends on time: sleeps to the next due time, then sends everything that is due."""

    def __init__(
        self, submit: Submit, clock: Clock, noted: Answers, due: list[int], start_ns: int, deadline_ns: int
    ) -> None:
        self._submit, self._clock, self._noted, self._due = submit, clock, noted, due
        self._start_ns, self._deadline_ns = start_ns, deadline_ns
        self._stopped = False
        self._broken: BaseException | None = None
        self._slack_ns = 0

    def in_a_thread(self) -> int:
        """Run in a thread with a sharp timer, and return the timer's slack; an exception in that thread is raised here."""
        thread = threading.Thread(target=self._guarded, name="batchproof-issuer", daemon=True)
        thread.start()
        try:
            while thread.is_alive():
                thread.join(STEP_S)
        finally:
            self._stopped = True
        if self._broken:
            raise self._broken
        return self._slack_ns

    def run(self, sleep_until_ns: Callable[[int], None]) -> None:
        """Send everything. This loop must be quick, so all names are local."""
        due, noted, submit, now, start_ns = self._due, self._noted, self._submit, self._clock.now_ns, self._start_ns
        sent, settle, number, count = noted.sent, noted.settle, 0, len(self._due)
        flush = flush_of(submit)
        while number < count and not self._stopped:
            sleep_until_ns(start_ns + due[number])
            at_ns = now() - start_ns
            if at_ns > self._deadline_ns:
                return
            while number < count and due[number] <= at_ns:
                sent[number] = at_ns = now() - start_ns
                try:
                    future = submit(number)
                except Exception as error:
                    noted.refuse(number, error)
                else:
                    future.add_done_callback(_Settling(settle, number))
                number += 1
            flush()

    def _guarded(self) -> None:
        self._slack_ns = sharp_timer()
        try:
            self.run(_sleep_until_ns)
        except BaseException as error:
            self._broken = error


class _Settling:
    """A callback that knows its request's number; cheaper than a closure or a partial."""

    __slots__ = ("_number", "_settle")

    def __init__(self, settle: Callable[[int, Future[Any]], None], number: int) -> None:
        self._settle, self._number = settle, number

    def __call__(self, future: Future[Any]) -> None:
        self._settle(self._number, future)


def _sleep_until_ns(when_ns: int) -> None:
    while (left_ns := when_ns - time.monotonic_ns()) > 0:
        time.sleep(left_ns / 1e9)


def _until_over(loop: Loop, clock: Clock, wait_ns: int) -> None:
    """Wait for the end for as long as answers keep coming."""
    while not loop.over():
        seen = loop.answers
        if not clock.wait(lambda seen=seen: loop.answers > seen or loop.over(), clock.now_ns() + wait_ns):  # type: ignore[misc]
            return


def _run(
    kind: str, spec: str, samples: Samples, duration_ns: int, asked: Asked, wait_ns: int, end_ns: int | None, watch: Watch
) -> Run:
    lasted_ns = watch.lasted_ns or duration_ns
    seen = Seen(watch.stalls_ns, lasted_ns, cores() if watch.facts else 0)
    return Run(kind, spec, samples, duration_ns, judge(samples, asked, seen, end_ns=end_ns, wait_ns=wait_ns), watch.facts)


def _entry(values_ns: Ints, percent: float) -> dict[str, Any]:
    count = len(values_ns)
    if count < (needed := fewest(percent)):
        return {"ns": None, "low_ns": None, "high_ns": None, "n": count, "why": f"{count} requests, a bound needs {needed}"}
    found = percentile(values_ns, percent)
    low, high = interval(values_ns, percent, CONFIDENCE, integrated_time(values_ns > found))
    bounds = {"ns": _finite(found), "low_ns": low, "high_ns": _finite(high), "n": count}
    return bounds if found != NEVER else bounds | {"low_ns": _finite(low), "why": "so many requests were not answered"}


def _finite(ns: int) -> int | None:
    return None if ns == NEVER else ns
