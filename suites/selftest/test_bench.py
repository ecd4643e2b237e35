"""The bench under test: in simulated time its figures are exact, its gates judge, and however it ends, the file says so."""

from __future__ import annotations

import io
import json
import math
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from importlib import import_module
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jsonschema
import numpy as np
import pytest
from rich.console import Console
from typer.testing import CliRunner

from batchproof.cli import app
from batchproof.fixtures.bench import bench as table
from batchproof.fixtures.bench import command, cost, gpu, naive, static, sweep
from batchproof.fixtures.bench.bench import MEASUREMENTS, Bench, Price
from batchproof.fixtures.bench.command import Options, run, status_of, word_of
from batchproof.fixtures.bench.record import Record
from batchproof.fixtures.bench.view import View
from batchproof.fixtures.bench.workload import MS, WORKS, Skipped, Work, serve
from batchproof.fixtures.load.samples import Samples
from batchproof.fixtures.oracle.curve import Curve
from batchproof.fixtures.oracle.theory import md1_percentile_ns
from batchproof.fixtures.session import TargetGone
from batchproof.fixtures.target import TargetError
from batchproof.fixtures.targets import resolve
from batchproof.reference_batcher import BatcherConfig
from batchproof.reports import bench as report
from batchproof.reports.reading import ReportError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ACCELERATOR = WORKS["accelerator"]
BASE_NS, ROW_NS = ACCELERATOR.base_ns, ACCELERATOR.row_ns
NO_GAIN = Work("serial", "a device that takes 1 ms a row", 0, MS)
SCHEMA = json.loads((Path(str(files("batchproof"))) / "reports/schema/bench.schema.json").read_text(encoding="utf-8"))


@pytest.fixture(autouse=True)
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    """In simulated time there is no noise that longer runs would average out."""
    monkeypatch.setattr(naive, "SLICE_S", (0.06, 0.06))
    monkeypatch.setattr(sweep, "CLOSED_S", (0.15, 0.15))
    monkeypatch.setattr(sweep, "OPEN_S", ((0.3, 0.5), (0.3, 0.5)))
    monkeypatch.setattr(cost, "REQUESTS", (4000, 4000))


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Callable[..., Bench]]:
    """`bench(target="virtual", ...)`: a quick bench into a folder of its own."""
    records: list[Record] = []

    def make(target: str = "virtual", **more: Any) -> Bench:
        records.append(Record(tmp_path / f"out{len(records)}"))
        return Bench(resolve(target), records[-1], quick=True, **more)

    yield make
    for one in records:
        one.close()


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


def test_uncertain_times_are_no_result(bench: Callable[..., Bench], monkeypatch: pytest.MonkeyPatch) -> None:
    """A curve whose interval spans more than a quarter is INVALID, and says at which sizes."""
    noisy = [static.Timed(1, tuple(range(1000, 3000, 100)), (2000,)), static.Timed(8, (4000,) * 20, (4000,))]
    monkeypatch.setattr(static, "_through", lambda *_: (noisy, []))

    result = static.measure(bench())

    assert word_of(result) == "INVALID"
    assert result["reasons"] == ["accelerator: tau of 1 rows is uncertain by more than 25%"]


@pytest.mark.parametrize("count", range(1, 45))
def test_the_gate_is_wrong_in_one_of_a_hundred(count: int) -> None:
    """The rank of the bound is the largest that keeps the false alarm, exactly computed, at 1 % or less."""
    rank = naive._rank(count)

    def wrong(k: int) -> float:
        return sum(math.comb(count, i) for i in range(k)) / 2**count

    assert wrong(rank) <= naive.FALSE_ALARM < wrong(rank + 1)
    assert (rank == 0) == (count < 7)


@pytest.mark.parametrize(
    ("ratios", "verdict"),
    [((1.06,) * 10, "PASS"), ((1.0,) * 10, "FAIL"), ((1.0,) * 5 + (1.1,) * 5, "UNDECIDED"), ((9.0,) * 6, "UNDECIDED"),
     ((), "UNDECIDED"), ((1.06,) * 16 + (0.5,) * 4, "PASS"), ((1.0,) * 16 + (9.0,) * 4, "FAIL")],
)
def test_the_gate(ratios: tuple[float, ...], verdict: str) -> None:
    """Outliers of a few pairs decide nothing, and six pairs never do."""
    assert naive.gate(ratios or (1.0,)).verdict == verdict


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
    """Where every pair is invalid a FAIL becomes UNDECIDED, a PASS stays as a lower bound, and no rate is a result."""
    made = naive._slice

    def stalled(*arguments: Any) -> Any:
        run = made(*arguments)
        return replace(run, validity=replace(run.validity, reasons=("the host stalled",)))

    monkeypatch.setattr(naive, "_slice", stalled)
    good, bad = (naive.measure(bench(name)) for name in ("virtual", "mutant:never-batches"))

    assert (good["verdict"], bad["verdict"]) == ("PASS", "UNDECIDED")
    for one in (good, bad):
        assert "discarded" in one["works"]["accelerator"]
        assert "ratio" not in one["works"]["accelerator"]
        assert one["tables"][0]["rows"][0][1:4] == [None, None, None]


def test_sweep_is_what_the_oracle_says(bench: Callable[..., Bench]) -> None:
    """In simulated time every point is the oracle's to the nanosecond, and the largest batch wins by more than the gate."""
    one = sweep.measure(bench())["works"]["accelerator"]

    assert len(one["closed"]) == len(sweep.SIZES[1]) * len(sweep.DELAYS_NS[1]) >= 9
    assert len(one["open"]) == 2 * len(sweep.FRACTIONS)
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
    assert sweep.gate(run_, run_) == "FAIL"


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
    from batchproof.fixtures.bench.models import bound_to, build

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


# How a bench ends, and what its file says.


def measured(**more: Any) -> dict[str, Any]:
    """What a measurement returns."""
    shown = {"title": "T", "heads": ["rows", "x"], "rows": [[1, None], [8, 2.5]]}
    return {"valid": True, "reasons": [], "verdict": "", "headline": "fine", "tables": [shown], **more}


def one_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *bodies: Callable[[Any], Any]
) -> tuple[int, report.BenchReport]:
    """Run a bench whose measurements are these."""
    monkeypatch.setattr(
        command, "MEASUREMENTS", tuple(table.Measurement(f"m{number}", "", "why?", 1, 1) for number in range(len(bodies))))
    monkeypatch.setattr(table.Measurement, "measure", lambda self, bench: bodies[int(self.name[1:])](bench))
    status = run(Options("virtual", quick=True, report=tmp_path), Console(file=io.StringIO()))
    return status, report.read(tmp_path)


def raising(error: BaseException) -> Callable[[Any], Any]:
    """A measurement that ends so."""

    def body(_: Any) -> Any:
        raise error

    return body


@pytest.mark.parametrize(
    ("body", "status", "word"),
    [
        (lambda _: measured(), 0, "measured"),
        (lambda _: measured(verdict="PASS"), 0, "PASS"),
        (lambda _: measured(verdict="FAIL"), 1, "FAIL"),
        (lambda _: measured(verdict="UNDECIDED"), 75, "UNDECIDED"),
        (lambda _: measured(valid=False, reasons=["noise"]), 75, "INVALID"),
        (raising(Skipped("no such thing")), 5, "SKIPPED"),
        (raising(TargetError("gone wrong")), 1, "ERROR"),
        (raising(ZeroDivisionError("a bug")), 1, "ERROR"),
    ],
)
def test_exit_status(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, body: Callable[[Any], Any], status: int, word: str
) -> None:
    """Each end has its word, its exit status, and a line that the schema knows."""
    got, found = one_run(tmp_path, monkeypatch, body)

    assert (got, found.measurements[0]["word"]) == (status, word)
    assert found.footer is not None
    assert found.footer["complete"]
    assert found.footer["exit_status"] == status
    for line in (tmp_path / "bench.jsonl").read_text().splitlines():
        jsonschema.validate(json.loads(line), SCHEMA)


@pytest.mark.parametrize(
    ("error", "status", "reason"),
    [(KeyboardInterrupt(), 2, "interrupted"), (TargetGone("killed by SIGKILL"), 1, "the target died: killed by SIGKILL")],
)
def test_ended_early(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: BaseException, status: int, reason: str
) -> None:
    """What was measured before stays, and both files say that the rest is missing."""
    got, found = one_run(tmp_path, monkeypatch, lambda _: measured(), raising(error), lambda _: measured())

    assert got == status
    assert found.footer is not None
    assert (found.footer["complete"], found.footer["reason"], found.missing) == (False, reason, ("m1", "m2"))
    text = (tmp_path / "bench.md").read_text()
    assert f"**Ended early.** {reason}" in text
    assert "Not measured: m1, m2." in text


def test_invalid_figures_are_not_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The headline of an INVALID measurement is its reason."""
    _, found = one_run(tmp_path, monkeypatch, lambda _: measured(valid=False, reasons=["noise", "more"], headline="9000/s"))

    assert found.measurements[0]["headline"] == "no result: noise, and 1 more"


def test_a_fail_outweighs_what_is_undecided() -> None:
    """Worst wins, and something measured beside something skipped is fine."""
    assert status_of(["PASS", "UNDECIDED", "FAIL"]) == 1
    assert status_of(["measured", "SKIPPED"]) == 0
    assert status_of(["SKIPPED", "SKIPPED"]) == status_of([]) == 5


def test_truncated(tmp_path: Path) -> None:
    """A bench without a footer says so, and one that was cut in the middle of a line says that."""
    record = Record(tmp_path)
    about = {"target": {"name": "x", "version": "1", "reached": "x"}, "works": ["w"], "command": "c"}
    record.header(**about, measurements=["a", "b"], quick=True, seed=1)
    record.measurement("a", {"question": "q", "word": "PASS", "seconds": 1.0, **measured()})
    text = (tmp_path / "bench.jsonl").read_bytes()

    found = report.read(tmp_path)
    assert found.truncated
    assert "**Truncated.** The bench ends before its footer" in report.to_markdown(found)
    (tmp_path / "bench.jsonl").write_bytes(text + b'{"type": "meas')
    found = report.read(tmp_path)
    assert (found.cut, found.missing) == (True, ("b",))
    assert "in the middle of a line" in report.to_markdown(found)
    record.footer(0, complete=False, reason="")


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ("", "no header"),
        ("[]", "no JSON object"),
        ("{footer}", "the first line, and no other, is the header"),
        ("{header}\n{header}", "the first line, and no other, is the header"),
        ("{header}\n{stray}", "stray was measured, and the header did not select it"),
        ("{header}\n{a}\n{a}", "two lines"),
        ("{header}\n{footer}", "the footer names other measurements"),
        ("{header}\n{footer}\n{a}", "something follows the footer"),
        ("{header}\n{crooked}", "a table of a is none"),
    ],
)
def test_contradictions_are_refused(tmp_path: Path, lines: str, message: str) -> None:
    """A file that does not add up is no bench, and the message says where."""
    head = {"type": "header", "format": 1, "batchproof": "1", "started": "s", "command": "c", "measurements": ["a"],
            "works": [], "host": {}, "target": {"name": "x", "version": "1", "reached": "x"}, "seed": 1, "quick": True}
    line = {"type": "measurement", "measurement": "a", "question": "q", "word": "PASS", "seconds": 1, **measured()}
    foot = {"type": "footer", "ended": "e", "exit_status": 0, "complete": True, "reason": "", "names": ["a"]}
    crooked = {**line, "tables": [{"title": "T", "heads": ["a"], "rows": [[1, 2]]}]}
    known = {"header": head, "a": line, "footer": foot, "stray": {**line, "measurement": "stray"}, "crooked": crooked}
    for word, value in known.items():
        lines = lines.replace("{" + word + "}", json.dumps(value))
    (tmp_path / "bench.jsonl").write_text(lines)

    with pytest.raises(ReportError, match=message):
        report.read(tmp_path)


def test_markdown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The document is the tables as they were recorded; what a target says becomes no markup."""
    _, found = one_run(tmp_path, monkeypatch, lambda _: measured(headline="<b>*hi*</b>"))
    text = report.to_markdown(found)

    assert "| rows |   x |\n| ---: | --: |\n|    1 |   - |\n|    8 | 2.5 |" in text
    assert r"&lt;b&gt;\*hi\*&lt;/b&gt;" in text
    assert text == (tmp_path / "bench.md").read_text()


def test_samples_are_kept(tmp_path: Path) -> None:
    """Raw, and as a histogram beside; those of an earlier bench in the same folder are gone."""
    histogram = pytest.importorskip("hdrh.histogram").HdrHistogram
    ns = np.arange(10, dtype=np.int64) * MS
    samples = Samples(ns, ns, ns + 5 * MS, np.zeros(10, np.uint8), np.zeros(10, np.int32))

    record = Record(tmp_path)
    path = record.samples("a/b", samples)
    record.close()

    assert (Samples.load(tmp_path / path).done_ns == samples.done_ns).all()
    read = histogram.decode((tmp_path / path).with_suffix(".hdr").read_text().strip())
    assert read.get_value_at_percentile(99) == pytest.approx(5 * MS, rel=0.001)
    Record(tmp_path).close()
    assert list((tmp_path / "samples").iterdir()) == []


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        (["--target", "nonsense"], 4, "unknown target 'nonsense'"),
        (["--target", "grpc://127.0.0.1:1"], 4, "no Triton answers at grpc://127.0.0.1:1"),
        (["--work", "crypto"], 2, "--work crypto: there are accelerator, mlp, text, image and all"),
        (["--only", "speed-of-light"], 2, "--only speed-of-light: there are static, naive"),
        (["--only", ","], 2, "an empty list names nothing"),
    ],
)
def test_misuse(capfd: pytest.CaptureFixture[str], tmp_path: Path, arguments: list[str], status: int, message: str) -> None:
    """One line, the exit status, and no folder."""
    result = CliRunner().invoke(app, ["bench", "--report", str(tmp_path / "out"), *arguments])
    said = [line for line in (result.stderr + capfd.readouterr().err).splitlines() if line]

    assert result.exit_code == status
    assert len(said) == 1
    assert message in said[0]
    assert not (tmp_path / "out").exists()


def test_torch_that_is_not_there(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    """The message says how to get it, before any target is started."""
    monkeypatch.setattr(command, "find_spec", lambda _: None)

    assert run(Options("nonsense", work="all")) == 2
    assert "pip install 'batchproof[reference]'" in capfd.readouterr().err


def test_a_report_that_cannot_be_written(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """Is one message too, and the target is ended."""
    (tmp_path / "file").write_text("")

    assert run(Options("virtual", report=tmp_path / "file"), Console(file=io.StringIO())) == 4
    assert "choose another --report" in capfd.readouterr().err


def test_the_command_line(tmp_path: Path) -> None:
    """A whole bench in simulated time: plain lines where there is no terminal, and the command that makes it again."""
    arguments = ["bench", "--target", "virtual", "--quick", "--only", "cost,static", "--price-per-hour", "2", "--seed", "5"]
    result = CliRunner().invoke(app, [*arguments, "--report", str(tmp_path)])

    assert result.exit_code == 0, result.stdout
    assert "quick form, in simulated time" in result.stdout
    found = report.read(tmp_path)
    assert [one["measurement"] for one in found.measurements] == ["static", "cost"]
    again = Options("virtual", quick=True, only="cost,static", price_per_hour=2, seed=5).command()
    assert found.header["command"] == again
    assert all(f" {word}" in again for word in arguments if word != "bench")


def test_the_live_table() -> None:
    """On a terminal the table fills in, and stays when the bench is over."""
    screen = io.StringIO()
    view = View(Console(file=screen, force_terminal=True, width=100), ["static", "naive"])
    view.begin("static", "what?")
    view.say("batches of 8")
    view.end("static", "PASS", 1.25, "a knee")
    view.stop()
    view.stop()

    last = screen.getvalue().rpartition("measurement")[2]
    assert "a knee" in last
    assert "1.2 s" in last
    assert "naive" in last


def test_every_measurement_can_be_had() -> None:
    """Each line of the table has a module with its function, and says how long it takes."""
    for one in MEASUREMENTS:
        module = import_module(f"batchproof.fixtures.bench.{one.module}")
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
