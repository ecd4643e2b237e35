"""Tests of which charts a bench has, and of what is in them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from batchproof.bench import run as command
from batchproof.reports import read_bench
from batchproof.reports.plots.catalogue import charts
from batchproof.reports.plots.chart import Chart, Heat, Panel
from batchproof.suites.selftest.reports.plots.benches import HOSTILE, MS, keep, line, overload, row, static, sweep, written

if TYPE_CHECKING:
    from pathlib import Path

ALL = [
    "static-accelerator",
    "sweep-accelerator",
    "load-accelerator",
    "latency-accelerator",
    "isolation-models",
    "isolation-levels",
    "overload",
    "overload-no limit",
    "overload-max_queue_size",
    "sequences-accelerator",
    "cost-accelerator",
]


@pytest.fixture(scope="module")
def real(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A bench of the virtual target, with an objective and a price."""
    folder = tmp_path_factory.mktemp("bench")
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(command, "left_by", lambda *_: ())  # these tests read charts, and draw none
        command.run(command.Options("virtual", quick=True, slo_p99_ms=100.0, price_per_hour=1.2, report=folder))
    return folder


def panels(chart: Chart) -> list[Any]:
    """Return its axes; a heat map is one too."""
    return list(chart.panels)


def test_a_bench_has_a_chart_of_everything_that_it_measures(real: Path) -> None:
    """In the order of its measurements, and each says in words what it shows."""
    found = charts(read_bench(real), real)

    assert [one.name for one in found.charts] == ALL
    assert found.left_out == ()
    assert all(one.says.strip() and one.title for one in found.charts)


def test_every_figure_has_its_interval(real: Path) -> None:
    """What is estimated has a bound on at least one side; what is counted, set or predicted says that it is exact."""
    found = charts(read_bench(real), real).charts
    naked = [(one.name, point) for one in found for point in one.points if not point.bounded]

    assert naked == []
    assert all(any(not point.exact for point in one.points) for one in found)


def test_the_figures_are_those_of_the_bench(real: Path) -> None:
    """The heat map shows the figures, with their intervals, and frames the choice."""
    report = read_bench(real)
    chart = next(one for one in charts(report, real).charts if one.name == "sweep-accelerator")
    told = {
        facts["value"]
        for one in report.measurements
        for facts in one["figures"]
        if facts["id"].startswith("sweep.rows_per_s")
    }
    (heat,) = panels(chart)

    assert isinstance(heat, Heat)
    assert {cell.point.y for cell in heat.cells if cell.point} == told
    assert [(heat.columns[cell.column], heat.rows[cell.row]) for cell in heat.cells if cell.chosen] == [("16", "5")]
    assert all(cell.beside.startswith("oracle ") for cell in heat.cells)


def test_over_time_every_request_is_counted_once(real: Path) -> None:
    """Offered is served and refused in the end, and nobody is inside."""
    report = read_bench(real)
    chart = next(one for one in charts(report, real).charts if one.name == "overload-max_queue_size")
    flows, inside, _ = panels(chart)
    sums = {one.label: sum(point.y for point in one.points[:-1]) for one in flows.series}

    assert set(sums) == {"offered", "served", "refused"}
    assert sums["offered"] == pytest.approx(sums["served"] + sums["refused"], rel=0.02)
    assert inside.series[0].points[-1].y == 0
    assert [one.label for one in flows.lines] == ["spike", "over"]


def test_a_bench_without_figures_has_no_charts(tmp_path: Path) -> None:
    """Nothing was measured, or all of it was skipped."""
    assert charts(written(tmp_path / "empty"), tmp_path).charts == ()
    assert charts(written(tmp_path / "skipped", line("static", "SKIPPED")), tmp_path).charts == ()
    assert charts(written(tmp_path / "nothing", static()), tmp_path).charts == ()


def test_one_point_is_a_chart(tmp_path: Path) -> None:
    """Of one batch size, one configuration, one load."""
    bench = written(tmp_path, static((1, 20)), sweep([row((4, 0))], [row((4, 0), rate=10.0, fraction=0.3)]))
    found = charts(bench, tmp_path)

    assert [one.name for one in found.charts] == ["static-w", "sweep-w", "load-w"]
    assert found.left_out == ()
    assert "without an interval" in " ".join(found.charts[1].notes)


def test_what_is_invalid_is_hatched_and_has_no_figure(tmp_path: Path) -> None:
    """All of it, or a part."""
    lost = [row((4, 0), valid=False, rate=rate, fraction=0.3) for rate in (10.0, 20.0)]
    kept = row((4, 0), rate=30.0, fraction=0.9, samples=keep(tmp_path, "run"))
    bench = written(
        tmp_path,
        static((1, 20), (2, 30), wide=True),
        sweep([row((4, 0), valid=False)], lost),
        overload(("no limit", 0.5, False), ("no limit", 3, False)),
    )
    found = charts(bench, tmp_path).charts
    shown = [panel for one in found for panel in panels(one)]

    assert [one.name for one in found] == ["static-w", "sweep-w", "load-w", "latency-w", "overload", "overload-no limit"]
    assert all(isinstance(panel, Heat) or panel.nothing.startswith("INVALID") for panel in shown)
    assert [point for one in found for point in one.points if not point.exact] == []
    assert all("INVALID" in one.says or "no" in one.says for one in found)

    part = charts(written(tmp_path, sweep([row((4, 0))], [*lost, kept])), tmp_path).charts
    load = next(one for one in part if one.name == "load-w")
    assert [(span.low, span.high) for span in load.panels[0].invalid] == [(5, 15), (15, 25)]  # type: ignore[union-attr]
    assert {point.x for point in load.points if not point.exact} == {30}
    assert "2 of 3 loads are INVALID" in load.says


def test_where_only_one_queue_limit_is_invalid_the_others_stay_visible(tmp_path: Path) -> None:
    """Each limit has a stripe of its own."""
    bench = written(tmp_path, overload(("no limit", 1, True), ("max_queue_size", 1, False), ("queue timeout", 1, True)))
    (panel, _) = charts(bench, tmp_path).charts[0].panels
    assert isinstance(panel, Panel)
    (span,) = panel.invalid

    assert span.low < 1 < span.high
    assert span.high - span.low == pytest.approx(0.2 / 3)
    assert {point.x for one in panel.series for point in one.points} == {1}


def test_a_line_that_another_version_wrote_is_named(tmp_path: Path) -> None:
    """The other charts are there all the same."""
    broken = [line("sweep", works={"w": {}}), line("overload", rows=7), line("cost", works=[]), static((1, 20))]
    found = charts(written(tmp_path, *broken), tmp_path)

    assert [one.name for one in found.charts] == ["static-w"]
    assert [told.partition(":")[0] for told in found.left_out] == ["sweep", "overload", "cost"]


def test_a_number_that_nothing_measured_is_not_drawn(tmp_path: Path) -> None:
    """It would take the drawing's time for ever, or its memory."""
    found = charts(written(tmp_path, static((1, 10**200))), tmp_path)

    assert found.charts == ()
    assert "not a figure" in found.left_out[0]


def test_names_from_outside_do_not_matter(tmp_path: Path) -> None:
    """They are text, however strange."""
    rows = [row((4, 0), rate=10.0, fraction=0.3, valid=False, why=HOSTILE)]
    bench = written(
        tmp_path,
        static((1, 20), name=HOSTILE),
        sweep([row((4, 0))], rows, name=HOSTILE),
        overload((HOSTILE, 1, True), why=HOSTILE),
    )

    assert len(charts(bench, tmp_path).charts) == 6
    assert charts(bench, tmp_path).left_out == ()


def test_without_its_samples_a_bench_loses_intervals_and_no_figure(tmp_path: Path) -> None:
    """A folder that was copied in part."""
    bench = written(tmp_path, overload(("no limit", 0.5, True), ("no limit", 3, True)), slo_ns=50 * MS)
    chart = charts(bench, tmp_path).charts[0]

    assert [point.y for point in chart.points] == [50, 50, 30, 30]
    assert "Figures without an interval" in " ".join(chart.notes)
