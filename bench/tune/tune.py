"""`batchproof tune`: measures tau(b), predicts the grid, verifies the promising points on the target, says why."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from batchproof.bench.measurement import Bench, Result
from batchproof.bench.measurements.overload import saturation
from batchproof.bench.oracle.prediction import margin_of
from batchproof.bench.tune.search import (
    Goal,
    Machine,
    Point,
    Simulator,
    Traffic,
    blame,
    grid_of,
    highest_qps,
    ms,
    name_of,
    nearest,
    ranked,
)
from batchproof.exit_status import ExitStatus
from batchproof.load.phases import quantile
from batchproof.load.runs import open_loop
from batchproof.load.workload import Served, Work
from batchproof.reference_batcher.config import BatcherConfig
from batchproof.stats import gates
from batchproof.stats.gates import FAIL, INCONCLUSIVE, PASS, Decision

INVALID = "INVALID"
# Of the predicted rate. At 1.0 just 1 % is over the wall, and nothing can be shown in any time: the simulator says from
# which margin on it can, and that is where the target is asked.
MARGINS = (0.98, 0.95, 0.9, 0.85, 0.8, 0.7, 0.6)
STEPS = (1, 1, 2)  # slices, in planned lengths: what is inconclusive is measured on, to four times the plan
TRIES = 3  # margins at which one configuration is measured


@dataclass(frozen=True)
class Wish:
    """What is to be tuned for what. rate: requests/s that must be held; 0: find the highest.

    seconds: the longest that one rate is verified, in all. simulated_s: of traffic for each prediction. candidates: the most
    configurations that are measured.
    """

    goal: Goal
    traffic: Traffic
    work: Work
    rate: float = 0.0
    max_batch: tuple[int, ...] = (4, 8, 16, 32, 64, 128)
    delays_ns: tuple[int, ...] = (0, 1_000_000, 2_000_000, 5_000_000, 10_000_000)
    instances: int = 1
    seconds: float = 60.0
    simulated_s: float = 20.0
    candidates: int = 3


@dataclass(frozen=True)
class Verified:
    """What the target did with one configuration at one rate.

    verdict: PASS, FAIL, INCONCLUSIVE, or INVALID (see reasons). shown: the evidence. p99_ns: the goal's percentile as
    measured; predicted_ns: as simulated on the very same arrivals. looks: slices that it took, `requests` in all.
    """

    config: BatcherConfig
    rate: float
    verdict: str
    shown: Decision | None
    p99_ns: int | None
    predicted_ns: int | None
    requests: int
    looks: int
    reasons: tuple[str, ...] = ()

    @property
    def over(self) -> int | None:
        """How many requests were over the wall."""
        return round(self.shown.estimate * self.shown.n) if self.shown and self.shown.estimate is not None else None

    @property
    def ratio(self) -> float | None:
        """Measured by predicted."""
        return self.p99_ns / self.predicted_ns if self.p99_ns and self.predicted_ns else None

    def to_json(self) -> Result:
        """Return JSON data."""
        return {**asdict(self), "config": self.config.facts(), "ratio": self.ratio}


def tune(bench: Bench, wish: Wish) -> Result:
    """Tune; a line of `bench.jsonl`, with `exit_status`, `says` (in words), `pbtxt` (None if nothing was found), tables."""
    machine = _calibrated(bench, wish, bench.curve(wish.work))
    simulator = Simulator(machine, wish.traffic, wish.goal, wish.simulated_s, bench.seed)
    points = simulator.grid(grid_of(wish.max_batch, wish.delays_ns, wish.instances), bench.say)
    qps, order = highest_qps(points), ranked(points)
    hopeful = [point for point in order if point.rate >= wish.rate]
    tried = _candidates(bench, wish, simulator, hopeful)
    best = max((one for one in tried if one.verdict == PASS), key=lambda one: one.rate, default=None)
    against = _against(bench, wish, simulator, qps, best)
    none = ExitStatus.INCONCLUSIVE if any(one.verdict != FAIL for one in tried) else ExitStatus.FAILED
    status = ExitStatus.FINE if best else none
    says = _found(best, against, qps, points, machine, wish) if best else _none(tried, points, machine, wish)
    reasons = [f"{name_of(one.config)} at {one.rate:.0f}/s: {why}" for one in tried for why in one.reasons]
    return {
        "valid": best is not None or status == ExitStatus.FAILED,
        "reasons": reasons if status == ExitStatus.INCONCLUSIVE else [],
        "verdict": {ExitStatus.FINE: PASS, ExitStatus.FAILED: FAIL}.get(status, INCONCLUSIVE),
        "headline": says[0],
        "tables": tables(points, tried, against, wish),
        "says": says,
        "exit_status": status,
        "pbtxt": pbtxt(best.config, says) if best else None,
        "goal": asdict(wish.goal),
        "traffic": wish.traffic.pattern,
        "work": wish.work.name,
        "machine": {"sizes": machine.curve.sizes, "tau_ns": machine.curve.tau_ns, "way_ns": machine.way_ns},
        "points": [{**asdict(point), "config": point.config.facts()} for point in points],
        "verified": [one.to_json() for one in tried],
        "chosen": best and best.to_json(),
        "highest_qps": {"config": qps.config.facts(), "qps": qps.qps, "at_chosen_rate": against and against.to_json()},
        "invalid_runs": reasons,
    }


def _calibrated(bench: Bench, wish: Wish, curve: Any) -> Machine:
    """In simulated time the curve is the whole truth; elsewhere saturation says what a batch costs beside the model."""
    if bench.target.simulated:
        return Machine(curve)
    saturated = []
    for size in sorted({min(wish.max_batch), max(wish.max_batch)}):
        config = BatcherConfig(max_batch_size=size, instances=wish.instances)
        bench.say(f"saturating {name_of(config)}")
        with bench.serve(wish.work, config) as served:
            saturated.append((size, saturation(bench, served, config).throughput))
        bench.check_alive()
    known = [(size, rate) for size, rate in saturated if rate > 0]
    return Machine.calibrated(curve, known, bench.ways_ns.get(wish.work.name, 0), wish.instances)


def _candidates(bench: Bench, wish: Wish, simulator: Simulator, hopeful: Sequence[Point]) -> list[Verified]:
    """Verify the promising points, the best first, until none that is left promises more than what was found.

    Where a configuration with a queue delay is slower than simulated and fails for it, no other one with a delay is tried,
    and without a delay likewise: the target does not do it as the simulator thinks.
    """
    tried: list[Verified] = []
    worse: set[bool] = set()  # with a delay, without one
    held, left = 0.0, wish.candidates
    for point in hopeful:
        delayed = point.config.max_queue_delay_ns > 0
        if delayed in worse:
            continue
        plans = [plan for plan in planned(wish, simulator, point) if plan[0] > held][:TRIES]
        if not plans:
            continue
        ended: list[Verified] = []
        with bench.serve(wish.work, point.config) as served:
            for rate, seconds in plans:
                ended.append(verify(bench, served, simulator, point.config, rate, seconds, wish.seconds))
                if ended[-1].verdict == PASS:
                    held = rate
                    break
        tried += ended
        left -= 1
        if all(one.verdict == FAIL for one in ended) and slower_than_simulated(ended, bench.target.info.name):
            worse.add(delayed)
        if not left or (held and wish.rate):
            break
    return tried


def slower_than_simulated(ended: Sequence[Verified], target: str) -> bool:
    """Say whether a target was slower each time by more than its margin."""
    return all(one.ratio is None or one.ratio > 1 + margin_of(target) for one in ended)


def planned(wish: Wish, simulator: Simulator, point: Point) -> list[tuple[float, float]]:
    """Return the rates at which the simulator expects that the goal can be shown, the highest first, with seconds for each.

    If there is none, the lowest one for as long as may be: the target may know better.
    """
    rates = [wish.rate] if wish.rate else [point.rate * margin for margin in MARGINS]
    plans = [(rate, simulator.plan(point.config, rate, wish.seconds, each_look(wish.goal))) for rate in rates]
    return [(rate, seconds) for rate, seconds in plans if seconds] or [(rates[-1], wish.seconds)]


def each_look(goal: Goal) -> float:
    """Return the confidence of each look: several looks would make a wrong verdict likelier."""
    return gates.each_of(goal.confidence, len(STEPS))


def _against(bench: Bench, wish: Wish, simulator: Simulator, qps: Point, best: Verified | None) -> Verified | None:
    """Measure the configuration of the highest QPS at the same rate on the same arrivals; None if it is the one found."""
    if best is None or qps.config == best.config:
        return None
    with bench.serve(wish.work, qps.config) as served:
        return verify(bench, served, simulator, qps.config, best.rate, wish.seconds / 4, wish.seconds)


def verify(
    bench: Bench, served: Served, simulator: Simulator, config: BatcherConfig, rate: float, seconds: float, longest_s: float
) -> Verified:
    """Offer the traffic at a rate for `seconds`; while the goal's gate is INCONCLUSIVE, for more, up to longest_s in all.

    A slice that is invalid is measured once more; if it is again, the whole is INVALID.
    """
    goal, traffic = simulator.goal, simulator.traffic
    measured: list[Any] = []
    predicted: list[Any] = []
    shown: Decision | None = None
    spoilt = False
    seed, place, left_s = bench.seed + 1, 0, max(longest_s, seconds)
    while place < len(STEPS) and left_s > 0 and (shown is None or shown.verdict == INCONCLUSIVE):
        length_s = min(STEPS[place] * seconds, left_s)
        bench.say(f"verifying {name_of(config)} at {rate:.0f}/s for {length_s:.1f} s")
        arrivals = traffic.at(rate, length_s, seed)
        run = open_loop(served.submit, served.clock, arrivals, wait_ns=bench.wait_ns, limit_ns=goal.wall_ns)
        bench.keep(f"tune-{name_of(config)}-{rate:.0f}-{seed - bench.seed}", run)
        seed += 1
        if not run.validity.valid:
            if spoilt:
                return Verified(config, rate, INVALID, None, None, None, 0, place, run.validity.reasons)
            spoilt = True
            continue
        place, left_s = place + 1, left_s - length_s
        measured.append(run.samples.latency_ns)
        predicted.append(simulator.latency_ns(config, arrivals.due_ns)[0])
        shown = goal.judge(np.concatenate(measured), each_look(goal))
    found, expected = np.concatenate(measured), np.concatenate(predicted)
    p99_ns, predicted_ns = quantile(found, goal.percent), quantile(expected, goal.percent)
    verdict = shown.verdict if shown else INCONCLUSIVE
    return Verified(config, rate, verdict, shown, p99_ns, predicted_ns, found.size, place)


def _found(
    best: Verified, against: Verified | None, qps: Point, points: Sequence[Point], machine: Machine, wish: Wish
) -> list[str]:
    """Say in words what was chosen and why."""
    goal = wish.goal
    chosen = next(point for point in points if point.config == best.config)
    says = [
        f"{name_of(best.config)}: {best.rate:.0f} requests/s with {goal.percent:g} % within {ms(goal.wall_ns)}",
    ]
    evidence = f"on {best.requests} requests of {wish.traffic.pattern} traffic: {_told(best)}."
    says.append(f"Shown with {goal.confidence:.0%} confidence {evidence}")
    if against is None:
        says.append(
            f"It is also the configuration with the highest QPS ({qps.qps:.0f}/s saturated, p99 {ms(qps.qps_p99_ns)}): "
            "what differs is the rate at which it may be run."
        )
        return says
    says.append(
        f"The highest QPS has {name_of(qps.config)}: {qps.qps:.0f}/s saturated (this one {chosen.qps:.0f}/s), "
        f"with a p99 of {ms(qps.qps_p99_ns)}. At {best.rate:.0f}/s it gives: {_told(against)}; {against.verdict}."
    )
    full_ns = machine.curve.at(qps.config.max_batch_size)
    if qps.floor_ns > goal.wall_ns:
        says.append(f"With it even a lone request takes {ms(qps.floor_ns)}, most of which is the delay.")
    elif full_ns > goal.wall_ns:
        says.append(
            f"One full batch of it takes {ms(full_ns)}, more than the wall: a burst that fills one is late as a whole, "
            "whereas smaller batches let the first of the burst go in time"
            + (" and spread over the instances." if wish.instances > 1 else ".")
        )
    elif against.verdict == PASS:
        says.append(_between(chosen, qps))
    return says


def _between(chosen: Point, qps: Point) -> str:
    """Say why the one with the highest QPS was not chosen although it holds this rate too."""
    if chosen in ranked([chosen, qps])[:1]:
        return "Both hold here; the one chosen is predicted to hold more, or as much with a lone request answered sooner."
    return (
        f"Both hold here, and {name_of(qps.config)} is predicted to hold more ({qps.rate:.0f}/s, the one chosen "
        f"{chosen.rate:.0f}/s); but that could not be shown in the time given: longer --seconds, or a quieter host, may."
    )


def _told(one: Verified) -> str:
    if one.verdict == INVALID:
        return "no valid run (" + "; ".join(one.reasons) + ")"
    measured = "more failed than the percentile allows" if one.p99_ns is None else f"p99 {ms(one.p99_ns)} measured"
    predicted = "" if one.predicted_ns is None else f", {ms(one.predicted_ns)} predicted on the same arrivals"
    over = f", {one.over} over the wall" if one.shown else ""
    return measured + predicted + over


def _none(tried: Sequence[Verified], points: Sequence[Point], machine: Machine, wish: Wish) -> list[str]:
    """Say in words why nothing was chosen."""
    goal = wish.goal
    asked = f" at {wish.rate:.0f} requests/s" if wish.rate else ""
    if not tried:
        near = nearest(points)
        return [
            f"No configuration keeps {goal.percent:g} % within {ms(goal.wall_ns)}{asked}",
            f"Nearest: {near.name}, lone request {ms(near.floor_ns)}, highest rate {near.rate:.0f}/s."
            if near.rate
            else f"Nearest: {near.name}, lone request {ms(near.floor_ns)}, p99 {ms(near.p99_ns)}.",
            f"To blame: {blame(points, machine, goal, wish.rate)}.",
        ]
    open_ones = [one for one in tried if one.verdict != FAIL]
    if open_ones:
        words = [f"{name_of(one.config)} at {one.rate:.0f}/s {one.verdict}: {_told(one)}" for one in open_ones]
        noisy = any(one.verdict == INVALID for one in open_ones)
        helps = "What is invalid needs a quieter host." if noisy else "Give it more --seconds."
        return [f"Not decided whether any configuration keeps {ms(goal.wall_ns)}{asked}", *words, helps]
    ratios = [one.ratio for one in tried if one.ratio]
    slower = f" (measured p99 is {max(ratios):.2f} times the prediction: time is lost outside the model)" if ratios else ""
    words = [f"{name_of(one.config)} at {one.rate:.0f}/s FAIL: {_told(one)}" for one in tried]
    return [f"No configuration keeps {ms(goal.wall_ns)}{asked}: all promising ones failed on the target{slower}", *words]


def pbtxt(config: BatcherConfig, says: Sequence[str]) -> str:
    """Return a config.pbtxt with the reasons as comments."""
    comments = [*says, "Take max_batch_size, instance_group and dynamic_batching into the configuration of your model."]
    return "".join(f"# {line}\n" for line in comments) + replace(config, name="model").to_pbtxt()


def tables(points: Sequence[Point], tried: Sequence[Verified], against: Verified | None, wish: Wish) -> list[dict[str, Any]]:
    """Return the predicted grid and what was verified, as a person reads them."""
    wall = f"{wish.goal.wall_ns / 1e6:g} ms"
    grid = [
        [
            point.config.max_batch_size,
            point.config.max_queue_delay_ns / 1e6,
            round(point.qps),
            round(point.qps_p99_ns / 1e6, 2),
            round(point.rate),
            round(point.p99_ns / 1e6, 2),
            round(point.batch, 1),
        ]
        for point in points
    ]
    rows = [
        [
            one.config.max_batch_size,
            one.config.max_queue_delay_ns / 1e6,
            round(one.rate),
            one.verdict,
            None if one.p99_ns is None else round(one.p99_ns / 1e6, 2),
            None if one.predicted_ns is None else round(one.predicted_ns / 1e6, 2),
            None if one.ratio is None else round(one.ratio, 3),
            one.over,
            one.requests,
        ]
        for one in (*tried, *([against] if against else []))
    ]
    heads = ["max_batch", "delay ms", "QPS", "p99 then", f"/s in {wall}", "p99 ms", "mean batch"]
    checked = ["batch", "delay ms", "/s", "verdict", "p99 ms", "simulated", "ratio", "over", "n"]
    return [
        {"title": f"Predicted, {wish.traffic.pattern} traffic", "heads": heads, "rows": grid},
        {"title": "Verified on the target", "heads": checked, "rows": rows},
    ]
