"""Theory against simulation: `batchproof lab theory` prints the table.

Each scenario is simulated with 20 independent seeds; the means of the 20 runs are independent, so their own spread gives the
Monte-Carlo error (`gates.agrees`). A row fails if theory is outside the interval of the mean; a correct row fails with one
seed in 100,000. So a table with a hundred correct rows shows a FAIL with fewer than 1 seed in 1000.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from batchproof.bench.oracle import chains, theory
from batchproof.reference_batcher.config import BatcherConfig
from batchproof.reference_batcher.simulator import SimulatedRun, simulate, simulate_closed
from batchproof.stats import gates
from batchproof.stats.gates import PASS, Answer, within
from batchproof.stats.percentile import percentile

SEEDS = 20
CONFIDENCE = 1 - 0.5e-5  # one-sided: 5.95 standard errors of 20 runs
REQUESTS = 50_000
WARM = 1500  # requests that come before: until the queue has forgotten that it began empty
TAIL = 50  # requests that come after: the last of all wait for company that does not come
MS = 1e6
BASE_NS, ROW_NS = 2_000_000, 200_000
ROUNDING = 2.0  # ns: the simulator's time is whole
SLACK = 1e-9


@dataclass(frozen=True)
class Scenario:
    """A configuration under Poisson arrivals: what theory says of it, by name, and how to read that off a simulation."""

    what: str
    at: str
    config: BatcherConfig
    tau_ns: tuple[int, ...]
    rate: float
    theory: dict[str, float]


@dataclass(frozen=True)
class Row:
    """One number on both sides: ns, rows of a batch (`batch`) or requests/s (`rate`).

    error: one standard error of the simulated mean. verdict: PASS if the simulation does not refute the theory.
    """

    what: str
    at: str
    name: str
    theory: float
    simulated: float
    error: float
    verdict: Answer

    @property
    def sigmas(self) -> float:
        """How many errors apart."""
        return (self.simulated - self.theory) / self.error if self.error else 0.0


def scenarios() -> Iterator[Scenario]:
    """Every open-loop scenario of the table."""
    yield from _one_at_a_time()
    yield from _greedy()
    yield from _delayed()
    yield from _windows()


def measured(scenario: Scenario, seed: int, requests: int) -> dict[str, float]:
    """Simulate a scenario once, and read from so many requests in its middle what theory names."""
    gaps = np.random.default_rng(seed).exponential(1e9 / scenario.rate, WARM + requests + TAIL)
    played = simulate(scenario.config, np.cumsum(gaps).astype(np.int64), scenario.tau_ns)
    steady = slice(WARM, WARM + requests)
    return {name: READ[name](played, steady) for name in scenario.theory}


def rows(scenario: Scenario, seed: int, requests: int = REQUESTS) -> list[Row]:
    """Compare a scenario with 20 simulations, with seeds derived from `seed`."""
    seeds = np.random.SeedSequence([seed, *scenario.at.encode(), *scenario.what.encode()]).generate_state(SEEDS)
    runs = [measured(scenario, int(one), requests) for one in seeds]
    found = []
    for name, expected in scenario.theory.items():
        values = [run[name] for run in runs]
        error = statistics.stdev(values) / SEEDS**0.5
        rounding = SLACK * expected if name == "batch" else ROUNDING
        verdict = gates.agrees(values, expected, CONFIDENCE, rounding).verdict
        found.append(Row(scenario.what, scenario.at, name, expected, statistics.fmean(values), error, verdict))
    return found


def closed_rows(rounds: int = 500, max_batch: int = 8) -> list[Row]:
    """Compare the closed loop with the simulation. Chance plays no part: the rates, in 1/s, must be equal."""
    tau_ns, found = service_times(max_batch), []
    for clients in (1, 2, 4, 8, 12, 16, 24):
        played = simulate_closed(BatcherConfig(max_batch_size=max_batch), clients, clients * rounds, tau_ns)
        starts, sizes = played.batch_start_ns, played.sizes
        first = len(starts) // 4
        last = first + (len(starts) // 2 // CYCLE) * CYCLE
        served = float(sizes[first:last].sum()) / float(starts[last] - starts[first]) * 1e9
        exact = theory.closed_loop(clients, BASE_NS, ROW_NS, max_batch)
        verdict = gates.figure(served, within(exact - ROUNDING, exact + ROUNDING)).verdict
        found.append(Row("closed loop", f"{clients} clients, M {max_batch}", "rate", exact, served, 0.0, verdict))
    return found


CYCLE = 2  # the batches of two cohorts


def service_times(max_batch: int) -> tuple[int, ...]:
    """Service times of 2 ms + 0.2 ms a row, indexed by rows."""
    return tuple(BASE_NS + ROW_NS * size for size in range(max_batch + 1))


def _batch(played: SimulatedRun, steady: slice) -> float:
    first_ns, *_, last_ns = played.due_ns[steady].tolist()
    return float(played.sizes[(played.batch_start_ns > first_ns) & (played.batch_start_ns <= last_ns)].mean())


def _percentile(percent: int) -> Read:
    return lambda played, steady: float(percentile(played.latency_ns[steady], percent))


Read = Callable[[SimulatedRun, slice], float]
READ: dict[str, Read] = {
    "mean": lambda played, steady: float(played.latency_ns[steady].mean()),
    **{f"p{percent}": _percentile(percent) for percent in (50, 90, 99)},
    "wait": lambda played, steady: float((played.start_ns - played.due_ns)[steady].mean()),
    "batch": _batch,
}


def _one_at_a_time() -> Iterator[Scenario]:
    service = 2_000_000
    for load in (0.5, 0.7, 0.9):
        rate = load / service * 1e9
        told = {"mean": theory.md1_mean_ns(rate, service)}
        # At load 0.5 the median sits at the very edge of the atom at the service time, where no sample median is unbiased.
        percents = (90, 99) if load == 0.5 else (50, 90, 99)
        told |= {f"p{percent}": theory.md1_percentile_ns(rate, service, percent) for percent in percents}
        yield Scenario("one at a time (M/D/1)", f"load {load}", BatcherConfig(max_batch_size=1), (0, service), rate, told)


def _greedy() -> Iterator[Scenario]:
    tau = service_times(8)
    capacity = 8 / tau[8] * 1e9
    for load in (0.1, 0.3, 0.5, 0.7, 0.8, 0.9):
        told = _means(chains.bulk(load * capacity, tau, 8))
        yield Scenario("greedy, M 8", f"load {load}", BatcherConfig(max_batch_size=8), tau, load * capacity, told)
    for load, least in ((0.3, 8), (0.7, 8), (0.9, 8), (0.5, 4)):
        told = _means(chains.bulk(load * capacity, tau, 8, least))
        sizes = tuple(range(least, 9))
        config = BatcherConfig(max_batch_size=8, preferred_batch_size=sizes, max_queue_delay_ns=10**15)
        yield Scenario(f"at least {least}, M 8", f"load {load}", config, tau, load * capacity, told)
    wide = service_times(512)
    for rate in (50.0, 200.0, 500.0, 1000.0, 2000.0, 4000.0):
        told = _means(chains.unlimited(rate, BASE_NS, ROW_NS))
        yield Scenario("greedy, no limit (Inoue)", f"{rate:.0f}/s", BatcherConfig(max_batch_size=512), wide, rate, told)


def _delayed() -> Iterator[Scenario]:
    tau = service_times(8)
    capacity = 8 / tau[8] * 1e9
    for load in (0.1, 0.3, 0.5, 0.7, 0.9):
        for delay_ns in (200_000, 1_000_000, 3_000_000):
            told = _means(chains.delayed(load * capacity, tau, 8, delay_ns))
            config = BatcherConfig(max_batch_size=8, max_queue_delay_ns=delay_ns)
            yield Scenario("Triton's rule, M 8", f"load {load}, {delay_ns / MS:g} ms", config, tau, load * capacity, told)


def _windows() -> Iterator[Scenario]:
    for rate, size, delay_ns in ((1000.0, 8, 2_000_000), (5000.0, 16, 2_000_000), (300.0, 4, 10_000_000)):
        told = theory.window(rate, size, delay_ns)
        config = BatcherConfig(max_batch_size=size, max_queue_delay_ns=delay_ns)
        at = f"{rate:.0f}/s, M {size}, {delay_ns / MS:g} ms"
        yield Scenario(
            "window alone", at, config, (1,) * (size + 1), rate, {"wait": told.mean_wait_ns, "batch": told.mean_batch}
        )


def _means(steady: chains.Steady) -> dict[str, float]:
    return {"mean": steady.mean_ns, "batch": steady.mean_batch}


def print_table(requests: int = REQUESTS, seed: int = 1729) -> int:
    """Print the table as Markdown; return how many rows fail.

    requests: in each of the 20 simulations of a scenario.
    """
    print(f"20 seeds of {requests} requests a scenario, seed {seed}; tau(b) = 2 ms + 0.2 ms b, M/D/1: 2 ms")
    print("\n| queue | at | what | theory | simulated | +- 1 sigma | sigmas apart | verdict |\n" + "|---" * 8 + "|")
    wrong = 0
    for row in _all(seed, requests):
        wrong += row.verdict != PASS
        unit = {"batch": 1.0, "rate": 1.0}.get(row.name, MS)
        name = {"batch": "rows of a batch", "rate": "requests/s"}.get(row.name, f"{row.name}, ms")
        figures = " | ".join(f"{value / unit:.4f}" for value in (row.theory, row.simulated, row.error))
        print(f"| {row.what} | {row.at} | {name} | {figures} | {row.sigmas:+.1f} | {row.verdict} |")
    print(f"\n{wrong} rows fail (confidence of each: {CONFIDENCE:.6f})")
    return wrong


def _all(seed: int, requests: int) -> Iterator[Row]:
    for scenario in scenarios():
        yield from rows(scenario, seed, requests)
    yield from closed_rows()
