"""What others cost on an engine: long prompts, a surge that is over, and a heavy client."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from batchproof.reports.plots.chart import Axis, Chart, Line, Panel, Point, Role, Series, unit_of
from batchproof.reports.plots.engines import texts
from batchproof.reports.plots.over_time import TIME, S, edges, latency
from batchproof.reports.plots.samples import Bounds, SamplesError, quantile
from batchproof.stats.arrays import NEVER

SHOWN = (50.0, 90.0, 99.0)
TICKS = Axis("percentile", ticks=tuple((float(at), f"p{percent:g}") for at, percent in enumerate(SHOWN)), reach=(-0.3, 2.3))
SIDES: Mapping[str, Role] = {"alone": "first", "beside long prompts": "second"}
SHORT = 0  # the client whose requests are short


def prefill(measurement: Mapping[str, Any], folder: Path) -> Iterator[Chart]:
    """Yield for each work the time between the tokens of short requests, alone and alongside long prompts."""
    for name, work in measurement["works"].items():
        yield _prefill(str(name), work, folder)


def recovery(measurement: Mapping[str, Any], folder: Path) -> Iterator[Chart]:
    """Yield for each work how the time to the first token rises in a surge, and falls after it."""
    for name, work in measurement["works"].items():
        if chart := _recovery(str(name), work["recovery"], folder):
            yield chart


def clients(measurement: Mapping[str, Any], _folder: Path) -> Iterator[Chart]:
    """Yield for each work what each of two clients gets."""
    for name, work in measurement["works"].items():
        yield _clients(str(name), work)


def _prefill(name: str, work: Mapping[str, Any], folder: Path) -> Chart:
    sides = work["sides"]
    why = "; ".join(work["reasons"][:1])
    valid = {side: one for side, one in sides.items() if one["valid"]}
    size, unit = unit_of(max([one[f"p{percent:g}_ns"] or 0 for one in valid.values() for percent in SHOWN], default=0))
    series = []
    for side, one in valid.items():
        found = [
            texts.point(float(at), one[f"p{percent:g}_ns"], _gaps(one, percent, folder), size)
            for at, percent in enumerate(SHOWN)
        ]
        series.append(Series(side, SIDES[side], tuple(filter(None, found))))
    told = [one["simulated_p99_ns"] for one in valid.values() if one["simulated_p99_ns"]]
    points = tuple(Point(len(SHOWN) - 1.0, ns / size, exact=True) for ns in told)
    series.append(Series("p99, simulated", "predicted", points, joined=False))
    void = "" if valid else f"INVALID: {why}"
    panel = Panel("Between the tokens of short requests", TICKS, Axis(f"time, {unit}", zero=True), tuple(series), void=void)
    says = f"{name}: {work['says']}." if len(valid) == len(sides) else f"{name}: INVALID: {why}."
    return Chart(f"prefill-{name}", f"{name}: what long prompts cost", says, (panel,), "prefill")


def _gaps(one: Mapping[str, Any], percent: float, folder: Path) -> Bounds:
    try:
        return quantile(texts.read(folder, one.get("samples")).gaps(SHORT), percent)
    except SamplesError:
        return None, None, None


def _recovery(name: str, one: Mapping[str, Any], folder: Path) -> Chart | None:
    title = f"{name}: a surge and what is left of it"
    if not one["valid"]:
        why = f"INVALID: {one['reasons'][0] if one['reasons'] else ''}"
        panel = Panel("Median time to the first token", TIME, Axis("time"), void=why)
        return Chart(f"recovery-{name}", title, f"{name}: {why}.", (panel,), "surge")
    try:
        begun = texts.read(folder, one.get("samples")).begun
    except SamplesError:
        return None
    late = begun.latency_ns
    size, unit = unit_of(float(late[late != NEVER].max(initial=0)))
    when = [Line(one["from_ns"] / S, "surge", axis="x"), Line(one["until_ns"] / S, "over", axis="x")]
    back = one["recovery_ns"]
    if back is not None:
        when.append(Line((one["until_ns"] + back) / S, "as before", axis="x"))
    curve = latency(begun, edges(begun), size, "median, by when a request was due", "first")
    panel = Panel("Median time to the first token", TIME, Axis(f"time, {unit}", zero=True), (curve,), tuple(when))
    then = "it is not as before while load is offered" if back is None else f"it is as before after {back / S:.1f} s"
    says = f"{name}: after a surge of twice the saturation, {then}."
    return Chart(f"recovery-{name}", title, says, (panel,), "surge")


def _clients(name: str, work: Mapping[str, Any]) -> Chart:
    shares = work.get("clients", {})
    x = Axis("client", ticks=tuple((float(at), who) for at, who in enumerate(shares)), reach=(-0.5, len(shares) - 0.5))
    void = "" if work["valid"] else f"INVALID: {(work['reasons'] or [''])[0]}"
    each = [] if void else list(enumerate(shares.values()))
    kept = tuple(texts.share(float(at), one["within"], one["requests"]) for at, one in each)
    came = tuple(Point(float(at), 100 * one["served"], exact=True) for at, one in each)
    y = Axis("%", zero=True, reach=(0, 105))
    requests, tokens = Series("requests", "first", kept, joined=False), Series("tokens", "second", came, joined=False)
    panels = (
        Panel("Requests that keep the objective", x, y, (requests,), void=void),
        Panel("Tokens that come in time", x, y, (tokens,), void=void),
    )
    says = f"{name}: {work['says']}." if not void else f"{name}: {void}."
    note = "The shares of requests have an interval as if they were independent; tokens are counted."
    return Chart(f"clients-{name}", f"{name}: two clients", says, panels, "clients", note)
