"""The simulator under test: it does what the batcher does, to the nanosecond."""

from __future__ import annotations

import time
from concurrent.futures import Future
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from batchproof.bench.oracle import theory_validation as validation
from batchproof.load.runs import closed_loop
from batchproof.load.schedule import poisson
from batchproof.reference_batcher import BatcherConfig, Expired, QueuePolicy
from batchproof.reference_batcher.simulator import NEVER, SimulatedRun, has_closed_form, simulate, simulate_closed
from batchproof.reference_batcher.virtual import VirtualBatcher, VirtualClock
from batchproof.targets.protocol import Request
from batchproof.targets.virtual import VirtualTarget
from batchproof.targets.witness.probe import Payload

US, MS = 1_000, 1_000_000
PROFILE = settings(
    max_examples=200, deadline=None, derandomize=True, database=None, print_blob=False,
    suppress_health_check=list(HealthCheck), phases=[Phase.generate, Phase.shrink],
)  # fmt: skip
TAU = validation.service_times(8)
CAPACITY = 8 / TAU[8] * 1e9


@st.composite
def _plain(draw: Any) -> tuple[BatcherConfig, list[int], list[int]]:
    """Configurations for the quick path; times are so coarse that many events share a nanosecond."""
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
    """`VirtualBatcher` with a model that takes tau_ns[rows], and the fate of each request."""

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
        """Return everything that was seen, for comparison."""
        late = [number for number in range(count) if self.refused.get(number)]
        full = [number for number in range(count) if self.refused.get(number) is False]
        starts, done = ([one.get(number, NEVER) for number in range(count)] for one in (self.starts, self.done))
        return starts, done, self.sizes, full, late


def _seen(one: SimulatedRun) -> tuple[Any, ...]:
    masks = (np.flatnonzero(one.refused).tolist(), np.flatnonzero(one.expired).tolist())
    return one.start_ns.tolist(), one.done_ns.tolist(), one.sizes.tolist(), *masks


@PROFILE
@given(_plain())
def test_the_quick_path_is_the_general_one(given: Any) -> None:
    """A batch at a time, or request by request through the core: the results are the same to the nanosecond."""
    config, tau_ns, due = given
    quick, general = simulate(config, due, tau_ns), simulate(config, due, tau_ns, quick=False)

    assert _seen(quick) == _seen(general)
    assert quick.batch_start_ns.tolist() == general.batch_start_ns.tolist()
    assert quick.answered.all()


@PROFILE
@given(_any())
def test_the_simulator_is_the_virtual_batcher(given: Any) -> None:
    """For any configuration and any requests, starts, answers, batches and refusals are those of the virtual-time shell."""
    config, tau_ns, due, each = given
    shell = _Shell(config, tau_ns, each)
    for number, when_ns in enumerate(due):
        shell.clock.sleep_until_ns(when_ns)
        shell.send(number)
    shell.clock.sleep_until_ns(10**12)

    assert _seen(simulate(config, due, tau_ns, **each)) == shell.seen(len(due))


def test_random_configurations_reach_both_paths() -> None:
    """The configurations are of the kinds that they are for, so neither test above is empty."""
    assert has_closed_form(BatcherConfig(max_batch_size=4, max_queue_delay_ns=US, instances=2, preserve_ordering=True))
    for more in ({"queue_timeout_ns": US}, {"max_queue_size": 3}, {"preferred_batch_size": (2,)}):
        assert not has_closed_form(BatcherConfig(max_batch_size=4, **more))
    assert has_closed_form(BatcherConfig(max_batch_size=4, preferred_batch_size=(4,)))


@pytest.mark.parametrize("quick", [True, False])
def test_what_ends_comes_before_what_arrives(quick: bool) -> None:
    """Within one nanosecond a batch ends first, then a delay, and then requests arrive one by one."""

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
    """The clients send in a callback: the result is that of the load generator's closed loop on the virtual target."""
    config = BatcherConfig(max_batch_size=4, **more)
    served = VirtualTarget().deploy(config)

    def submit(number: int) -> Future[Any]:
        return served.submit(Request("load", number, Payload(work_ns=2 * MS, row_work_ns=MS)))

    run = closed_loop(submit, served.clock, clients, wait_ns=10**12, requests=200)
    told = simulate_closed(config, clients, 200, [2 * MS + MS * rows for rows in range(5)], answers_first=True)

    assert run.samples.done_ns[run.samples.answered].tolist() == told.done_ns[told.answered].tolist()
    assert run.samples.scheduled_ns.tolist() == told.due_ns.tolist()
    assert (~run.samples.answered).tolist() == told.refused.tolist()


def test_a_client_belongs_to_the_cohort_of_the_next_batch() -> None:
    """A client that sends after the instance took its next batch is in the other cohort; before, it is in the same."""
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
def test_what_cannot_be_simulated_is_refused(change: dict[str, Any], message: str) -> None:
    """It is a ValueError with the reason."""
    asked: dict[str, Any] = {"config": BatcherConfig(max_batch_size=2), "due_ns": [0, 1], "tau_ns": [0, 5, 6]}
    with pytest.raises(ValueError, match=message):
        simulate(**asked | change)
    with pytest.raises(ValueError, match="closed loop of 3 clients and 2 requests"):
        simulate_closed(BatcherConfig(), 3, 2, TAU)


def test_without_requests_there_are_no_batches() -> None:
    """Simulating nothing gives nothing."""
    for quick in (True, False):
        one = simulate(BatcherConfig(), [], TAU, quick=quick)
        assert (one.throughput, one.mean_batch, one.latency_ns.size) == (0.0, 0.0, 0)


def test_the_quick_path_is_quicker() -> None:
    """A batch at a time is much faster than a request at a time, which is why the quick path exists."""
    due = poisson(0.8 * CAPACITY, 10, 7).due_ns
    spent = []
    for quick in (True, False):
        begun = time.process_time()
        simulate(BatcherConfig(), due, TAU, quick=quick)
        spent.append(time.process_time() - begun)

    assert spent[0] * 2 < spent[1]
