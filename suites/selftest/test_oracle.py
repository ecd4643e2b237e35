"""The oracle: the simulator does what the batcher does, theory agrees with it, and predictions are held against runs."""

from __future__ import annotations

import time
from concurrent.futures import Future
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from batchproof.fixtures.load.running import Run, closed_loop, open_loop
from batchproof.fixtures.load.samples import OUTCOMES, Samples
from batchproof.fixtures.load.schedule import Schedule, poisson
from batchproof.fixtures.load.validity import Validity
from batchproof.fixtures.oracle import against, chains, check, speed, theory
from batchproof.fixtures.oracle.curve import Curve
from batchproof.fixtures.oracle.prediction import compare, grid, margin_of, overrun, predict, predict_closed
from batchproof.fixtures.target import Request
from batchproof.fixtures.targets.virtual import VirtualTarget
from batchproof.reference_batcher import BatcherConfig, Expired, QueuePolicy
from batchproof.reference_batcher.simulation import NEVER, Simulated, plain, simulate, simulate_closed
from batchproof.reference_batcher.virtual import VirtualBatcher, VirtualClock

US, MS = 1_000, 1_000_000
PROFILE = settings(
    max_examples=200, deadline=None, derandomize=True, database=None, print_blob=False,
    suppress_health_check=list(HealthCheck), phases=[Phase.generate, Phase.shrink],
)  # fmt: skip
TAU = check.line(8)
CAPACITY = 8 / TAU[8] * 1e9


@st.composite
def _plain(draw: Any) -> tuple[BatcherConfig, list[int], list[int]]:
    """A configuration for the quick path; times are so coarse that much of it happens in one nanosecond."""
    size = draw(st.integers(1, 6))
    config = BatcherConfig(
        max_batch_size=size,
        max_queue_delay_ns=draw(st.integers(0, 6)) * US,
        instances=draw(st.integers(1, 3)),
        preserve_ordering=draw(st.booleans()),
    )
    tau_ns = [0, *(US * draw(st.integers(1, 8)) for _ in range(size))]
    gaps = draw(st.lists(st.integers(0, 5), max_size=40))
    return config, tau_ns, (np.cumsum(gaps) * US).astype(int).tolist()


@st.composite
def _any(draw: Any) -> tuple[BatcherConfig, list[int], list[int], dict[str, list[int]]]:
    """Anything that can be configured, and requests of any rows, level and timeout."""
    config, tau_ns, due = draw(_plain())
    size, levels = config.max_batch_size, draw(st.integers(0, 3))
    policies = st.builds(
        QueuePolicy,
        queue_timeout_ns=st.sampled_from([0, 3 * US, 9 * US]),
        timeout_action=st.just("REJECT") if config.preserve_ordering else st.sampled_from(["REJECT", "DELAY"]),
        allow_timeout_override=st.booleans(),
        max_queue_size=st.sampled_from([0, 2, 5]),
    )
    usual, urgent = draw(policies), draw(policies)
    config = replace(
        config,
        preferred_batch_size=tuple(draw(st.sets(st.integers(1, size), max_size=3))),
        priority_levels=min(levels, 1) if config.preserve_ordering else levels,
        default_priority_level=min(levels, 1),
        priority_queue_policy=((1, urgent),) if levels else (),
        **vars(usual),
    )
    each = {
        "rows": draw(st.lists(st.integers(1, size + 1), min_size=len(due), max_size=len(due))),
        "priorities": draw(st.lists(st.integers(0, 3), min_size=len(due), max_size=len(due))),
        "timeouts_ns": [US * draw(st.sampled_from([0, 1, 4])) for _ in due],
    }
    return config, tau_ns, due, each


class _Shell:
    """`VirtualBatcher` with a model that takes tau_ns[rows], and what became of each request."""

    def __init__(self, config: BatcherConfig, tau_ns: list[int], each: dict[str, list[int]]) -> None:
        self.clock = VirtualClock()
        self.starts: dict[int, int] = {}
        self.done: dict[int, int] = {}
        self.refused: dict[int, bool] = {}  # and whether it was for its timeout
        self.sizes: list[int] = []
        self._tau_ns, self._each = tau_ns, each
        self._batcher = VirtualBatcher(config, self._serve, self.clock)

    def send(self, number: int) -> Future[Any]:
        """Submit one request."""
        asked = {name: self._each[key][number] for name, key in (("priority", "priorities"), ("timeout_ns", "timeouts_ns"))}
        future = self._batcher.submit(np.full((self._each["rows"][number], 1), number), **asked)
        future.add_done_callback(lambda done: self._settled(number, done))
        return future

    def _settled(self, number: int, future: Future[Any]) -> None:
        if error := future.exception():
            self.refused[number] = isinstance(error, Expired)
        else:
            self.done[number] = self.clock.now_ns()

    def _serve(self, _instance: int, batch: Any, finish: Any) -> None:
        now_ns, rows = self.clock.now_ns(), sum(entry.rows for entry in batch)
        self.starts |= {int(entry.item.inputs[0, 0]): now_ns for entry in batch}
        self.sizes.append(rows)
        self.clock.at(now_ns + self._tau_ns[rows], lambda: finish(lambda inputs: inputs))

    def seen(self, count: int) -> tuple[Any, ...]:
        """All of it, for comparison."""
        late = [number for number in range(count) if self.refused.get(number)]
        full = [number for number in range(count) if self.refused.get(number) is False]
        starts, done = ([one.get(number, NEVER) for number in range(count)] for one in (self.starts, self.done))
        return starts, done, self.sizes, full, late


def _seen(one: Simulated) -> tuple[Any, ...]:
    masks = (np.flatnonzero(one.refused).tolist(), np.flatnonzero(one.expired).tolist())
    return one.start_ns.tolist(), one.done_ns.tolist(), one.sizes.tolist(), *masks


@PROFILE
@given(_plain())
def test_the_quick_path_is_the_general_one(given: Any) -> None:
    """A batch at a time or request by request through the core: the same to the nanosecond."""
    config, tau_ns, due = given
    quick, general = simulate(config, due, tau_ns), simulate(config, due, tau_ns, quick=False)

    assert _seen(quick) == _seen(general)
    assert quick.batch_start_ns.tolist() == general.batch_start_ns.tolist()
    assert quick.answered.all()


@PROFILE
@given(_any())
def test_the_simulator_is_the_virtual_batcher(given: Any) -> None:
    """Any configuration, any requests: starts, answers, batches and refusals are those of the virtual-time shell."""
    config, tau_ns, due, each = given
    shell = _Shell(config, tau_ns, each)
    for number, when_ns in enumerate(due):
        shell.clock.sleep_until_ns(when_ns)
        shell.send(number)
    shell.clock.sleep_until_ns(10**12)

    assert _seen(simulate(config, due, tau_ns, **each)) == shell.seen(len(due))


def test_both_paths_are_tried() -> None:
    """Random configurations are of the kinds that they are for, so that neither test above is empty."""
    assert plain(BatcherConfig(max_batch_size=4, max_queue_delay_ns=US, instances=2, preserve_ordering=True))
    for more in ({"queue_timeout_ns": US}, {"max_queue_size": 3}, {"preferred_batch_size": (2,)}):
        assert not plain(BatcherConfig(max_batch_size=4, **more))
    assert plain(BatcherConfig(max_batch_size=4, preferred_batch_size=(4,)))


@pytest.mark.parametrize("quick", [True, False])
def test_what_ends_comes_before_what_arrives(quick: bool) -> None:
    """Of one nanosecond: batch done, then delay over, then arrivals one by one."""

    def batches(config: BatcherConfig, due: list[int]) -> list[tuple[int, int]]:
        one = simulate(config, due, [0, 100, 100, 100], quick=quick)
        return list(zip(one.batch_start_ns.tolist(), one.sizes.tolist(), strict=True))

    greedy, patient = BatcherConfig(max_batch_size=3), BatcherConfig(max_batch_size=3, max_queue_delay_ns=US)
    assert batches(greedy, [0, 50, 100]) == [(0, 1), (100, 1), (200, 1)], "the third arrives as the second is taken"
    assert batches(patient, [0, US]) == [(US, 1), (2 * US, 1)], "the second arrives as the delay of the first ends"
    assert batches(greedy, [0, 0, 0]) == [(0, 1), (100, 2)], "the first finds the instance idle"
    assert batches(patient, [0, 5, 5, 5]) == [(5, 3), (5 + US, 1)]


@pytest.mark.parametrize("clients", [1, 3, 4, 6, 8, 20])
@pytest.mark.parametrize("more", [{}, {"instances": 2}, {"max_queue_size": 3}, {"max_queue_delay_ns": MS}], ids=str)
def test_the_closed_loop_is_the_virtual_one(clients: int, more: dict[str, int]) -> None:
    """Clients that send in a callback: the closed loop of the load generator on the virtual target."""
    config = BatcherConfig(max_batch_size=4, **more)
    served = VirtualTarget().deploy(config)

    def submit(number: int) -> Future[Any]:
        return served.submit(Request("load", number, work_ns=2 * MS, row_work_ns=MS))

    run = closed_loop(submit, served.clock, clients, wait_ns=10**12, requests=200)
    told = simulate_closed(config, clients, 200, [2 * MS + MS * rows for rows in range(5)], answers_first=True)

    assert run.samples.done_ns[run.samples.answered].tolist() == told.done_ns[told.answered].tolist()
    assert run.samples.scheduled_ns.tolist() == told.due_ns.tolist()
    assert (~run.samples.answered).tolist() == told.refused.tolist()


def test_cohorts() -> None:
    """Who sends after the instance took its next batch is in the other cohort; who sends before is in the same."""
    config = BatcherConfig(max_batch_size=8)
    after, before = (simulate_closed(config, 8, 80, TAU, answers_first=first) for first in (False, True))

    assert set(after.sizes.tolist()[2:-2]) == {1, 7}
    assert set(before.sizes.tolist()[1:-1]) == {8}
    assert after.throughput < before.throughput


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"tau_ns": [0, 5]}, "tau_ns must hold at least 1 ns for each of 1 to 2 rows"),
        ({"tau_ns": [0, 5, 0]}, "tau_ns must hold"),
        ({"due_ns": [3, 2]}, "must ascend"),
        ({"due_ns": [-1]}, "must ascend"),
        ({"rows": [1]}, "1 values for 2 requests"),
        ({"config": BatcherConfig(max_batch_size=2, response_cache=True)}, "response cache"),
    ],
)
def test_what_cannot_be_simulated_is_said(change: dict[str, Any], message: str) -> None:
    """ValueError with the reason."""
    asked: dict[str, Any] = {"config": BatcherConfig(max_batch_size=2), "due_ns": [0, 1], "tau_ns": [0, 5, 6]}
    with pytest.raises(ValueError, match=message):
        simulate(**asked | change)
    with pytest.raises(ValueError, match="closed loop of 3 clients and 2 requests"):
        simulate_closed(BatcherConfig(), 3, 2, TAU)


def test_nothing_is_nothing() -> None:
    """No requests, no batches."""
    for quick in (True, False):
        one = simulate(BatcherConfig(), [], TAU, quick=quick)
        assert (one.throughput, one.mean_batch, one.latency_ns.size) == (0.0, 0.0, 0)


def test_the_quick_path_is_quicker() -> None:
    """A batch at a time beats a request at a time by far: what it is there for."""
    due = poisson(0.8 * CAPACITY, 10, 7).due_ns
    spent = []
    for quick in (True, False):
        begun = time.process_time()
        simulate(BatcherConfig(), due, TAU, quick=quick)
        spent.append(time.process_time() - begun)

    assert spent[0] * 2 < spent[1]


# Values of textbooks' formulas, computed independently of this code.
def test_theory_gives_the_known_values() -> None:
    """M/D/1, Inoue, bulk service, Triton's rule and the window at points that were computed elsewhere."""
    asked = [(load * 500, 2 * MS, percent) for load in (0.5, 0.7, 0.9) for percent in (50, 90, 99)]
    percentiles = [round(theory.md1_percentile_ns(*one) / MS, 3) for one in asked]
    assert percentiles == [2.0, 5.031, 8.673, 3.46, 8.154, 14.971, 8.026, 23.565, 45.796]
    assert theory.md1_mean_ns(450, 2 * MS) == pytest.approx(11 * MS)
    assert theory.md1_waits_at_most(450, 2 * MS, 0) == pytest.approx(0.1)
    assert theory.md1_waits_at_most(450, 2 * MS, -1) == 0

    bulk = [chains.bulk(load * CAPACITY, TAU, 8).mean_ns / MS for load in (0.1, 0.5, 0.9)]
    assert bulk == pytest.approx([2.7410, 4.0634, 6.4332], abs=1e-4)
    full = [chains.bulk(load * CAPACITY, TAU, 8, 8).mean_ns / MS for load in (0.3, 0.7, 0.9)]
    assert full == pytest.approx([8.852, 6.076, 6.970], abs=1e-3)
    delayed = [chains.delayed(0.1 * CAPACITY, TAU, 8, delay_ns) for delay_ns in (0, MS // 5, MS, 3 * MS)]
    assert [one.mean_ns / MS for one in delayed] == pytest.approx([2.7410, 2.8529, 3.3444, 4.8133], abs=1e-4)
    assert [one.mean_batch for one in delayed] == pytest.approx([1.104, 1.132, 1.258, 1.667], abs=1e-3)

    unlimited = [chains.unlimited(rate, 2 * MS, MS // 5).mean_ns / MS for rate in (50, 500, 4000)]
    bounds = [theory.greedy_bound_ns(rate, 2 * MS, MS // 5) / MS for rate in (50, 500, 4000)]
    assert unlimited == pytest.approx([2.3228, 3.2818, 15.7778], abs=1e-4)
    assert bounds == pytest.approx([2.3234, 3.5455, 15.7778], abs=1e-4)

    window = theory.window(1000, 8, 2 * MS)
    assert (window.mean_batch, window.mean_wait_ns / MS) == pytest.approx((2.9986, 1.3301), abs=1e-4)
    closed = [round(theory.closed_loop(clients, 2 * MS, MS // 5, 8)) for clients in (1, 2, 4, 8, 12, 16, 99)]
    assert closed == [455, 455, 833, 1429, 1875, 2222, 2222]


def test_special_cases_agree_with_each_other() -> None:
    """A chain without its feature is the simpler queue."""
    rate = 0.7 * CAPACITY
    assert chains.delayed(rate, TAU, 8, 0).mean_ns == pytest.approx(chains.bulk(rate, TAU, 8).mean_ns)
    assert chains.bulk(350, (0, 2 * MS), 1).mean_ns == pytest.approx(theory.md1_mean_ns(350, 2 * MS))
    assert chains.delayed(350, (0, 2 * MS), 1, MS).mean_ns == pytest.approx(theory.md1_mean_ns(350, 2 * MS))
    assert chains.bulk(500, check.line(200), 200).mean_ns == pytest.approx(chains.unlimited(500, 2 * MS, MS // 5).mean_ns)


def test_no_steady_state_is_said() -> None:
    """At capacity and above every formula refuses."""
    for ask in (
        lambda: theory.md1_mean_ns(500, 2 * MS),
        lambda: theory.greedy_bound_ns(5000, 2 * MS, MS // 5),
        lambda: chains.bulk(1.01 * CAPACITY, TAU, 8),
        lambda: chains.delayed(1.01 * CAPACITY, TAU, 8, 0),
        lambda: chains.unlimited(5000, 2 * MS, MS // 5),
    ):
        with pytest.raises(theory.Unstable):
            ask()
    with pytest.raises(ValueError, match="exact only for delays up to"):
        chains.delayed(100, TAU, 8, 4 * MS)
    with pytest.raises(ValueError, match="too near capacity"):
        chains.bulk(0.9999 * CAPACITY, TAU, 8)


def test_theory_and_simulation_agree() -> None:
    """Every point of the table, shortened; the whole one is `python -m batchproof.fixtures.oracle.check`.

    False alarms of this test: fewer than 1 in 1000 seeds (see the module); the seed is fixed.
    """
    found = [row for point in check.points() for row in check.rows(point, 1729, 2500)] + check.closed_rows(50)

    assert len(found) > 80
    assert [row for row in found if not row.agrees] == []
    told = {row.what: row.theory for row in found}
    assert len(told) == 8


@pytest.mark.parametrize(("name", "attribute"), [("mean", "mean_ns"), ("batch", "mean_batch")])
def test_a_wrong_theory_is_seen(name: str, attribute: str) -> None:
    """The check has power: three percent off, or the delay forgotten, and it disagrees."""
    point = next(one for one in check.points() if one.at == "load 0.3, 1 ms")
    off = replace(point, theory={name: point.theory[name] * 1.03})
    forgot = replace(point, theory={name: getattr(chains.bulk(point.rate, TAU, 8), attribute)})

    assert all(row.agrees for row in check.rows(point, 7, 3000))
    assert not any(row.agrees for one in (off, forgot) for row in check.rows(one, 7, 3000))


def test_the_greedy_law_holds_of_formed_batches() -> None:
    """The mean latency follows from the batches alone, in the long run: within 1 % over 100,000 requests."""
    tau_ns = check.line(512)
    told = simulate(BatcherConfig(max_batch_size=512), poisson(2000, 50, 3).due_ns, tau_ns)

    assert theory.greedy_law_ns(2000, told.sizes.tolist(), tau_ns) == pytest.approx(told.latency_ns.mean(), rel=0.01)
    assert theory.greedy_mean_ns(2000, 2 * MS, MS // 5, told.mean_batch) == pytest.approx(told.latency_ns.mean(), rel=0.01)


def test_the_curve_between_and_beyond_its_points() -> None:
    """Straight between points, as steep as the last piece beyond them, and never below 1 ns."""
    curve = Curve((2, 4, 8), (100, 140, 120))

    assert [curve.at(rows) for rows in (1, 2, 3, 4, 6, 8, 12, 40)] == [80, 100, 120, 140, 130, 120, 100, 1]
    assert curve.table(3) == (0, 80, 100, 120)
    assert Curve((4,), (50,)).table(3) == (0, 50, 50, 50)
    assert Curve.from_json(curve.to_json()) == curve
    with pytest.raises(ValueError, match="at least 1 row"):
        curve.at(0)


def test_the_curve_bounds_what_batching_gives() -> None:
    """Limit, best batch and ceiling of a line, and of a device that large batches slow down."""
    line = Curve.affine(2 * MS, MS // 5, (1, 2, 4, 8))
    slow = Curve((1, 8, 32), (275 * US, 2410 * US, 14459 * US))

    assert line.tau_ns == (2_200_000, 2_400_000, 2_800_000, 3_600_000)
    assert line.limit(8) == pytest.approx(CAPACITY)
    assert line.limit(8, instances=3) == pytest.approx(3 * CAPACITY)
    assert line.ceiling(8) == pytest.approx(CAPACITY / (1e9 / 2_200_000))
    assert line.fit() == (2 * MS, MS // 5, pytest.approx(0, abs=1e-9))
    assert (slow.best(32), slow.ceiling(32)) == (1, 1.0)
    assert Curve((1, 2), (100, 210)).fit()[0] == 0, "no negative start"
    assert Curve((1, 2), (100, 90)).fit()[1] == 0, "no negative rows"


def test_the_knee() -> None:
    """The smallest batch with 90 % of the limit: 9 base / row of a line; a curve that peaks early is compute-bound."""
    knee = Curve.affine(2 * MS, MS // 5, (1, 8, 64, 4096)).knee()
    flat = Curve((1, 8, 32), (275 * US, 2410 * US, 14459 * US)).knee()

    assert knee.batch == pytest.approx(90, rel=0.03)
    assert not knee.compute_bound
    assert (flat.batch, flat.best, flat.compute_bound) == (1, 1, True)
    assert "compute-bound: a smaller model or more hardware, not a bigger batch" in flat.reason
    assert Curve.affine(2 * MS, MS // 5, (1, 2, 4)).knee().compute_bound is False, "too few sizes to say so"


@pytest.mark.parametrize(
    ("sizes", "tau_ns"), [((), ()), ((1, 2), (5,)), ((2, 1), (5, 6)), ((0, 1), (5, 6)), ((1,), (0,))]
)
def test_what_is_no_curve_is_refused(sizes: tuple[int, ...], tau_ns: tuple[int, ...]) -> None:
    """ValueError, from JSON as well."""
    with pytest.raises(ValueError, match=r"a curve needs|must ascend|at least 1 ns"):
        Curve(sizes, tau_ns)
    with pytest.raises(ValueError, match="not a curve"):
        Curve.from_json('{"sizes": 3}')


CURVE = Curve.affine(2 * MS, MS // 5, (1, 2, 4, 8))
LOAD = poisson(0.7 * CAPACITY, 1.0, 11)


def _virtual_run(config: BatcherConfig, schedule: Schedule = LOAD) -> Run:
    served = VirtualTarget().deploy(config)
    ask = {"work_ns": 2 * MS, "row_work_ns": MS // 5}
    return open_loop(lambda number: served.submit(Request("load", number, **ask)), served.clock, schedule, wait_ns=10**12)


def _run(told: Any, factor: float, outcome: str = "answered", reasons: tuple[str, ...] = ()) -> Any:
    """A run whose latencies are a prediction's times `factor`."""
    due = told.simulated.due_ns
    done = due + (told.simulated.latency_ns * factor).astype(np.int64)
    outcomes = np.full(due.size, OUTCOMES.index("answered"), dtype=np.uint8)
    outcomes[: due.size // 2] = OUTCOMES.index(outcome)
    samples = Samples(due, due, done, outcomes, np.zeros(due.size, dtype=np.int32))
    return SimpleNamespace(samples=samples, throughput=told.throughput / factor, validity=Validity(reasons))


@pytest.mark.parametrize("more", [{}, {"max_queue_delay_ns": MS}, {"instances": 2}, {"max_queue_size": 2}], ids=str)
def test_the_virtual_target_is_as_predicted(more: dict[str, int]) -> None:
    """The same schedule, generator and all: not a nanosecond apart."""
    config = BatcherConfig(max_batch_size=8, **more)
    told, run = predict(config, CURVE, LOAD.due_ns, end_ns=LOAD.end_ns), _virtual_run(config)
    found = compare(told, run, 0.0)

    assert run.samples.latency_ns.tolist() == told.simulated.latency_ns.tolist()
    assert found["verdict"] == "AS PREDICTED"
    assert found["ratios"]["mean_ns"] == found["ratios"]["p50_ns"] == 1.0
    assert found["ratios"]["throughput"] == pytest.approx(1.0, rel=0.001), "an answer in the very last nanosecond"
    assert told.refused == np.count_nonzero(~run.samples.answered)


def test_a_target_that_loses_time_is_named() -> None:
    """Slower than the margin is a finding with its size; faster is one about the curve."""
    told = predict(BatcherConfig(max_batch_size=8), CURVE, LOAD.due_ns)
    slow, same, fast = (compare(told, _run(told, factor)) for factor in (1 / 0.7, 1.1, 0.7))

    assert (slow["verdict"], same["verdict"], fast["verdict"]) == ("SLOWER", "AS PREDICTED", "FASTER")
    assert slow["finding"].startswith("loses 30% somewhere: answers take 1.43 times")
    assert (same["finding"], slow["lost"]) == ("", pytest.approx(0.3, abs=0.001))
    assert "these are wrong" in fast["finding"]
    assert compare(told, _run(told, 1.1), margin_of("reference"))["verdict"] == "SLOWER"
    assert (margin_of("triton-docker"), margin_of("somebody:else"), margin_of("virtual")) == (0.15, 0.15, 0.05)


def test_a_closed_loop_is_judged_by_its_rate() -> None:
    """And so is an open one with more load than capacity: latency has no mean there."""
    config = BatcherConfig(max_batch_size=8)
    over = predict(config, CURVE, poisson(1.5 * CAPACITY, 0.5, 11).due_ns)
    for told in (predict_closed(config, CURVE, 16, 4000), over):
        found = compare(told, _run(told, 1 / 0.7))
        assert found["verdict"] == "SLOWER"
        assert found["finding"].startswith("loses 30% somewhere: requests per second are 0.70 times")
    assert predict_closed(config, CURVE, 16, 4000).throughput == pytest.approx(CAPACITY, rel=0.01)


def test_what_cannot_be_judged_is_not() -> None:
    """Invalid runs, loads near capacity, missing answers: UNJUDGED, with the reason."""
    config = BatcherConfig(max_batch_size=8)
    told, near = (predict(config, CURVE, poisson(load * CAPACITY, 1.0, 11, exact=True).due_ns) for load in (0.7, 0.96))
    found = [
        compare(told, _run(told, 2, reasons=("the host stood still",))),
        compare(near, _run(near, 2)),
        compare(told, _run(told, 2, outcome="lost")),
    ]

    assert [one["verdict"] for one in found] == ["UNJUDGED"] * 3
    assert [one["finding"] for one in found] == [""] * 3
    assert found[0]["why"] == "the run is invalid: the host stood still"
    assert "near to capacity" in found[1]["why"]
    assert "were not answered" in found[2]["why"]


def test_overruns_and_the_way() -> None:
    """What keeps the instance busy costs throughput; what does not only adds to the latency."""
    config = BatcherConfig(max_batch_size=8)
    bare, busy, far = (predict(config, CURVE, LOAD.due_ns, **more) for more in ({}, {"overrun_ns": MS}, {"way_ns": MS}))

    assert far.mean_ns == pytest.approx(bare.mean_ns + MS)
    assert far.p99_ns == bare.p99_ns + MS
    assert busy.mean_ns > far.mean_ns
    assert busy.load > bare.load == pytest.approx(far.load)
    assert overrun(CURVE, [1, 8, 4], [CURVE.at(1) + 50, CURVE.at(8) + 70, 10 * MS]) == 70
    assert overrun(CURVE, [1], [1]) == 0
    with pytest.raises(ValueError, match="0 times for 1 batches"):
        overrun(CURVE, [1], [])


def test_a_grid_is_a_prediction_each() -> None:
    """In the order of the configurations."""
    configs = [BatcherConfig(max_batch_size=size) for size in (2, 4, 8)]
    told = grid(configs, CURVE, LOAD.due_ns)

    assert [one.config for one in told] == configs
    assert [one.summary() for one in told] == [predict(config, CURVE, LOAD.due_ns).summary() for config in configs]
    assert told[0].mean_ns > told[1].mean_ns > told[2].mean_ns, "the load is beyond what small batches serve"


class _Slow:
    """Takes half as long again as it is told to."""

    def __init__(self) -> None:
        self.info = VirtualTarget().info

    def deploy(self, config: BatcherConfig) -> Any:
        inner = VirtualTarget().deploy(config)

        def submit(one: Request) -> Future[Any]:
            return inner.submit(replace(one, work_ns=one.work_ns * 3 // 2, row_work_ns=one.row_work_ns * 3 // 2))

        return SimpleNamespace(submit=submit, clock=inner.clock, close=inner.close)


def test_a_target_against_its_oracle(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Calibrated, loaded and simulated: the virtual target is as predicted; one that loses a third is named."""
    good = list(against.against(VirtualTarget(), seconds=0.5, delays_ns=(MS,)))
    slow = next(against.against(_Slow(), seconds=0.5, delays_ns=(0,)))

    assert [one["asked"] for one in good] == ["16 clients", "load 0.3", "load 0.6", "load 0.8", "load 0.9"]
    assert {one["verdict"] for one in good} == {"AS PREDICTED"}
    assert good[1]["overrun_ns"] < 1000
    assert good[1]["way_ns"] < 1000
    assert (slow["verdict"], slow["finding"].partition(":")[0]) == ("SLOWER", "loses 33% somewhere")

    for target, status in ((VirtualTarget, 0), (_Slow, 1)):
        monkeypatch.setattr(against, "resolve", lambda _spec, target=target: target())
        monkeypatch.setattr(against, "DELAYS_NS", (0,))
        assert against.main(["--seconds", "0.3"]) == status
    assert "SLOWER" in capsys.readouterr().out

    found, bad = {"verdict": "SLOWER", "finding": "loses", "why": ""}, SimpleNamespace(valid=False)
    assert against._trusted(found, SimpleNamespace(valid=True)) == found
    assert against._trusted(found, bad)["verdict"] == "UNJUDGED", "its calibration was no measurement"


def test_both_programs_print_their_table(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Check says what disagrees in its status; speed names every case."""
    point = next(check.points())
    monkeypatch.setattr(check, "points", lambda: iter([point]))
    assert check.main(["--requests", "2000"]) == 0
    assert "| one at a time (M/D/1) | load 0.5 | p99, ms | 8.6725 |" in capsys.readouterr().out
    monkeypatch.setattr(check, "points", lambda: iter([replace(point, theory={"mean": 9e9})]))
    assert check.main(["--requests", "2000"]) == 1
    assert "DISAGREES" in capsys.readouterr().out

    assert speed.main(["--requests", "300"]) == 0
    printed = capsys.readouterr().out
    assert all(f"| {name} |" in printed for name, *_ in speed.CASES)
