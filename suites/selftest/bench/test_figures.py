"""The figures of each measurement: what a bench writes, and what is not a result is not passed off as one."""

import io
from dataclasses import replace
from functools import partial

import pytest
from rich.console import Console

from batchproof.bench import figures
from batchproof.bench.calibration import Calibration, calibrated
from batchproof.bench.each_work import Works
from batchproof.bench.measurement import Price
from batchproof.bench.measurements.cost import Cost, SloCost
from batchproof.bench.measurements.gpu import Gpu, GpuModel, GpuPoint
from batchproof.bench.measurements.naive import ASKED, Naive
from batchproof.bench.plan import by_name
from batchproof.bench.run import Options, run
from batchproof.bench.service_time import Timed
from batchproof.bench.tune.search import Goal, Traffic
from batchproof.bench.tune.tune import measure as measure_tuning
from batchproof.bench.tune.verification import Objective
from batchproof.load.workload import MS, WORKS, Work
from batchproof.reports import measured
from batchproof.reports.figure_names import declared
from batchproof.stats import gates

WORK = WORKS["accelerator"]
OF_ENGINES = ("saturation.", "ttft.", "itl.", "e2e.", "goodput.", "simulated.", "prefill.", "surge.", "clients.")


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    """Everything that a quick bench of the virtual reference says."""
    folder = tmp_path_factory.mktemp("bench")
    run(Options("virtual", quick=True, price_per_hour=1.2, report=folder), Console(file=io.StringIO()))
    return measured(folder)


def test_every_measurement_yields_figures(found):
    """All of them are declared with this unit, this direction and these conditions, and valid in simulated time."""
    names = declared()

    areas = {one.name.partition(".")[0] for one in found.figures}
    assert areas == {"cost", "isolation", "naive", "open", "overload", "sequences", "static", "steps", "streams", "sweep"}
    for one in found.figures:
        about = names[one.name]
        assert (one.unit, one.better, tuple(one.conditions)) == (about.unit, about.better, about.conditions)
        assert one.valid
        assert one.low is None or one.low <= one.value
        assert one.high is None or one.value <= one.high


def test_every_declared_name_is_emitted(found):
    """A name that nothing emits would promise something; what needs CUDA, an objective or rules has tests of its own."""
    elsewhere = ("ab.", "gpu.", "tune.", "perf.", "host.", *OF_ENGINES)

    assert {one.name for one in found.figures} == {name for name in declared() if not name.startswith(elsewhere)}


def test_simulated_figures_are_exact(found):
    """20 ms + 1.25 ms a row: 8 rows take 30 ms, and full batches of 128 are the limit."""
    known = found.by_id()

    assert known["static.tau_ns[work=accelerator,rows=8]"].value == 30 * MS
    assert known["static.limit_rows_per_s[work=accelerator]"].value == pytest.approx(128 / 0.18)
    assert known["sweep.rows_per_s[work=accelerator,size=1,delay=0ms]"].value == pytest.approx(1 / 0.02125)
    assert known["sweep.best_rows_per_s[work=accelerator]"].value == pytest.approx(16 / 0.04)
    assert known["sweep.gain[work=accelerator]"].value == pytest.approx(8.5)
    steps = "sequences.steps_per_s[work=accelerator,strategy=direct,lengths=fixed"
    assert known[f"{steps},open=1]"].value == pytest.approx(1 / 0.02125)
    assert known[f"{steps},open=8]"].value == pytest.approx(8 / 0.03, rel=0.05)
    assert known["overload.goodput_share[limit=no-limit,load=0.5]"].value == pytest.approx(0.5)


def test_every_measurement_of_the_plan_has_figures():
    """A new measurement needs a module in bench/figures."""
    for name, one in by_name().items():
        assert one.figures is getattr(figures, name).figures


def naive(**more):
    """Return a comparison with these fields."""
    rates = (47.0, 48.0, 47.0, 49.0, 47.0, 48.0, 47.5, 48.5)
    ratios = [10.0, 10.1, 9.9, 10.2, 9.8, 10.0, 10.0, 10.1]
    plain = Naive(gates.median_ratio(ratios, ASKED), rates, tuple(10 * one for one in rates), 32, 11.0, 533.0, 47.0)
    return replace(plain, **more)


def test_discarded_pairs_are_not_results():
    """They stay to be seen."""
    assert all(one.valid for one in figures.naive.figures(Works({"w": naive()}, {})))
    assert not any(one.valid for one in figures.naive.figures(Works({"w": naive(reasons=("noise",))}, {})))


def test_a_comparison_without_pairs_has_no_figures():
    """There is no number to tell."""
    nothing = naive(naive_per_s=(), dynamic_per_s=(), conclusion=gates.median_ratio([], ASKED), reasons=("noise",))

    assert figures.naive.figures(Works({"w": nothing}, {})) == ()


def test_a_time_that_is_not_known_well_is_not_a_result():
    """The other sizes are; the limit needs them all."""
    good, wide = Timed(1, (10 * MS,) * 15, (11 * MS,) * 15), Timed(8, tuple(n * MS for n in range(1, 16)), (20 * MS,) * 15)

    found = figures.static.figures(Works({"w": Calibration(WORK, (good, wide))}, {}))

    assert [one.valid for one in found] == [True, True, False, False, False]
    assert found[0].low == found[0].value == found[0].high == 10 * MS


def test_figures_of_a_gpu():
    """Each size has a time from either memory, and a rate on one stream and on two."""
    point = GpuPoint(8, 5 * MS, 6 * MS, 1600.0, 2000.0, None)

    found = figures.gpu.figures(Gpu("H", {"mlp": GpuModel((point,))}))

    assert [(one.id, one.value) for one in found] == [
        ("gpu.tau_ns[work=mlp,rows=8]", 5 * MS),
        ("gpu.unpinned_tau_ns[work=mlp,rows=8]", 6 * MS),
        ("gpu.rows_per_s[work=mlp,rows=8,streams=1]", 1600.0),
        ("gpu.rows_per_s[work=mlp,rows=8,streams=2]", 2000.0),
    ]


def test_a_gpu_has_a_figure_for_what_batching_gains():
    """It is there where the target served the model."""
    gain = Naive(gates.Conclusion("PASS", ASKED, 4.0, 3.5, 4.5, 0.99, 8, 8.0), (1.0,) * 8, (4.0,) * 8, 32, 16.0, 16.0, 1.0)

    found = figures.gpu.figures(Gpu("H", {"mlp": GpuModel((GpuPoint(8, 5 * MS, 6 * MS, 1.0, 2.0, None),), gain)}))

    assert [(one.id, one.value, one.low, one.n) for one in found][-1] == ("gpu.gain[work=mlp]", 4.0, 3.5, 8)


def test_an_objective_in_a_cost_has_a_name_that_stays(bench):
    """What a lone request takes varies from run to run, and its multiples do not."""
    one = by_name()["cost"]
    calibration = Calibration(WORK, (Timed(1, (21_300_000,) * 9, (21_400_000,) * 9),))

    found = one.measure(bench(price=Price(1.0), slo_ns=50 * MS), lambda _work: calibration).found

    slos = [figure.conditions["slo"] for figure in figures.cost.figures(found) if "slo" in figure.conditions]
    assert slos == ["1.5x", "2x", "50ms", "4x", "8x", "16x"]


def test_an_objective_that_nothing_keeps_costs_nothing_that_could_be_told(bench):
    """Without a rate there is no cost, and no figure."""
    calibration = Calibration(WORK, (Timed(1, (21_300_000,) * 9, (21_400_000,) * 9),))
    found = by_name()["cost"].measure(bench(price=Price(1.0)), lambda _work: calibration).found
    work = replace(found.works[WORK.name], slos=(SloCost(MS, None, 0.0, None),))

    named = [figure.name for figure in figures.cost.figures(Cost(found.price, {"w": work}))]

    assert named == ["cost.least_per_million"]


@pytest.mark.usefixtures("longer")
def test_the_figures_of_tuning(bench):
    """The rate that was shown to hold, and its p99; nothing where no configuration meets the objective."""
    objective = Objective(Goal(20 * MS), Traffic("gamma:shape=1"), Work("device", "", 4 * MS, MS // 4), rate=100.0,
                          max_batch=(8,), delays_ns=(0,), seconds=8.0, simulated_s=3.0, candidates=1)
    a_bench = bench()
    tuned = measure_tuning(a_bench, partial(calibrated, a_bench), objective).found

    rate, p99 = figures.tune.figures(tuned)

    assert rate.id == "tune.rows_per_s[work=device,traffic=gamma-shape-1,budget=20ms]"
    assert rate.value == tuned.chosen.rate
    assert p99.value == tuned.chosen.p99_ns
    assert figures.tune.figures(replace(tuned, tried=())) == ()
