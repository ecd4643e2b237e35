"""The measurements of a bench under test: in simulated time their figures are exact, and their gates judge."""

from __future__ import annotations

import math
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from importlib import import_module
from typing import TYPE_CHECKING, Any

import pytest

from batchproof.bench import measurement as table
from batchproof.bench.measurement import MEASUREMENTS, Bench, Price
from batchproof.bench.measurements import cost, gpu, naive, static, sweep
from batchproof.bench.oracle.curve import Curve
from batchproof.bench.oracle.theory import md1_percentile_ns
from batchproof.bench.run import word_of
from batchproof.load.workload import MS, WORKS, Skipped, Work, serve
from batchproof.reference_batcher import BatcherConfig
from batchproof.targets import resolve

if TYPE_CHECKING:
    from collections.abc import Callable

ACCELERATOR = WORKS["accelerator"]
BASE_NS, ROW_NS = ACCELERATOR.base_ns, ACCELERATOR.row_ns
NO_GAIN = Work("serial", "a device that takes 1 ms a row", 0, MS)


@pytest.fixture(autouse=True)
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    """In simulated time there is no noise that longer runs would average out."""
    monkeypatch.setattr(naive, "SLICE_S", (0.3, 0.3))
    monkeypatch.setattr(sweep, "CLOSED_S", (0.75, 0.75))
    monkeypatch.setattr(sweep, "OPEN_S", ((1.5, 2.5), (1.5, 2.5)))
    monkeypatch.setattr(cost, "REQUESTS", (4000, 4000))


def test_static_is_exact(bench: Callable[..., Bench]) -> None:
    """Through a simulated target tau(b) is what the witness was told, to the nanosecond; so is all that follows from it."""
    result = static.measure(bench())
    one = result["works"]["accelerator"]

    assert [(p["rows"], p["tau_ns"], p["through_ns"]) for p in one["points"]] == [
        (b, BASE_NS + ROW_NS * b, BASE_NS + ROW_NS * b) for b in static.SIZES]
    assert one["fit"] == {"base_ns": BASE_NS, "row_ns": ROW_NS, "worst_residual": pytest.approx(0, abs=1e-12)}
    assert math.isclose(one["ceiling"], 128 * (BASE_NS + ROW_NS) / (BASE_NS + 128 * ROW_NS))
    assert (one["way_ns"], one["left_out"], result["valid"], result["reasons"]) == (0, [], True, [])


def test_larger_batches_are_left_out_where_they_would_take_too_long() -> None:
    """A batch that would take longer than the limit, as the sizes before it grew, is not begun; rounds end in time."""
    asked: list[int] = []

    def execute(rows: int) -> tuple[int, int]:
        asked.append(rows)
        return rows * 10**8, rows * 10**8

    timed = static.in_rounds(execute, (1, 2, 4, 8, 16), rounds=9, longest_s=0.5, budget_s=3.0)

    assert [one.rows for one in timed] == [1, 2, 4]
    assert max(asked) == 4
    assert {len(one.inside_ns) for one in timed} == {2}  # 0.7 s a round, two of them were the warm-up


def test_uncertain_times_are_taken_again(bench: Callable[..., Bench]) -> None:
    """A size whose first times spread is timed on until its interval is narrow; the steady one is not."""
    asked = dict.fromkeys(static.SIZES, 0)

    def execute(rows: int) -> tuple[int, int]:
        asked[rows] += 1
        took = 10**6 * (2 if rows == 4 and asked[rows] <= static.ROUNDS[1] and asked[rows] % 2 else 1)
        return took, took

    timed = {one.rows: one for one in static._timed(bench(), execute)}

    assert not timed[4].wide
    assert len(timed[4].inside_ns) > static.ROUNDS[1] == len(timed[8].inside_ns)


def test_uncertain_times_are_no_result(bench: Callable[..., Bench], monkeypatch: pytest.MonkeyPatch) -> None:
    """A curve whose interval spans more than a quarter is INVALID, and says at which sizes."""
    noisy = [static.Timed(1, tuple(range(1000, 3000, 100)), (2000,)), static.Timed(8, (4000,) * 20, (4000,))]
    monkeypatch.setattr(static, "_through", lambda *_: (noisy, []))

    result = static.measure(bench())

    assert word_of(result) == "INVALID"
    assert result["reasons"] == ["accelerator: tau of 1 rows is uncertain by more than 25%"]


def test_naive_against_dynamic(bench: Callable[..., Bench]) -> None:
    """The simulated batcher passes, below its ceiling; one request at a time takes tau(1) exactly."""
    one = naive.measure(bench())["works"]["accelerator"]

    assert one["verdict"] == "PASS"
    assert math.isclose(one["naive_per_s"], 1e9 / (BASE_NS + ROW_NS), rel_tol=0.02)
    assert 0.9 * one["ceiling"] < one["ratio_low"] <= one["ratio"] <= one["ceiling"]


def test_a_batcher_that_never_batches_fails_the_gate(bench: Callable[..., Bench]) -> None:
    """Although its crowd keeps the instance busy: what one request at a time could have is what counts."""
    one = naive.measure(bench("mutant:never-batches"))

    assert one["verdict"] == "FAIL"
    assert word_of(one) == "FAIL"


def test_a_model_that_cannot_gain_is_not_judged(bench: Callable[..., Bench]) -> None:
    """Its ceiling is computed first; it is told so and is no failure, neither alone nor in the sweep."""
    serial = bench(works=(NO_GAIN,))

    one, swept = naive.measure(serial), sweep.measure(serial)

    assert (one["verdict"], swept["verdict"]) == ("", "")
    assert "cannot gain from batching (ceiling 1.00x)" in one["headline"]
    assert "cannot gain" in swept["headline"]


def test_stalls_cannot_make_a_pass_nor_a_fail(bench: Callable[..., Bench], monkeypatch: pytest.MonkeyPatch) -> None:
    """Where every pair is invalid a FAIL becomes INCONCLUSIVE, a PASS stays as a lower bound, and no rate is a result."""
    made = naive._slice

    def stalled(*arguments: Any) -> Any:
        run = made(*arguments)
        return replace(run, validity=replace(run.validity, reasons=("the host stalled",)))

    monkeypatch.setattr(naive, "_slice", stalled)
    good, bad = (naive.measure(bench(name)) for name in ("virtual", "mutant:never-batches"))

    assert (good["verdict"], bad["verdict"]) == ("PASS", "INCONCLUSIVE")
    for one in (good, bad):
        assert "discarded" in one["works"]["accelerator"]
        assert "ratio" not in one["works"]["accelerator"]
        assert one["tables"][0]["rows"][0][1:4] == [None, None, None]


@pytest.mark.parametrize(
    ("times", "best", "told"),
    [(1, 16, "x the smallest batch"), (2, 4, "x the smallest batch (of 6 VALID points, 3 INVALID)")],
)
def test_a_best_of_some_points_says_so(
    bench: Callable[..., Bench], monkeypatch: pytest.MonkeyPatch, times: int, best: int, told: str
) -> None:
    """An INVALID point is measured again after the others; while it is no rival, the best is the best of the others."""
    made, seen = sweep._saturate, []

    def stalled(bench: Bench, served: Any, config: BatcherConfig, curve: Curve) -> sweep.Point:
        point = made(bench, served, config, curve)
        seen.append(config)
        spoilt = replace(point.run, validity=replace(point.run.validity, reasons=("the host stalled",)))
        return replace(point, run=spoilt) if config.max_batch_size == 16 and seen.count(config) <= times else point

    monkeypatch.setattr(sweep, "_saturate", stalled)
    one = sweep.measure(bench())

    assert one["verdict"] == "PASS"
    assert f"best batch {best}" in one["headline"]
    assert one["headline"].endswith(told)
    assert len(seen) == 9 + 3


def test_sweep_is_what_the_oracle_says(bench: Callable[..., Bench]) -> None:
    """In simulated time every point is the oracle's to the nanosecond, and the largest batch wins by more than the gate."""
    one = sweep.measure(bench())["works"]["accelerator"]

    assert len(one["closed"]) == len(sweep.SIZES[1]) * len(sweep.DELAYS_NS[1]) >= 9
    assert len(one["open"]) == len(sweep.FRACTIONS)
    assert all(row["clients"] == 2 * row["config"]["max_batch_size"] for row in one["closed"])
    for row in one["open"]:
        assert row["oracle"]["measured"]["mean_ns"] == row["oracle"]["predicted"]["mean_ns"]
        assert row["oracle"]["measured"]["p99_ns"] == row["oracle"]["predicted"]["p99_ns"]
    assert all(math.isclose(row["oracle"]["ratios"]["throughput"], 1, abs_tol=0.01) for row in one["closed"])
    assert (one["verdict"], one["best"]["max_batch_size"], one["findings"]) == ("PASS", 16, [])


def test_a_target_slower_than_its_oracle_is_named(bench: Callable[..., Bench]) -> None:
    """With a curve that promises 30 % less time than the target takes, the sweep says how much is lost, and where."""
    slow = bench()
    slow.curves["accelerator"] = Curve.affine(BASE_NS * 7 // 10, ROW_NS * 7 // 10, static.SIZES)

    one = sweep.measure(slow)["works"]["accelerator"]

    assert len(one["findings"]) >= 9
    assert "loses 30% somewhere" in " ".join(one["findings"])
    assert "loses" in one["says"]


def test_windows_and_best(bench: Callable[..., Bench]) -> None:
    """Equals are not better: of points within 1 % the smallest batch and the shortest delay is the best."""
    config = BatcherConfig(max_batch_size=8)
    with bench().serve(ACCELERATOR, config) as served:
        run_ = naive.closed_loop(served.submit, served.clock, 16, wait_ns=10**9, seconds=2.4)
    points = [sweep.Point(replace(config, max_batch_size=size), run_, {}) for size in (32, 8, 16)]

    assert sweep.best_of(points).size == 8
    assert sum(sweep.windows(run_)) / 8 == pytest.approx(run_.throughput, rel=0.01)
    assert sweep.judged(run_, run_).verdict == "FAIL"


def test_cost_is_arithmetic(bench: Callable[..., Bench]) -> None:
    """3.60 an hour is a thousandth a second: a million at 1000/s cost 1; and each batch size costs price over rate."""
    assert cost.per_million(3.6, 1000) == pytest.approx(1.0)
    assert cost.per_million(3.6, 0) is None
    one = cost.measure(bench(price=Price(3.6, "USD")))["works"]["accelerator"]

    for batch in one["batches"]:
        assert batch["cost"] == pytest.approx((BASE_NS + ROW_NS * batch["rows"]) / batch["rows"] / 1e6)
    assert "USD a million at 128 rows" in one["says"]
    costs = [slo["cost"] for slo in one["slos"]]
    assert costs == sorted(costs, reverse=True)


def test_the_rate_under_an_slo_is_that_of_theory() -> None:
    """One request at a time is M/D/1: at the rate found, theory's p99 is the limit to within the noise of one simulation."""
    service_ns, limit_ns = 2 * MS, 10 * MS

    rate = cost.highest_rate(Curve((1,), (service_ns,)), 1, limit_ns, seed=3, requests=100_000)

    assert md1_percentile_ns(rate, service_ns, 99) == pytest.approx(limit_ns, rel=0.06)


def test_without_a_price_there_is_no_cost(bench: Callable[..., Bench]) -> None:
    """It says what to give."""
    with pytest.raises(Skipped, match="--price-per-hour"):
        cost.measure(bench())


def test_without_cuda_the_gpu_is_skipped(bench: Callable[..., Bench], monkeypatch: pytest.MonkeyPatch) -> None:
    """With the reason, and without the seconds that an import of torch takes."""
    monkeypatch.setattr(gpu.metadata, "version", lambda _: "9.9+cpu")
    with pytest.raises(Skipped, match=r"torch 9\.9\+cpu is built without CUDA"):
        gpu.measure(bench())
    monkeypatch.setattr(gpu, "find_spec", lambda _: None)
    with pytest.raises(Skipped, match="not installed"):
        gpu.measure(bench())


@pytest.mark.parametrize("name", ["mlp", "text"])
def test_torch_models_keep_to_one_thread(name: str) -> None:
    """The worker's threads are bound where the model runs, the caller's are not, and a batch gives what rows give alone."""
    torch = pytest.importorskip("torch")
    from batchproof.load.models import bound_to, build

    module, inputs = build(name)
    model, before = bound_to(module, 1), torch.get_num_threads()
    with ThreadPoolExecutor(1) as pool, torch.no_grad():
        together = pool.submit(model, inputs(4)).result()
        alone = torch.cat([pool.submit(model, row).result() for row in inputs(4).split(1)])

    assert model.seen == {1}
    assert torch.get_num_threads() == before
    assert together.shape == (4, 16)
    assert torch.allclose(together, alone, atol=1e-5)


def test_torch_model_on_a_target() -> None:
    """A torch work is served by a target that can, and skipped with the reason where it is not."""
    pytest.importorskip("torch")
    with pytest.raises(Skipped, match="no simulated time"):
        serve(resolve("virtual"), WORKS["mlp"], BatcherConfig(), wait_ns=10**9)
    with serve(resolve("reference"), WORKS["mlp"], BatcherConfig(), wait_ns=30 * 10**9) as served:
        assert tuple(served.submit(1, rows=3).result(timeout=30).shape) == (3, 16)


def test_what_is_not_claimed_is_skipped() -> None:
    """Not failed."""
    target = resolve("virtual")
    target.info = replace(target.info, claims={})
    with pytest.raises(Skipped, match="does not claim 'priorities'"):
        serve(target, ACCELERATOR, BatcherConfig(priority_levels=2, default_priority_level=1), wait_ns=10**9)


def test_every_measurement_can_be_had() -> None:
    """Each line of the table has a module with its function, and says how long it takes."""
    for one in MEASUREMENTS:
        module = import_module(f"batchproof.bench.measurements.{one.module}")
        assert callable(one.does or module.measure)
        assert 0 < one.quick_s <= one.full_s
    assert sum(one.quick_s for one in MEASUREMENTS) < 120


def test_the_quick_form_makes_nothing_again_when_it_is_late(bench: Callable[..., Bench]) -> None:
    """What is invalid is made again while there is time, and what is valid never is."""
    early, made = bench(), []
    with early.serve(ACCELERATOR, BatcherConfig()) as served:
        good = naive.closed_loop(served.submit, served.clock, 1, wait_ns=10**9, requests=2)
    bad = replace(good, validity=replace(good.validity, reasons=("noise",)))

    assert early.valid(lambda: made.append(1) or good) is good
    assert len(made) == 1
    early.valid(lambda: made.append(1) or bad)
    assert len(made) == 1 + table.ATTEMPTS[1]
    early.started -= table.PATIENT_S[1]
    early.valid(lambda: made.append(1) or bad)
    assert len(made) == 2 + table.ATTEMPTS[1]
