"""Locust and our load generator: workers share one schedule, and what they record is judged like our own samples."""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from batchproof.load.samples import OUTCOMES
from batchproof.load.schedule import Schedule, constant, parse
from batchproof.load.second_opinion import locust_run as locusts
from batchproof.load.second_opinion.opinion import ToolFailed
from batchproof.stats.arrays import NEVER
from batchproof.suites.selftest.samples import recorded

if TYPE_CHECKING:
    from collections.abc import Iterator

MS = 1_000_000
# What Locust 2.47.0 wrote, shortened.
STATS = """\
Type,Name,Request Count,Failure Count,Median Response Time,Requests/s,Failures/s,50%,66%,75%,80%,90%,95%,98%,99%,99.9%
grpc,infer,485,0,22,202.14186138602054,0.0,22,25,26,28,34,41,51,58,64
,Aggregated,485,0,22,202.14186138602054,0.0,22,25,26,28,34,41,51,58,64
"""


def has_locust() -> None:
    """Skip the test if Locust is not installed. It is not imported, because gevent patches whatever it finds."""
    if find_spec("locust") is None:
        pytest.skip("Locust is not installed: pip install 'batchproof[opinions]'")


def test_the_samples_of_workers_are_merged() -> None:
    """They come in the order of the schedule, each worker's with its own column."""
    whole = locusts.merged([recorded([0, 20], [1, 21], [9, 30]), recorded([10, 30], [11, 31], [19, NEVER], failed=(1,))])

    assert whole.scheduled_ns.tolist() == [0, 10, 20, 30]
    assert whole.done_ns.tolist() == [9, 19, 30, NEVER]
    assert [OUTCOMES[one] for one in whole.outcome] == ["answered", "answered", "answered", "full"]


def test_the_statistics_of_locust_are_read() -> None:
    """The line for all requests is read, in ns."""
    assert locusts.parse_stats(STATS) == {"throughput": 202.14186138602054, "p50": 22e6, "p90": 34e6, "p99": 58e6}
    with pytest.raises(ToolFailed, match="no line of all requests"):
        locusts.parse_stats(STATS.replace("Aggregated", "other"))


def test_a_run_of_locust_is_judged_like_ours() -> None:
    """The figures count from the schedule. Missing answers, and sending late, make them INVALID."""
    schedule, scheduled = constant(100, 1.0), [n * 10 * MS for n in range(100)]
    good = recorded(scheduled, scheduled, [at + 5 * MS for at in scheduled])
    late = recorded(scheduled, [at + 3 * MS for at in scheduled], [at + 5 * MS for at in scheduled])
    lost = recorded(scheduled, scheduled, [*(at + 5 * MS for at in scheduled[:-1]), 2000 * MS], failed=(99,))
    said = {"throughput": 90.0, "p50": 5e6}

    opinions = [locusts.opinion(one, said, schedule, "2", workers=2, wire="grpc") for one in (good, late, lost)]

    assert [one.valid for one in opinions] == [True, False, False]
    assert (opinions[0].throughput, opinions[0].latency_ns()["p50"], opinions[0].said_ns["p50"]) == (100.0, 5 * MS, 5 * MS)
    assert opinions[1].reasons == ("the p99 of its send lag is 3.0 ms, of a p99 of 5.0 ms",)
    assert opinions[2].reasons == ("1 of 100 requests got no answer",)


def test_workers_must_be_able_to_make_the_schedule() -> None:
    """A schedule with a text that gives other arrivals is refused before anything starts."""
    has_locust()
    other = Schedule(np.array([0, 5], dtype=np.int64), "constant:rate=1,seconds=5")
    with pytest.raises(ValueError, match="cannot make this schedule again"):
        locusts.measure("127.0.0.1:1", "model", [0], other)


@pytest.fixture
def server() -> Iterator[tuple[str, list[int]]]:
    """A gRPC server that answers ModelInfer with nothing, and keeps the first number of each request."""
    import grpc
    from tritonclient.grpc import service_pb2, service_pb2_grpc

    seen: list[int] = []

    class Service(service_pb2_grpc.GRPCInferenceServiceServicer):
        def ModelInfer(self, request: Any, context: Any) -> Any:  # noqa: N802
            number = int(np.frombuffer(request.raw_input_contents[0], dtype=np.int64)[0])
            seen.append(number)
            if number == 11:
                context.abort(grpc.StatusCode.UNAVAILABLE, "Exceeds maximum queue size")
            return service_pb2.ModelInferResponse(model_name=request.model_name)

    running = grpc.server(ThreadPoolExecutor(8))
    service_pb2_grpc.add_GRPCInferenceServiceServicer_to_server(Service(), running)
    port = running.add_insecure_port("127.0.0.1:0")
    running.start()
    yield f"127.0.0.1:{port}", seen
    running.stop(None).wait()


def test_two_workers_send_one_schedule(server: tuple[str, list[int]]) -> None:
    """Each request is sent once and none early, and nothing of gevent is imported into this process."""
    has_locust()
    address, seen = server
    before = "gevent" in sys.modules  # tritonclient.http brings it, in other tests
    schedule = parse("poisson:rate=60,seconds=1,seed=5")

    opinion = locusts.measure(address, "model", [0] * 8, schedule, start_s=80.0)

    got = opinion.samples
    assert got is not None
    assert got.scheduled_ns.tolist() == schedule.due_ns.tolist()
    assert sorted(seen) == sorted([1, 1, *range(1, schedule.count + 1)])  # each worker connects with a request of its own
    assert got.client.tolist() == [n % 2 for n in range(schedule.count)]
    assert got.lag_ns.min() >= 0
    assert got.outcomes() == {"answered": schedule.count - 1, "full": 1}
    assert OUTCOMES[got.outcome[10]] == "full"
    assert not opinion.valid
    assert ("gevent" in sys.modules) == before
