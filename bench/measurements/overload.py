"""Overload: 0.5 to 3 times the capacity is offered, open loop, without a limit and with those that the target claims.

What is asked: how much is answered within the SLO (goodput), what is refused and how, whether the queue stays bounded, how
long it takes after a spike until the latency is back, and whether some clients are served less than others.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from batchproof.bench.fleet import together
from batchproof.bench.measurement import Bench, Result
from batchproof.load.phases import Phase, during, figures, in_ms, most_inside, phases, quantile, schedule
from batchproof.load.runs import Run, closed_loop, open_loop
from batchproof.load.samples import Samples
from batchproof.load.schedule import poisson
from batchproof.load.workload import WORKS, Served, Unmeasured
from batchproof.reference_batcher.config import BatcherConfig
from batchproof.stats.percentile import fewest
from batchproof.targets.protocol import claimed

LOADS = (0.5, 0.8, 1.0, 1.5, 2.0, 3.0)
QUICK_LOADS = ((0.5, 3.0), (3.0,))  # without a limit, with one
MAX_BATCH = 4  # small, so that three times the capacity is still a rate that one Python client can send
WAITING = 2  # batches that may wait where the queue has a limit
SLO_BATCHES = 6  # the SLO, where none was given, in full batches: the limited queue, one under way, one's own, some slack
CLIENTS = 8
BACK = 1.5  # recovered: the median of the next requests is at most this many times the median before the spike
WINDOW = 50
ENOUGH = fewest(99) + 3  # requests of a run, so that p99 has a bound
CALM, SPIKE = 0.5, 3.0
QUICK_SPIKES = 2  # one without a limit and one with: how short a queue is decides, and not by what
CAPACITY_ATTEMPTS = 5  # all that follows is told in parts of it
WORK = WORKS["accelerator"]


@dataclass(frozen=True)
class Limit:
    """A way to keep a queue short. wait_ns: the longest a request may wait in it; 0: for ever."""

    name: str
    config: BatcherConfig
    needs: tuple[str, ...] = ()
    says: str = ""


def measure(bench: Bench) -> Result:
    """Offer each load to each limit, then a spike to each; every row says whether it is valid."""
    plain = BatcherConfig(max_batch_size=MAX_BATCH)
    with bench.serve(WORK, plain) as served:
        bench.say("overload: capacity")
        saturated = saturation(bench, served, plain)
        capacity = saturated.throughput
        full_ns = round(MAX_BATCH / capacity * 1e9)
        slo_ns = bench.slo_ns or SLO_BATCHES * full_ns
        result: Result = {"capacity": capacity, "slo_ns": slo_ns, "clients": CLIENTS}
        result |= {"rows": [], "spikes": [], "skipped": []}
        reasons = [f"capacity: {reason}" for reason in saturated.validity.reasons]
        reasons += _offered(bench, served, Limit("no limit", plain), result)
    asked = []
    for limit in limits(plain, slo_ns, full_ns):
        if missing := claimed(bench.target.info, limit.needs):
            result["skipped"].append(f"{limit.name}: {bench.target.info.name} does not claim '{missing}'")
        else:
            asked.append(limit)
    with together(bench, WORK, [limit.config for limit in asked]) as serve:
        for limit in asked:
            with serve(limit.config) as served:
                reasons += _offered(bench, served, limit, result)
    return {
        "valid": not reasons,
        "partly": saturated.valid and any(row["valid"] for row in result["rows"]),
        "reasons": reasons,
        "verdict": "",
        "headline": headline(result),
        "tables": tables(result),
        **result,
    }


def _offered(bench: Bench, served: Served, limit: Limit, result: Result) -> list[str]:
    """Add to the result what becomes of each load and of a spike; return what speaks against it."""
    reasons: list[str] = []
    capacity, slo_ns = result["capacity"], result["slo_ns"]
    for load in loads(bench, limit):
        bench.say(f"overload: {limit.name}, {load:g} of capacity")
        row = _loaded(bench, served, limit, load, capacity, slo_ns)
        result["rows"].append(row)
        reasons += [f"{limit.name} at {load:g}: {reason}" for reason in row["reasons"]]
    if bench.quick and len(result["spikes"]) == QUICK_SPIKES:
        return reasons
    bench.say(f"overload: {limit.name}, a spike of {SPIKE:g} times the capacity")
    spike = _spike(bench, served, limit, capacity, slo_ns)
    result["spikes"].append(spike)
    return [*reasons, *(f"{limit.name}, spike: {reason}" for reason in spike["reasons"])]


def loads(bench: Bench, limit: Limit) -> tuple[float, ...]:
    """Return the loads, in parts of the capacity."""
    return QUICK_LOADS[int(bool(limit.needs))] if bench.quick else LOADS


def limits(plain: BatcherConfig, slo_ns: int, full_ns: int) -> tuple[Limit, ...]:
    """Return the queue with a limit of requests, and with one of time (what the SLO leaves for waiting)."""
    size = WAITING * plain.max_batch_size * plain.instances
    wait_ns = max(1_000, (slo_ns - 2 * full_ns) // 1_000 * 1_000)
    return (
        Limit("max_queue_size", replace(plain, max_queue_size=size), ("max_queue_size",), f"{size} requests"),
        Limit("queue timeout", replace(plain, queue_timeout_ns=wait_ns), ("queue_timeout",), f"{wait_ns / 1e6:.1f} ms"),
    )


def saturation(bench: Bench, served: Served, config: BatcherConfig) -> Run:
    """Run a closed loop that never leaves an instance idle; its throughput is the capacity.

    Two batches of clients an instance are the least (one batch in the model, one that forms); one more hides the way back.
    Unmeasured if nothing is answered.
    """
    clients = (2 * config.instances + 1) * config.max_batch_size
    closed_loop(served.submit, served.clock, clients, wait_ns=bench.wait_ns, requests=2 * clients)  # warm-up
    seconds = bench.seconds(2.0, 1.0)
    run = bench.valid(
        lambda: closed_loop(served.submit, served.clock, clients, wait_ns=bench.wait_ns, seconds=seconds),
        least=CAPACITY_ATTEMPTS,
    )
    if not run.throughput:
        bench.check_alive()
        raise Unmeasured(f"the capacity, with {clients} clients: {run.validity}")
    return run


def _loaded(bench: Bench, served: Served, limit: Limit, load: float, capacity: float, slo_ns: int) -> Result:
    seconds = max(bench.seconds(5.0, 2.0), ENOUGH / (load * capacity))
    arrivals = poisson(load * capacity, seconds, bench.seed, exact=True)
    run = bench.valid(lambda: open_loop(served.submit, served.clock, arrivals, wait_ns=bench.wait_ns, limit_ns=slo_ns))
    samples = with_clients(run.samples, bench.seed)
    row: Result = {
        "limit": limit.name,
        "load": load,
        "valid": run.validity.valid,
        "reasons": list(run.validity.reasons),
        "host": bench.keep(f"overload-{limit.name}-{load:g}", run)["host"],
        "bound": bound(limit.config),
    }
    seen = {
        **figures(samples, slo_ns, seconds),
        **fairness(samples),
        "most_inside": most_inside(samples),
        "growth": growth(samples),
        "overtaken": overtaken(samples),
    }
    return {**row, **(seen if run.validity.valid else {"discarded": seen})}


def _spike(bench: Bench, served: Served, limit: Limit, capacity: float, slo_ns: int) -> Result:
    drains = (SPIKE - 1) / (1 - CALM)  # without a limit a second of spike takes so long to drain: see it through
    seconds = max(bench.seconds(3.0, 0.6), ENOUGH / (capacity * (CALM + SPIKE + CALM * (drains + 1))))
    parts = phases(
        ("before", seconds, CALM * capacity),
        ("spike", seconds, SPIKE * capacity),
        ("after", seconds * (drains + 1), CALM * capacity),
    )
    arrivals = schedule(parts, bench.seed)
    run = bench.valid(lambda: open_loop(served.submit, served.clock, arrivals, wait_ns=bench.wait_ns, limit_ns=slo_ns))
    bench.keep(f"overload-{limit.name}-spike", run)
    recovered = recovery_ns(run.samples, parts[0], parts[1].end_ns)
    seen = {
        "recovery_ns": recovered,
        "expected_ns": None if limit.needs else round(parts[1].seconds * drains * 1e9),
        "phases": {part.name: figures(during(run.samples, part), slo_ns, part.seconds) for part in parts},
    }
    valid = run.validity.valid
    row = {"limit": limit.name, "valid": valid, "reasons": list(run.validity.reasons)}
    return {**row, **(seen if valid else {"discarded": seen})}


def with_clients(samples: Samples, seed: int, clients: int = CLIENTS) -> Samples:
    """Return the samples with each request given to a client by lot: the target has no reason to prefer one."""
    return replace(samples, client=np.random.default_rng(seed).integers(0, clients, samples.count, dtype=np.int32))


def bound(config: BatcherConfig) -> int | None:
    """Return how many requests may be inside by max_queue_size: waiting, and in the model; None: any number."""
    return config.max_queue_size + config.instances * config.max_batch_size if config.max_queue_size else None


def fairness(samples: Samples) -> dict[str, float | None]:
    """Return how evenly clients are answered: share answered of what each sent.

    least_to_mean: of the client served least (1: all alike). jain: (sum x)^2 / (n sum x^2), 1 for all alike, 1/n if one gets
    everything (Jain, Chiu, Hawe 1984). None if nobody is answered.
    """
    sent = np.bincount(samples.client)
    got = np.bincount(samples.client, weights=samples.answered, minlength=sent.size)[sent > 0]
    share = got / sent[sent > 0]
    if not share.size or not share.any():
        return {"least_to_mean": None, "jain": None}
    return {
        "least_to_mean": float(share.min() / share.mean()),
        "jain": float(share.sum() ** 2 / (share.size * (share @ share))),
    }


def overtaken(samples: Samples) -> float:
    """Return the share of answered requests that came back after one that was sent later."""
    asked = samples.answered
    done = samples.done_ns[asked][np.argsort(samples.sent_ns[asked], kind="stable")]
    if done.size < 2:
        return 0.0
    soonest_later = np.minimum.accumulate(done[::-1])[::-1]
    return float(np.count_nonzero(done[:-1] > soonest_later[1:]) / done.size)


def growth(samples: Samples) -> float | None:
    """Return by how many seconds the latency grows in a second of load: about load - 1 without a limit, 0 in a steady state.

    The least-squares line of answered requests' latency against the time at which they were due; None of fewer than 3.
    """
    asked = samples.answered
    x: npt.NDArray[np.float64] = samples.scheduled_ns[asked].astype(np.float64)
    y: npt.NDArray[np.float64] = samples.latency_ns[asked].astype(np.float64)
    if x.size < 3 or not np.ptp(x):
        return None
    x = x - x.mean()
    return float(x @ y / (x @ x))


def recovery_ns(samples: Samples, before: Phase, spike_end_ns: int) -> int | None:
    """Return how long after the spike the latency is back; None if it is not while the load lasts, or if nothing is known.

    Back: from here on 50 requests in a row have a median of at most 1.5 times the median before the spike. A refusal counts
    as an infinite latency, so a target that recovers by refusing everybody does not recover.
    """
    was = quantile(during(samples, before).latency_ns, 50)
    after = samples.scheduled_ns >= spike_end_ns
    late, due = samples.latency_ns[after], samples.scheduled_ns[after]
    if was is None or late.size < WINDOW:
        return None
    good = late <= BACK * was
    enough = np.convolve(good, np.ones(WINDOW, dtype=np.int64), "valid") * 2 > WINDOW
    return int(due[np.argmax(enough)]) - spike_end_ns if enough.any() else None


def headline(result: Mapping[str, Any]) -> str:
    """Say in one line what overload does to goodput, by limit."""
    worst = [row for row in result["rows"] if row["valid"] and row["load"] == SPIKE]
    told = [f"{row['limit']} {row['goodput'] / result['capacity']:.0%}" for row in worst]
    if not told:
        return "no valid run at three times the capacity"
    within = f"within {result['slo_ns'] / 1e6:.0f} ms"
    return f"at {SPIKE:g} x capacity ({result['capacity']:.0f}/s) answered {within}, of capacity: " + ", ".join(told)


def tables(result: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return what a person reads."""
    heads = [
        "limit",
        "load",
        "valid",
        "goodput /s",
        "refused",
        "p50 ms",
        "p99 ms",
        "answered p99",
        "most inside",
        "bound",
        "grows s/s",
    ]
    rows = [
        [row["limit"], row["load"], row["valid"], *(_row_cells(row) if row["valid"] else [None] * 10)]
        for row in result["rows"]
    ]
    keys = ("recovery_ns", "expected_ns")
    spikes = [[row["limit"], row["valid"], *(in_ms(row.get(key)) for key in keys)] for row in result["spikes"]]
    return [
        {"title": "Offered load against capacity", "heads": [*heads, "least/mean", "Jain"], "rows": rows},
        {"title": "After a spike", "heads": ["limit", "valid", "recovery ms", "by theory ms"], "rows": spikes},
    ]


def _row_cells(row: Mapping[str, Any]) -> list[Any]:
    refused = sum(count for word, count in row["outcomes"].items() if word != "answered")
    fair = [row["least_to_mean"], row["jain"]]
    return [
        round(row["goodput"], 1),
        refused,
        in_ms(row["p50_ns"]),
        in_ms(row["p99_ns"]),
        in_ms(row["answered_p99_ns"]),
        row["most_inside"],
        row["bound"],
        None if row["growth"] is None else round(row["growth"], 3),
        *(None if value is None else round(value, 3) for value in fair),
    ]
