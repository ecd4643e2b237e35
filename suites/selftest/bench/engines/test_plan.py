"""A whole bench of an engine in simulated time: its figures are exact, and an engine that does wrong is seen."""

from __future__ import annotations

import io
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from batchproof.bench.engines.plan import MEASUREMENTS
from batchproof.bench.run import Options, run
from batchproof.commands.bench import bench
from batchproof.reports import measured, read_bench
from batchproof.reports.figure_names import declared
from batchproof.reports.figures import Figure
from batchproof.reports.plots import page
from batchproof.reports.plots.catalogue import charts
from batchproof.reports.plots.chart import Panel
from batchproof.suites.selftest.bench.test_figures import OF_ENGINES

MS = 1_000_000
TARGETS = "batchproof.suites.selftest.bench.engines.simulated"
pytestmark = pytest.mark.usefixtures("longer")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a quick bench of the simulated reference engine."""
    out = tmp_path_factory.mktemp("bench")
    run(Options(f"{TARGETS}:Simulated", quick=True, report=out), Console(file=io.StringIO()))
    return out


@pytest.fixture(scope="module")
def found(folder: Path) -> dict[str, Figure]:
    """Return the figures of that bench."""
    return measured(folder).by_id()


def test_every_declared_name_is_emitted(found: dict[str, Figure]) -> None:
    """A name that nothing emits would promise something; all figures are results in simulated time."""
    assert {one.name for one in found.values()} == {name for name in declared() if name.startswith(OF_ENGINES)}
    assert all(one.valid for one in found.values())


def test_the_reference_is_as_fast_as_its_simulation(found: dict[str, Figure]) -> None:
    """Two ways to compute the same: the loop that steps an engine, and the simulator."""
    assert [one.value for one in found.values() if one.name.startswith("simulated.")] == [pytest.approx(1.0)] * 6


def test_saturation_comes_near_the_limit(found: dict[str, Figure]) -> None:
    """What is missing is the beginning and the end of the run; the device has no overhead in simulated time."""
    assert found["saturation.of_limit[work=accelerator]"].value == pytest.approx(1, abs=0.02)
    assert found["saturation.of_limit[work=accelerator]"].value <= 1
    assert found["saturation.overhead_ns[work=accelerator]"].value == 0


def test_the_least_times_are_those_of_the_device(found: dict[str, Figure]) -> None:
    """An iteration takes 10 ms and 0.05 ms a token, of which there are 256 at most."""
    low, high = (found[f"itl.{name}_ns[work=accelerator,load=0.9]"].value for name in ("p50", "p99"))

    assert 10.05 * MS <= low <= high <= 22.8 * MS
    assert found["ttft.p50_ns[work=accelerator,load=0.9]"].value > 10 * MS


def test_overload_costs_goodput(found: dict[str, Figure]) -> None:
    """Without a limit on the queue, most first tokens are late at twice the saturation."""
    assert found["surge.goodput_share[work=accelerator,load=0.5]"].value == pytest.approx(0.5, abs=0.05)
    assert found["surge.goodput_share[work=accelerator,load=2]"].value < 0.5


def test_order_of_arrival_lets_a_heavy_client_take_the_queue(found: dict[str, Figure]) -> None:
    """The light client asks for a fifth of what there is, and does not get it in time."""
    assert found["clients.goodput_share[work=accelerator,client=light]"].value < 0.5


def test_long_prompts_make_iterations_longer(found: dict[str, Figure]) -> None:
    """In chunks they fill the budget, and no more than that."""
    assert 1.05 < found["prefill.itl_p99_ratio[work=accelerator]"].value < 2.3
    assert found["prefill.itl_p99_ns[work=accelerator,side=beside]"].value <= 22.8 * MS


def test_the_report_has_each_measurement(folder: Path) -> None:
    """bench.jsonl is whole, and the page is made from it."""
    report = read_bench(folder)

    assert [one["word"] for one in report.measurements] == ["measured", "PASS", "measured", "measured", "measured"]
    assert not report.truncated
    assert "end to end 1.00 x the simulated reference" in page.to_html(report, folder)


NAMES = [
    "saturation-accelerator", "texts-accelerator", "prefill-accelerator", "surge-accelerator", "recovery-accelerator",
    "clients-accelerator",
]  # fmt: skip


def test_each_measurement_has_a_chart(folder: Path) -> None:
    """In the order of the measurements, and made of the figures of the report."""
    report = read_bench(folder)
    found = charts(report, folder)
    by_name = {one.name: one for one in found.charts}
    figures = measured(folder).by_id()
    first, between, good = by_name["texts-accelerator"].panels
    high = figures["itl.p99_ns[work=accelerator,load=0.9]"].value / MS

    assert (list(by_name), found.left_out) == (NAMES, ())
    assert isinstance(between, Panel)
    assert between.series[2].points[-1].y == pytest.approx(high)
    assert all(point.bounded for one in found.charts for point in one.points if one.measurement in ("latency", "prefill"))
    assert {one.title for one in (first, between, good)} == {"Time to the first token", "Time between tokens", "Goodput"}
    device = by_name["saturation-accelerator"].panels[0]
    assert isinstance(device, Panel)
    assert device.lines[0].at >= device.series[0].points[-1].y * 0.98


def test_what_is_invalid_has_no_figure_in_a_chart(folder: Path) -> None:
    """It is hatched, with the reason; a chart without any valid part says only that."""
    report = read_bench(folder)

    def spoilt(one: object) -> object:
        if isinstance(one, list):
            return [spoilt(part) for part in one]
        if not isinstance(one, dict):
            return one
        found = {name: spoilt(value) for name, value in one.items()}
        return {**found, "valid": False, "reasons": ["the host stalled"]} if "valid" in found else found

    found = charts(replace(report, measurements=tuple(spoilt(one) for one in report.measurements)), folder)  # type: ignore[arg-type]

    assert found.left_out == ()
    assert [one.name for one in found.charts] == NAMES[1:]
    assert all(panel.nothing.startswith("INVALID: the host stalled") for one in found.charts for panel in one.panels)  # type: ignore[union-attr]


def test_half_of_the_rows_is_slower_than_the_simulation(tmp_path: Path) -> None:
    """The verdict comes from the comparison with the simulated reference."""
    told = io.StringIO()
    only = "saturation,latency"
    status = run(Options(f"{TARGETS}:HalfTarget", quick=True, only=only, report=tmp_path / "out"), Console(file=told))

    assert status == 1
    assert measured(tmp_path / "out").by_id()["saturation.of_limit[work=accelerator]"].value < 0.6


def test_a_wrong_text_fails_and_is_not_a_result(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """As in a bench of a dynamic batcher, what was served wrongly was not served."""
    status = bench(Options(f"{TARGETS}:LiarTarget", quick=True, only="saturation", report=tmp_path / "out"))

    assert status == 1
    assert "wrong under load: the text of request 0 is not that" in " ".join(capsys.readouterr().out.split())
    assert not any(one.valid for one in measured(tmp_path / "out").figures if not one.name.startswith("host."))


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (Options("continuous", only="static"), "--only static: that is not for an engine with continuous batching"),
        (Options("continuous", work="mlp"), "--work mlp: that is not for an engine"),
        (Options("virtual", only="latency"), "--only latency: that is not for a dynamic batcher: choose from static"),
        (Options("virtual", work="bare"), "--work bare: that is not for a dynamic batcher"),
        (Options("continuous", slo_p99_ms=5), "--ttft-slo-ms and --itl-slo-ms are the objective of an engine"),
    ],
)
def test_what_is_for_the_other_kind_is_refused(
    options: Options, said: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """One clear message, and no folder."""
    assert run(Options(**{**vars(options), "report": tmp_path / "out"}), Console(file=io.StringIO())) == 2
    assert said in capfd.readouterr().err
    assert not (tmp_path / "out").exists()


def test_the_quick_form_takes_less_than_two_minutes() -> None:
    """Each measurement also takes less time than its full form."""
    assert all(0 < one.quick_s <= one.full_s for one in MEASUREMENTS)
    assert sum(one.quick_s for one in MEASUREMENTS) < 120
