"""Says in words why a configuration was chosen, or why none was."""

from __future__ import annotations

from collections.abc import Sequence

from batchproof.bench.tune.search import Forecast, Machine, blame, ms, name_of, nearest, ranked
from batchproof.bench.tune.verification import INVALID, Objective, Verified
from batchproof.stats.gates import FAIL, PASS


def chosen(
    best: Verified,
    rival: Verified | None,
    qps: Forecast,
    forecasts: Sequence[Forecast],
    machine: Machine,
    objective: Objective,
) -> list[str]:
    """Say what was chosen and why. rival: the one with the highest QPS, at the same rate; None if it is the same."""
    goal = objective.goal
    own = next(one for one in forecasts if one.config == best.config)
    says = [
        f"{name_of(best.config)}: {best.rate:.0f} requests/s with {goal.percent:g} % within {ms(goal.budget_ns)}",
    ]
    evidence = f"on {best.requests} requests of {objective.traffic.pattern} traffic: {told(best)}."
    says.append(f"Shown with {goal.confidence:.0%} confidence {evidence}")
    if rival is None:
        says.append(
            f"It is also the configuration with the highest QPS ({qps.qps:.0f}/s saturated, p99 {ms(qps.qps_p99_ns)}): "
            "what differs is the rate at which it may be run."
        )
        return says
    says.append(
        f"{name_of(qps.config)} has the highest QPS: {qps.qps:.0f}/s saturated (this one {own.qps:.0f}/s), "
        f"with a p99 of {ms(qps.qps_p99_ns)}. At {best.rate:.0f}/s it gives: {told(rival)}; {rival.verdict}."
    )
    full_ns = machine.curve.at(qps.config.max_batch_size)
    if qps.floor_ns > goal.budget_ns:
        says.append(f"With that configuration, even a lone request takes {ms(qps.floor_ns)}, most of which is the delay.")
    elif full_ns > goal.budget_ns:
        says.append(
            f"Its full batch takes {ms(full_ns)}, more than the latency budget: a burst that fills a batch is late as "
            "a whole, whereas smaller batches let the first requests of the burst leave in time"
            + (" and spread over the instances." if objective.instances > 1 else ".")
        )
    elif rival.verdict == PASS:
        says.append(between(own, qps))
    return says


def between(own: Forecast, qps: Forecast) -> str:
    """Say why the configuration with the highest QPS was not chosen although it holds this rate too."""
    if own in ranked([own, qps])[:1]:
        return "Both meet the objective here. The chosen one is predicted to serve more, or as much with less latency."
    return (
        f"Both meet the objective here. {name_of(qps.config)} is predicted to do so at {qps.rate:.0f}/s (the chosen one at "
        f"{own.rate:.0f}/s), but that could not be shown in the time given: try longer --seconds, or a quieter host."
    )


def told(one: Verified) -> str:
    """Say what the target did."""
    if one.verdict == INVALID:
        return "no valid run (" + "; ".join(one.reasons) + ")"
    measured = "more failed than the percentile allows" if one.p99_ns is None else f"p99 {ms(one.p99_ns)} measured"
    predicted = "" if one.predicted_ns is None else f", {ms(one.predicted_ns)} predicted on the same arrivals"
    return measured + predicted + ("" if one.over is None else f", {one.over} over the latency budget")


def nothing_chosen(
    tried: Sequence[Verified], forecasts: Sequence[Forecast], machine: Machine, objective: Objective
) -> list[str]:
    """Say why nothing was chosen."""
    goal = objective.goal
    asked = f" at {objective.rate:.0f} requests/s" if objective.rate else ""
    if not tried:
        near = nearest(forecasts)
        best = f"highest rate {near.rate:.0f}/s" if near.rate else f"p99 {ms(near.p99_ns)}"
        return [
            f"No configuration keeps {goal.percent:g} % within {ms(goal.budget_ns)}{asked}",
            f"Nearest: {near.name}, lone request {ms(near.floor_ns)}, {best}.",
            f"The cause: {blame(forecasts, machine, goal, objective.rate)}.",
        ]
    open_ones = [one for one in tried if one.verdict != FAIL]
    if open_ones:
        words = [f"{name_of(one.config)} at {one.rate:.0f}/s {one.verdict}: {told(one)}" for one in open_ones]
        noisy = any(one.verdict == INVALID for one in open_ones)
        helps = "An INVALID run needs a quieter host." if noisy else "Give it more --seconds."
        return [f"It could not be decided whether any configuration keeps {ms(goal.budget_ns)}{asked}", *words, helps]
    ratios = [one.ratio for one in tried if one.ratio]
    slower = f" (measured p99 is {max(ratios):.2f} times the prediction: time is lost outside the model)" if ratios else ""
    words = [f"{name_of(one.config)} at {one.rate:.0f}/s FAIL: {told(one)}" for one in tried]
    return [f"No configuration keeps {ms(goal.budget_ns)}{asked}: all promising ones failed on the target{slower}", *words]
