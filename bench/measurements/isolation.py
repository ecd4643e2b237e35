"""Who suffers when somebody else is busy: two models on one target, then two priority levels in one model.

Model A is critical (a delay of 2 ms), model B does background work (a delay of 50 ms), each with instances of its own. A
spike hits B; A's p99 and the share of its requests within the SLO are compared before, during and after. Then urgent and
other requests share one model: how much of the others is served, and how long they wait, against the urgent load.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any

import numpy as np

from batchproof.bench.fleet import together
from batchproof.bench.measurement import Bench, Result
from batchproof.bench.measurements.overload import saturation
from batchproof.load.phases import Phase, during, figures, in_ms, merged, phases, schedule
from batchproof.load.runs import Run, open_loop
from batchproof.load.samples import Samples
from batchproof.load.schedule import Schedule, poisson
from batchproof.load.workload import MS, WORKS, Served
from batchproof.reference_batcher.config import BatcherConfig
from batchproof.stats import gates
from batchproof.stats.percentile import fewest
from batchproof.targets.protocol import claimed

A = BatcherConfig(max_batch_size=4, max_queue_delay_ns=2 * MS)
B = BatcherConfig(max_batch_size=4, max_queue_delay_ns=50 * MS)
A_LOAD, B_CALM, B_SPIKE = 0.4, 0.3, 2.0
LEVELS = BatcherConfig(max_batch_size=4, priority_levels=2, default_priority_level=2)
URGENT, OTHER = 1, 2
OTHER_LOAD = 0.3
URGENT_LOADS, QUICK_URGENT_LOADS = (0.1, 0.3, 0.5, 0.7, 0.9, 1.2), (0.5, 0.9)
SLO_BATCHES = 4  # A's SLO, where none was given: its delay and so many full batches
ENOUGH = fewest(99) + 2  # of two loads together, each rounded
FELT = 2.0  # the spike is one if it at least doubles B's own p99
WORK = WORKS["accelerator"]


@dataclass(frozen=True)
class Shared:
    """What became of loads that ran side by side: samples of each, in the order of the loads; why they are no result."""

    samples: tuple[Samples, ...]
    reasons: tuple[str, ...]


def measure(bench: Bench) -> Result:
    """Measure both; what the target does not claim is skipped with the reason."""
    missing = claimed(bench.target.info, LEVELS.features())
    with together(bench, WORK, (A, B) if missing else (A, B, LEVELS)) as serve:
        with serve(A) as a, serve(B) as b:
            bench.say("isolation: capacity of A and of B")
            saturated = saturation(bench, a, A), saturation(bench, b, B)
            models = _models(bench, a, b, saturated)
        if missing:
            levels = _unclaimed(f"priority levels: {bench.target.info.name} does not claim '{missing}'")
        else:
            with serve(LEVELS) as served:
                levels = _levels(bench, served, saturated[0])
    reasons = [*models["reasons"], *levels["reasons"]]
    return {
        "valid": not reasons,
        "partly": models["valid"] or levels["partly"],
        "reasons": reasons,
        "verdict": "",
        "headline": f"{models['headline']}; {levels['headline']}",
        "tables": [*models.pop("tables"), *levels.pop("tables")],
        "models": models,
        "levels": levels,
    }


def side_by_side(bench: Bench, name: str, served: Sequence[Served], loads: Sequence[Schedule], slo_ns: int) -> Shared:
    """Offer each load to its model at the same time; slo_ns: what the first one is held to.

    One issuer sends all of them in the order of time, so that none waits for another's thread. Models in simulated time
    have a clock each and share no processor: they run one after another, and their isolation holds by construction.
    """
    if bench.target.simulated:
        pairs = zip(served, loads, strict=True)
        runs = [open_loop(one.submit, one.clock, load, wait_ns=bench.wait_ns) for one, load in pairs]
        return Shared(tuple(run.samples for run in runs), tuple(why for run in runs for why in run.validity.reasons))
    both, whose = merged(*loads)
    to = [served[place] for place in whose.tolist()]

    def submit(number: int) -> Future[Any]:
        future: Future[Any] = to[number].submit(number)
        return future

    run = bench.valid(lambda: open_loop(submit, served[0].clock, both, wait_ns=bench.wait_ns, limit_ns=slo_ns))
    bench.keep(name, run)
    return Shared(tuple(run.samples.part(whose == place) for place in range(len(loads))), run.validity.reasons)


def _models(bench: Bench, a: Served, b: Served, saturated: tuple[Run, Run]) -> Result:
    a_capacity, b_capacity = (run.throughput for run in saturated)
    slo_ns = bench.slo_ns or A.max_queue_delay_ns + round(SLO_BATCHES * A.max_batch_size / a_capacity * 1e9)
    seconds = bench.seconds(8.0, 2.0)
    steady = phases(*((name, seconds, A_LOAD * a_capacity) for name in ("before", "during", "after")))
    spike = phases(
        ("before", seconds, B_CALM * b_capacity),
        ("during", seconds, B_SPIKE * b_capacity),
        ("after", seconds, B_CALM * b_capacity),
    )
    bench.say("isolation: A serves, a spike hits B")
    loads = [schedule(steady, bench.seed, alike=True), schedule(spike, bench.seed + len(steady))]
    shared = side_by_side(bench, "isolation-models", [a, b], loads, slo_ns)
    found = {
        "A": by_phase(shared.samples[0], steady, slo_ns),
        "B": by_phase(shared.samples[1], spike, slo_ns),
    }
    spoilt = [f"capacity: {why}" for run in saturated for why in run.validity.reasons]
    reasons = [f"models: {why}" for why in (*spoilt, *shared.reasons, *_unfelt(found["B"]))]
    facts = {"slo_ns": slo_ns, "capacities": {"A": a_capacity, "B": b_capacity}, "reasons": reasons, "valid": not reasons}
    p99 = [found["A"][name]["p99_ns"] for name in ("before", "during")]
    ratio = p99[1] / p99[0] if None not in p99 else None
    if reasons:
        return {**facts, "discarded": found, "headline": "isolation of models: no valid run", "tables": []}
    told = "not known" if ratio is None else f"{ratio:.2f} x"
    attained = found["A"]["during"]["attainment"]
    return {
        **facts,
        **found,
        "p99_ratio": ratio,
        "headline": f"a spike on B changes A's p99 to {told}, {attained:.1%} within {slo_ns / 1e6:.0f} ms",
        "tables": [_phase_table(found)],
    }


def by_phase(samples: Samples, parts: Sequence[Phase], slo_ns: int) -> dict[str, dict[str, Any]]:
    """Return the figures of each phase, with the verdict on "99 % are within slo_ns"."""
    found = {}
    for part in parts:
        inside = during(samples, part)
        verdict = gates.latency_within(inside.latency_ns, slo_ns).to_json() if inside.count else None
        found[part.name] = {**figures(inside, slo_ns, part.seconds), "slo": verdict}
    return found


def _unfelt(b: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """A spike that B itself did not feel shows nothing about A."""
    calm, hit = b["before"]["p99_ns"], b["during"]["p99_ns"]
    if calm is None or hit is None or hit >= FELT * calm:
        return []
    return [f"the spike was none: B's own p99 went from {in_ms(calm)} to {in_ms(hit)} ms"]


def _phase_table(found: Mapping[str, Mapping[str, Mapping[str, Any]]]) -> dict[str, Any]:
    rows = [
        [model, name, round(part["offered"], 1), in_ms(part["p50_ns"]), in_ms(part["p99_ns"]), _percent(part["attainment"])]
        for model, parts in found.items()
        for name, part in parts.items()
    ]
    heads = ["model", "phase", "offered /s", "p50 ms", "p99 ms", "within SLO %"]
    return {"title": "A critical model beside a spike on another", "heads": heads, "rows": rows}


def _unclaimed(why: str) -> Result:
    return {"skipped": why, "partly": False, "reasons": [], "headline": why, "tables": []}


def _levels(bench: Bench, served: Served, saturated: Run) -> Result:
    """Offer loads in parts of what the same model serves without levels: `saturated`."""
    capacity, rows = saturated.throughput, []
    slo_ns = bench.slo_ns or round((1 + SLO_BATCHES) * LEVELS.max_batch_size / capacity * 1e9)
    for load in QUICK_URGENT_LOADS if bench.quick else URGENT_LOADS:
        bench.say(f"isolation: urgent requests at {load:g} of capacity, others at {OTHER_LOAD:g}")
        rows.append(_level_row(bench, served, load, capacity, slo_ns))
    spoilt = saturated.validity.reasons
    reasons = [f"levels: capacity: {why}" for why in spoilt]
    reasons += [f"urgent load {row['load']:g}: {why}" for row in rows for why in row["reasons"]]
    told = [f"{row['served_share']:.0%} at {row['load']:g}" for row in rows if row["valid"]]
    return {
        "capacity": capacity,
        "slo_ns": slo_ns,
        "other_load": OTHER_LOAD,
        "rows": rows,
        "partly": not spoilt and any(row["valid"] for row in rows),
        "reasons": reasons,
        "headline": "others served by urgent load: " + (", ".join(told) or "no valid run"),
        "tables": [_level_table(rows)],
    }


def _level_row(bench: Bench, served: Served, load: float, capacity: float, slo_ns: int) -> Result:
    seconds = max(bench.seconds(6.0, 1.5), ENOUGH / ((load + OTHER_LOAD) * capacity))
    both, whose = merged(
        poisson(load * capacity, seconds, bench.seed, exact=True),
        poisson(OTHER_LOAD * capacity, seconds, bench.seed + 1, exact=True),
    )
    levels = np.where(whose == 0, URGENT, OTHER).tolist()

    def submit(number: int) -> Future[Any]:
        return served.submit(number, priority=levels[number])

    run = bench.valid(lambda: open_loop(submit, served.clock, both, wait_ns=bench.wait_ns, limit_ns=slo_ns))
    bench.keep(f"isolation-levels-{load:g}", run)
    urgent, others = run.samples.part(whose == 0), run.samples.part(whose == 1)
    end_ns = round(seconds * 1e9)
    seen = {
        "urgent": figures(urgent, slo_ns, seconds),
        "others": figures(others, slo_ns, seconds),
        **starvation(others, end_ns),
        "fluid_share": min(1.0, max(0.0, (1 - load) / OTHER_LOAD)),
    }
    valid = run.validity.valid
    row = {"load": load, "valid": valid, "reasons": list(run.validity.reasons)}
    return {**row, **(seen if valid else {"discarded": seen})}


def starvation(samples: Samples, end_ns: int) -> dict[str, Any]:
    """Return how badly requests starved while load was offered, that is until end_ns.

    served_share: answered by then, of all. longest_wait_ns: the longest that one had waited by then, answered or not; what
    is left over is served once the load ends, so later answers say nothing about the load.
    """
    if not samples.count:
        return {"served_share": None, "longest_wait_ns": None}
    by_then = np.minimum(samples.done_ns, end_ns) - samples.scheduled_ns
    return {
        "served_share": float(np.mean(samples.answered & (samples.done_ns <= end_ns))),
        "longest_wait_ns": int(by_then.max()),
    }


def _level_table(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    heads = ["urgent load", "valid", "urgent p99 ms", "within SLO %", "others served %", "by fluid limit %"]
    cells = [[row["load"], row["valid"], *(_level_cells(row) if row["valid"] else [None] * 5)] for row in rows]
    title = f"Two priority levels in one model, others at {OTHER_LOAD:g} of capacity"
    return {"title": title, "heads": [*heads, "longest wait ms"], "rows": cells}


def _level_cells(row: Mapping[str, Any]) -> list[Any]:
    urgent = row["urgent"]
    shares = (urgent["attainment"], row["served_share"], row["fluid_share"])
    return [in_ms(urgent["p99_ns"]), *map(_percent, shares), in_ms(row["longest_wait_ns"])]


def _percent(share: float | None) -> float | None:
    return None if share is None else round(100 * share, 2)
