"""One open loop over several workers: whole if all are well, and INVALID with a name if one is late, lost or strange."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from batchproof.load.runs import Run
from batchproof.load.schedule import Schedule, constant, poisson
from batchproof.load.spread import joint_run
from batchproof.load.spread.messages import PIECE
from batchproof.suites.selftest.load.spread.fake_crew import MS, Behaviour, FakeCrew
from batchproof.targets.kit.routes import Route
from batchproof.targets.protocol import Misuse

if TYPE_CHECKING:
    from batchproof.load.spread.messages import Message

S = 1_000_000_000
HTTP = Route("http", "http://127.0.0.1:8000", "/predict")


def sent(crew: FakeCrew, schedule: Schedule, **asked: Any) -> Run:
    """Send a schedule from a crew that is not one."""
    return joint_run.open_loop(crew, HTTP, schedule, wait_ns=S, **asked)  # type: ignore[arg-type]


def test_all_samples_are_those_of_one_schedule() -> None:
    """Three workers, whose clocks are a day and some seconds apart: one run, in the order of the schedule."""
    crew = FakeCrew(a=Behaviour(), b=Behaviour(offset_ns=86_400 * S), c=Behaviour(offset_ns=-7 * S))
    schedule = poisson(1000, 2, 7)

    run = sent(crew, schedule)

    assert (run.kind, run.asked, run.validity.reasons) == ("open", schedule.spec, ())
    assert run.samples.scheduled_ns.tolist() == schedule.due_ns.tolist()
    assert run.samples.done_ns.tolist() == (schedule.due_ns + 10 * MS).tolist()
    assert run.duration_ns == schedule.end_ns
    assert {name: facts["requests"] for name, facts in run.host["workers"].items()} == pytest.approx(
        dict.fromkeys("abc", schedule.count / 3), abs=1
    )


def test_each_starts_by_its_own_clock() -> None:
    """The moment is one; each worker is told what its own clock will show then."""
    crew = FakeCrew(a=Behaviour(), b=Behaviour(offset_ns=3600 * S))

    run = sent(crew, constant(100, 2))

    starts = {name: message["start_ns"] for name, message in crew.asked if message["do"] == "start"}
    assert starts["b"] - starts["a"] == pytest.approx(3600 * S, abs=MS)
    clock = run.host["workers"]["b"]["clock"]
    assert abs(clock["offset_ns"] - 3600 * S) <= clock["within_ns"]


def test_a_worker_gets_what_it_needs_and_no_more() -> None:
    """Due times, an address, a payload and the numbers of its requests: JSON data, each request's number unique."""
    crew = FakeCrew(a=Behaviour(), b=Behaviour())

    sent(crew, constant(10, 1), payload={"work_ns": 5})

    orders = {name: message for name, message in crew.asked if message["do"] == "prepare"}
    assert orders["a"]["route"] == {"wire": "http", "address": "http://127.0.0.1:8000", "name": "/predict"}
    assert (orders["a"]["payload"], orders["a"]["numbers"], orders["b"]["numbers"]) == ({"work_ns": 5}, [0, 2], [1, 2])
    assert orders["a"]["first"] == orders["b"]["first"]


def test_long_columns_come_home_in_pieces() -> None:
    """A schedule that is longer than a message is whole again."""
    schedule = Schedule(np.arange(PIECE * 2 + 7, dtype=np.int64) * 20_000, "by hand")

    run = sent(FakeCrew(a=Behaviour()), schedule)

    assert run.samples.scheduled_ns.tolist() == schedule.due_ns.tolist()
    assert run.validity.reasons == ()


def test_fewer_requests_than_workers() -> None:
    """Workers for whom nothing is left are not asked."""
    crew = FakeCrew(a=Behaviour(), b=Behaviour(), c=Behaviour())

    run = sent(crew, Schedule(np.array([0, S], dtype=np.int64), "by hand"))

    assert run.samples.count == 2
    assert {name for name, _ in crew.asked} == {"a", "b"}


def test_a_worker_that_was_late_makes_the_run_invalid() -> None:
    """What it says against its own share is said of the run, with its name; its figures stay visible as discarded."""
    late = "the generator was late: send lag p99 60.000 ms, allowed 1.000 ms"
    run = sent(FakeCrew(a=Behaviour(), b=Behaviour(late_ns=60 * MS, why=(late,))), constant(100, 2))

    assert run.validity.reasons == (f"worker 'b': {late}",)
    assert run.host["workers"]["b"]["lag_p99_ns"] == 60 * MS
    assert run.host["workers"]["a"]["lag_p99_ns"] == 0
    assert "discarded" in run.summary()


def test_a_worker_that_never_delivers_makes_the_run_invalid() -> None:
    """It hangs after the start: of its requests nothing is known, and the others are told to stop."""
    silent = Behaviour(reply=lambda message: message if message["is"] == "ready" else None)
    run = sent(FakeCrew(a=Behaviour(), b=silent), constant(100, 2))

    assert [why.partition(" within")[0] for why in run.validity.reasons] == [
        "worker 'b' was lost: its samples were not here"
    ]
    assert run.samples.outcomes() == {"answered": 100, "unanswered": 100}


def test_a_worker_that_cannot_connect_is_named_before_anything_is_sent() -> None:
    """Nobody starts."""
    def refuse(message: Message) -> Message:
        return {"is": "failed", "run": message["run"], "why": "TargetError: nothing listens at 10.0.0.9:8001"}

    crew = FakeCrew(a=Behaviour(), b=Behaviour(reply=refuse))
    run = sent(crew, constant(100, 2))

    assert run.validity.reasons == ("worker 'b' was lost: TargetError: nothing listens at 10.0.0.9:8001",)
    assert "start" not in {message["do"] for _, message in crew.asked}
    assert run.samples.outcomes() == {"unanswered": 200}


def test_after_a_loss_nothing_is_sent() -> None:
    """Each later run says who is missing, at once; a worker that is back makes the crew whole."""
    crew = FakeCrew(a=Behaviour(), b=Behaviour())
    crew.members["b"].lose("it left: it was stopped")

    run = sent(crew, constant(100, 2))

    assert (run.validity.reasons, crew.asked) == (("worker 'b' was lost: it left: it was stopped",), [])
    assert run.samples.outcomes() == {"unanswered": 200}


@pytest.mark.parametrize(
    "change",
    [
        {"sent_ns": "AAAA"}, {"done_ns": "no base64!"}, {"outcome": None}, {"outcome": "////"},
    ],
    ids=["too short", "not base64", "missing", "unknown outcome"],
)  # fmt: skip
def test_what_are_not_samples_is_not_believed(change: dict[str, Any]) -> None:
    """A worker that sends something else is lost, with what is wrong."""
    strange = Behaviour(reply=lambda message: {**message, **change} if message["is"] == "columns" else message)
    run = sent(FakeCrew(a=Behaviour(), b=strange), constant(100, 1))

    assert len(run.validity.reasons) == 1
    assert run.validity.reasons[0].startswith("worker 'b' was lost: it sent what are not samples: ")


def test_a_message_without_sense_is_the_end_of_a_worker() -> None:
    """Not of the crew."""
    strange = Behaviour(reply=lambda message: {"is": "exchange", "t1": "x"} if message["is"] == "done" else message)
    run = sent(FakeCrew(a=Behaviour(), b=strange), constant(100, 1))

    assert run.validity.reasons[0].startswith("worker 'b' was lost: it said what makes no sense (exchange: ")


def test_a_clock_that_is_known_too_badly_makes_the_run_invalid() -> None:
    """With messages that take 400 ms, nobody knows within 1 % of two seconds when the requests were sent."""
    run = sent(FakeCrew(a=Behaviour(), far=Behaviour(round_trip_ns=400 * MS)), constant(100, 2))

    (why,) = run.validity.reasons
    assert why.startswith("worker 'far': its requests are known to within ")
    assert why.endswith("1% of the schedule are 20.0 ms")


def test_loopback_leads_to_nobody_else() -> None:
    """A worker in another network cannot reach 127.0.0.1, and there it may even be another server."""
    with pytest.raises(Misuse, match=r"worker 'far' is not on this machine, and http://127\.0\.0\.1:8000 can be reached"):
        sent(FakeCrew(a=Behaviour(), far=Behaviour(place=("elsewhere", ""))), constant(100, 1))


def test_percentiles_are_judged_over_all_workers() -> None:
    """Too few requests for a p99 is a matter of the whole run."""
    crew = FakeCrew(a=Behaviour(), b=Behaviour())

    assert sent(crew, constant(500, 1), slo_ns=S).validity.reasons == ()
    (why,) = sent(crew, constant(400, 1), slo_ns=S).validity.reasons
    assert why == "too few requests for p99: 400, and a bound needs 459"
