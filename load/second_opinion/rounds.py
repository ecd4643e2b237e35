"""Our load generator compared with others: one target, the same model, the same minute, in turns.

    batchproof lab second-opinions [--quick] [--json FILE] [--target triton | grpc://host:port]

On a Triton over gRPC: perf_analyzer with as many clients, and with the gaps of the same schedule; Locust with two workers
and the same schedule. In this process on the reference batcher: LoadGen, whose arrivals we then send again. Ratios are
theirs to ours; a round in which either run is invalid is not judged.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from batchproof.host.clock import HOST_CLOCK
from batchproof.load.runs import Run, closed_loop, open_loop
from batchproof.load.schedule import Schedule, poisson
from batchproof.load.second_opinion import loadgen, perf_analyzer
from batchproof.load.second_opinion import locust_run as locusts
from batchproof.load.second_opinion.agreement import Pair, Side, agreement, lines
from batchproof.load.second_opinion.opinion import Opinion, ToolFailed, ToolMissing
from batchproof.reference_batcher.config import BatcherConfig
from batchproof.targets.lifecycle import finish
from batchproof.targets.protocol import Request, Target, TargetError
from batchproof.targets.reference import ReferenceTarget
from batchproof.targets.triton.embedded import embedded_triton
from batchproof.targets.triton.target import running_triton
from batchproof.targets.verbs import FullDeployment, full
from batchproof.targets.witness.probe import Payload

CONFIG = BatcherConfig(max_batch_size=8)
BASE_NS, ROW_NS = 20_000_000, 1_250_000  # 20 ms and 1.25 ms a row: what a request costs a client is small in comparison
PAYLOAD = Payload(work_ns=BASE_NS, row_work_ns=ROW_NS)
CLIENTS = 2 * CONFIG.max_batch_size  # one batch in the model and one on its way; with fewer clients it is not saturated
ATTEMPTS = 3  # at a round in which either run is invalid
POISSON = 4  # of perf_analyzer's windows make one: random arrivals differ too much for it to call shorter ones stable
SHARE = 0.5  # of the measured capacity, for the open loops: the queue is not a lottery there
WAIT_NS = 10_000_000_000
LIMIT_NS = 100_000_000
Submit = Callable[[int], Future[Any]]
Say = Callable[[str], None]


def print_agreement(
    target: str = "triton", *, quick: bool = False, rounds: int = 0, seconds: float = 0.0, json_file: Path | None = None
) -> set[str]:
    """Measure, print the table, and return the verdicts that occurred.

    rounds, seconds: how many, and how long; 0: 5 of 8 s, quick 2 of 5 s. json_file: where all figures go; OSError, before
    anything is measured, if it cannot be written.
    """
    rounds, seconds = rounds or (2 if quick else 5), seconds or (5.0 if quick else 8.0)
    if json_file:
        json_file.write_text("", encoding="utf-8")
    pairs: list[Pair] = []
    try:
        pairs += in_process(ReferenceTarget(), rounds, seconds, _say)
        pairs += on_triton(target, rounds, seconds, _say)
    except TargetError as error:
        _say(f"skipped: {error}")
    judged = agreement(pairs)
    print("\n".join(lines(judged)))
    if json_file:
        facts = {"pairs": [pair.facts() for pair in pairs], "judged": [one.facts() for one in judged]}
        json_file.write_text(json.dumps(facts, indent=1), encoding="utf-8")
    return {one.verdict for one in judged}


def on_triton(target: str, rounds: int, seconds: float, say: Say) -> list[Pair]:
    """Compare perf_analyzer and Locust with ours on one Triton; TargetError if it cannot be reached or started."""
    triton = embedded_triton() if target == "triton" else running_triton(target)
    address = triton.grpc if target == "triton" else urlsplit(target).netloc  # type: ignore[attr-defined]
    try:
        deployment = full(triton).deploy(CONFIG)
        try:
            return list(_triton_pairs(deployment, address, rounds, seconds, say))
        finally:
            finish(deployment)
    finally:
        triton.close()


def _triton_pairs(deployment: FullDeployment, address: str, rounds: int, seconds: float, say: Say) -> Iterator[Pair]:
    submit, clock = _submit(deployment), HOST_CLOCK
    capacity = closed_loop(submit, clock, CLIENTS, wait_ns=WAIT_NS, seconds=1.0).throughput
    tensor = Request("load", 1, PAYLOAD).tensor()
    window_ms = max(500, round(seconds * 1e3 / 3 / perf_analyzer.WINDOW))  # it needs three windows

    def analyzed(windows: int = 1, **load: Any) -> Opinion:
        more = {"window_ms": windows * window_ms, "trials": 6, **load}
        with perf_analyzer.found() as tool:
            return perf_analyzer.measure(tool, address, deployment.inner.name, {"IN": tensor}, **more)

    def swarmed(schedule: Schedule) -> Opinion:
        return locusts.measure(address, deployment.inner.name, tensor[0].tolist(), schedule)

    def closed_ours() -> Run:
        return closed_loop(submit, clock, CLIENTS, wait_ns=WAIT_NS, seconds=seconds)

    def open_ours(schedule: Schedule) -> Run:
        return open_loop(submit, clock, schedule, wait_ns=WAIT_NS)

    missing: set[str] = set()
    for number in range(rounds):
        schedule = poisson(max(1, round(SHARE * capacity)), seconds, number + 1)
        opened = partial(open_ours, schedule)
        own = partial(analyzed, POISSON, rate=round(schedule.rate))
        kinds: list[tuple[str, str, Callable[[], Run], Callable[[], Opinion]]] = [
            (f"closed, {CLIENTS} clients", perf_analyzer.NAME, closed_ours, partial(analyzed, clients=CLIENTS)),
            ("open, the same gaps", perf_analyzer.NAME, opened, partial(analyzed, POISSON, schedule=schedule)),
            ("open, its own Poisson", perf_analyzer.NAME, opened, own),
            ("open, the same schedule, two workers", "locust", opened, partial(swarmed, schedule)),
        ]
        for name, tool, ours, theirs in kinds:
            if tool not in missing:
                try:
                    yield _pair(f"triton: {name}", tool, ours, theirs, number, say)
                except ToolMissing as error:
                    missing.add(tool)
                    say(f"skipped: {error}")


def in_process(target: Target, rounds: int, seconds: float, say: Say) -> list[Pair]:
    """Compare LoadGen with ours on a target that is in this process."""
    deployment = full(target).deploy(CONFIG)
    submit, clock = _submit(deployment), HOST_CLOCK
    closed = partial(closed_loop, submit, clock, wait_ns=WAIT_NS)
    pairs = []
    try:
        loadgen.module()
        capacity = closed(CLIENTS, seconds=1.0).throughput
        for number in range(rounds):
            seen: list[Opinion] = []

            def server(number: int = number, seen: list[Opinion] = seen) -> Opinion:
                rate = round(SHARE * capacity)
                seen.append(loadgen.server(submit, rate, seconds=seconds, seed=number + 1, slo_ns=LIMIT_NS))
                return seen[-1]

            def again(seen: list[Opinion] = seen) -> Run:
                return open_loop(submit, clock, _arrivals(seen[-1]), wait_ns=WAIT_NS)

            single = partial(loadgen.single_stream, submit, seconds=seconds, expected_ns=BASE_NS)
            offline = partial(loadgen.offline, submit, capacity, seconds=seconds)
            kinds: list[tuple[str, Callable[[], Run], Callable[[], Opinion], bool]] = [
                ("Server", again, server, True),
                ("SingleStream", partial(closed, 1, seconds=seconds), single, False),
                ("Offline", partial(closed, CLIENTS, seconds=seconds), offline, False),
            ]
            for name, ours, theirs, first in kinds:
                said = f"{target.info.name}: LoadGen {name}"
                pairs.append(_pair(said, "loadgen", ours, theirs, number, say, theirs_first=first))
    except ToolMissing as error:
        say(f"skipped: {error}")
    finally:
        finish(deployment)
    return pairs


def _pair(
    said: str,
    tool: str,
    ours: Callable[[], Run],
    theirs: Callable[[], Opinion],
    number: int,
    say: Say,
    *,
    theirs_first: bool = False,
) -> Pair:
    """Run one after the other, in turns, because the host differs between the first and the second. ToolMissing.

    If either is invalid both are run again, and the last attempt stands.
    """

    def opinion() -> Side:
        try:
            return Side.of_opinion(theirs())
        except ToolFailed as error:
            say(str(error))
            return Side.nothing(tool, str(error).partition("; the end of what")[0])

    for attempt in range(ATTEMPTS):
        if theirs_first or (number + attempt) % 2:
            side, run = opinion(), ours()
        else:
            run, side = ours(), opinion()
        pair = Pair(said, Side.of_run(run), side, latency="Offline" not in said)
        say(f"{said}, round {number + 1}: {tool} {side.throughput:.0f}/s, ours {run.throughput:.0f}/s{_doubt(pair)}")
        if not pair.reasons:
            break
    return pair


def _doubt(pair: Pair) -> str:
    return f"; INVALID: {pair.reasons[0]}" if pair.reasons else ""


def _submit(deployment: Any) -> Submit:
    serial = iter(range(1, 1 << 62))

    def submit(number: int) -> Future[Any]:
        future: Future[Any] = deployment.submit(Request("load", next(serial), replace(PAYLOAD, nonce=number)))
        return future

    return submit


def _arrivals(opinion: Opinion) -> Schedule:
    """Return when LoadGen sent, as a schedule: the same arrivals for ours, so that chance makes no difference."""
    assert opinion.samples is not None
    return Schedule(opinion.samples.sent_ns, f"LoadGen's own: {opinion.asked}")


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
