"""What a million inferences cost, against the objective for their latency."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from batchproof.reports.plots.chart import Axis, Chart, Panel, Point, Series, short, unit_of


def charts(measurement: Mapping[str, Any]) -> Iterator[Chart]:
    """Yield a chart for each work of the measurement `cost`."""
    for name, work in measurement["works"].items():
        yield _chart(str(name), work, str(measurement["currency"]))


def _chart(name: str, work: Mapping[str, Any], currency: str) -> Chart:
    slos = [one for one in work["slos"] if one["cost"]]
    batches = [one for one in work["batches"] if one["cost"]]
    size, unit = unit_of(max((one[key] for ones, key in ((slos, "slo_ns"), (batches, "tau_ns")) for one in ones), default=0))
    under = tuple(Point(one["slo_ns"] / size, one["cost"], one.get("cost_low"), one.get("cost_high")) for one in slos)
    full = tuple(Point(one["tau_ns"] / size, one["cost"], one.get("cost_low"), one.get("cost_high")) for one in batches)
    panel = Panel(
        "Cost against latency",
        Axis(f"latency: p99 at most, or of a full batch, {unit}", log=True),
        Axis(f"{currency} for a million inferences", log=True),
        (
            Series("full batches, back to back (measured)", "first", full),
            Series("the cheapest under a p99 objective (simulated)", "second", under),
        ),
    )
    lost = len(work["slos"]) - len(slos)
    says = f"{name}: {work['says']}."
    if slos:
        last = slos[-1]
        says += f" Under a p99 of {short(last['slo_ns'] / size)} {unit}, {short(last['cost'])} {currency} (simulated)."
    says += f" {lost} objectives are kept by no configuration." if lost else ""
    note = "The intervals follow from those of the service times: what a million costs if each is at its bound."
    return Chart(f"cost-{name}", f"{name}: what a million inferences cost", says, (panel,), "cost", note)
