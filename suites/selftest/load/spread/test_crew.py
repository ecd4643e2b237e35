"""A real Locust master and real workers on loopback: what they send, and what becomes of them. No test asserts a time."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import pytest

from batchproof.exit_status import ExitStatus
from batchproof.host import keeper
from batchproof.load.schedule import poisson
from batchproof.load.spread.ask import Wanted
from batchproof.load.spread.crew import Crew, CrewError
from batchproof.suites.selftest.load.spread.http_witness import http_witness
from batchproof.targets.kit.routes import Route
from batchproof.targets.protocol import Misuse

if TYPE_CHECKING:
    from collections.abc import Iterator

    from batchproof.load.runs import Run

S = 1_000_000_000
STEP_S = 0.05
LONG_S = 60.0
OTHER_VERSION = "import batchproof, runpy; batchproof.__version__ = '1999.1'; runpy.run_module('{}', run_name='__main__')"
NOISE = ("the generator was late", "the host stalled", "its requests are known to within", "the rate was not reached")


@pytest.fixture(autouse=True)
def has_locust() -> None:
    """Skip the test if Locust is not installed. It is not imported, because gevent patches whatever it finds."""
    if find_spec("locust") is None:
        pytest.skip("Locust is not installed: pip install 'batchproof[spread]'")


@pytest.fixture
def server() -> Iterator[tuple[str, list[int]]]:
    """A server, and the serials of what it was asked."""
    with http_witness() as found:
        yield found


def sent(crew: Crew, address: str, seconds: float = 1.0) -> Run:
    """Send 100 requests a second."""
    return crew.open_loop(Route("http", address, "/infer"), poisson(100, seconds, 7), wait_ns=30 * S)


def apart_from_noise(run: Run) -> list[str]:
    """Return what speaks against a run, and is not the doing of a busy host."""
    return [why for why in run.validity.reasons if not any(one in why for one in NOISE)]


def processes() -> set[int]:
    """Return the processes below this one."""
    return set(keeper.descendants(os.getpid()))


def until(over: Any) -> bool:
    """Wait."""
    deadline = time.monotonic() + LONG_S
    while not over():
        if time.monotonic() > deadline:
            return False
        time.sleep(STEP_S)
    return True


def joins(said: list[str], program: tuple[str, ...], names: tuple[str, ...]) -> Any:
    """Return a `said` that starts these workers as soon as the master can be reached, and keeps their processes."""
    started: list[subprocess.Popen[str]] = []

    def hear(text: str) -> None:
        said.append(text)
        if "--master " in text:
            address = text.rpartition(" ")[2]
            host, port = address.split(":")
            for name in names:
                words = [one.format(address=address, host=host, port=port, name=name) for one in program]
                started.append(subprocess.Popen(
                    [sys.executable, *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                    text=True))  # fmt: skip

    hear.started = started  # type: ignore[attr-defined]
    return hear


def ended(hear: Any) -> list[tuple[subprocess.Popen[str], str]]:
    """Return these workers with what they printed, once they have ended."""
    return [(worker, worker.communicate(timeout=LONG_S)[0]) for worker in hear.started]


LOAD_WORKER = ("-m", "batchproof", "load-worker", "--master", "{address}", "--name", "{name}")


def test_two_workers_send_one_schedule_and_nothing_is_left(server: tuple[str, list[int]]) -> None:
    """Every request reaches the server once; the samples are in the schedule's order; twice, as a bench has many runs."""
    address, seen = server
    before = processes()
    with Crew(2) as crew:
        for _ in range(2):
            seen.clear()
            run = sent(crew, address)
            assert apart_from_noise(run) == []
            assert run.samples.outcomes() == {"answered": run.samples.count}
            assert run.samples.scheduled_ns.tolist() == poisson(100, 1, 7).due_ns.tolist()
            assert (run.samples.done_ns >= run.samples.sent_ns).all()
            assert sorted(number - min(seen) for number in seen) == list(range(run.samples.count))
            for facts in run.host["workers"].values():
                clock = facts["clock"]
                assert abs(clock["offset_ns"]) <= clock["within_ns"] + 2_000  # it is the same clock
                assert abs(clock["drift_ppm"]) <= clock["drift_within_ppm"] + 1
    assert until(lambda: processes() <= before)


def test_a_worker_that_is_killed_makes_the_run_invalid_with_its_name(server: tuple[str, list[int]]) -> None:
    """It ends at once, although the schedule has a minute left, and so does each later run."""
    before = processes()
    with Crew(2) as crew:
        threading.Thread(target=kill_when_seen, args=(crew, "local-2", server[1], signal.SIGKILL)).start()
        run = sent(crew, server[0], 60)
        assert run.validity.reasons[0] == "worker 'local-2' was lost: its process was killed by SIGKILL"
        assert sent(crew, server[0]).validity.reasons == run.validity.reasons[:1]
    assert until(lambda: processes() <= before)


def test_a_worker_that_hangs_makes_the_run_invalid_with_its_name(
    server: tuple[str, list[int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A stopped process says nothing any more, and is ended like the others."""
    monkeypatch.setattr("batchproof.load.spread.member.SILENCE_S", 3.0)
    before = processes()
    with Crew(2) as crew:
        threading.Thread(target=kill_when_seen, args=(crew, "local-1", server[1], signal.SIGSTOP)).start()
        run = sent(crew, server[0], 60)
    assert apart_from_noise(run)[:1] == ["worker 'local-1' was lost: it has been silent for 3 s"]
    assert until(lambda: processes() <= before)


def kill_when_seen(crew: Crew, name: str, seen: list[int], number: int) -> None:
    """Send a signal to a worker as soon as the load has begun."""
    until(lambda: seen)
    crew._processes[name].send_signal(number)


def test_nothing_listens_at_the_target() -> None:
    """The run is not made, and every worker says so."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{free.getsockname()[1]}"
        with Crew(1) as crew:
            run = sent(crew, f"http://{address}")
    assert run.validity.reasons == (f"worker 'local-1' was lost: TargetError: nothing listens at {address}",)


def test_workers_come_from_elsewhere_and_go_home(server: tuple[str, list[int]]) -> None:
    """`batchproof load-worker` serves one crew, and ends with status 0 when that has done its work."""
    said: list[str] = []
    hear = joins(said, LOAD_WORKER, ("here", "there"))
    with Crew(2, ours=False, said=hear) as crew:
        assert [member.name for member in crew.present()] == ["here", "there"]
        assert apart_from_noise(sent(crew, server[0])) == []
    for worker, output in ended(hear):
        assert (worker.returncode, output.splitlines()[-1]) == (ExitStatus.FINE, "the crew has done its work")


def test_a_plain_locust_worker_with_our_file_will_do(server: tuple[str, list[int]]) -> None:
    """On machines where a team starts Locust by other means."""
    file = str(find_spec("batchproof.load.spread.worker").origin)  # type: ignore[union-attr]
    words = ("-m", "locust", "-f", file, "--worker", "--master-host", "{host}", "--master-port", "{port}")
    hear = joins([], words, ("any",))
    with Crew(1, ours=False, said=hear) as crew:
        assert apart_from_noise(sent(crew, server[0])) == []
    ended(hear)


def test_a_worker_that_comes_twice_is_turned_away() -> None:
    """The second one is told what to do, and the master says who it was; the crew is complete without it."""
    said: list[str] = []
    hear = joins(said, LOAD_WORKER, ("twin", "twin", "other"))
    with Crew(2, ours=False, said=hear) as crew:
        assert [member.name for member in crew.present()] == ["other", "twin"]
        assert until(lambda: any("turned away" in text for text in said))
    ends = sorted((worker.returncode, output.splitlines()[-1]) for worker, output in ended(hear))

    assert [status for status, _ in ends] == [ExitStatus.FINE, ExitStatus.FINE, ExitStatus.MISUSE]
    assert ends[-1][1] == "batchproof: there is a worker 'twin' already: give each its own --name"
    assert sum("turned away: worker 'twin' of " in text for text in said) == 1


def test_a_worker_of_another_version_is_turned_away() -> None:
    """What it would send could mean something else."""
    program = ("-c", OTHER_VERSION.format("batchproof.load.spread.worker"), "{host}", "{port}", "{name}", "30")
    said: list[str] = []
    old, new = joins(said, program, ("old",)), joins([], LOAD_WORKER, ("new",))
    with Crew(1, ours=False, said=lambda text: (old(text), new(text))) as crew:
        assert until(lambda: any("turned away" in text for text in said))
        assert [member.name for member in crew.present()] == ["new"]
    ((_, output),), _ = ended(old), ended(new)

    assert "and the worker 1999.1: install the same version on both" in next(text for text in said if "turned" in text)
    assert '"how": "wrong"' in output


def test_a_worker_that_is_stopped_leaves() -> None:
    """Ctrl-C on its machine: the master learns it at once, and the worker ends as interrupted."""
    hear = joins([], LOAD_WORKER, ("guest",))
    with Crew(1, ours=False, said=hear) as crew:
        hear.started[0].send_signal(signal.SIGINT)
        assert until(crew.lost)
        assert crew.members["guest"].lost == "it left: it was stopped"
        output, _ = hear.started[0].communicate(timeout=LONG_S)
    assert (hear.started[0].returncode, output.splitlines()[-1]) == (ExitStatus.INTERRUPTED, "batchproof: interrupted")


def test_nobody_arrives() -> None:
    """The message says how many are missing, and how to start one."""
    before = processes()
    with pytest.raises(CrewError, match="0 of 3 workers arrived within 1 s: start the others with batchproof load-worker"):
        Crew(3, ours=False, join_s=1)
    assert until(lambda: processes() <= before)


def test_the_masters_port_is_taken() -> None:
    """One message, and nothing is left."""
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        with pytest.raises(Misuse, match=f"no master can listen at 127.0.0.1:{port}: Address already in use"):
            Crew(1, bind=("127.0.0.1", port), ours=False)


def test_a_master_that_dies_is_an_error_and_leaves_nothing(server: tuple[str, list[int]]) -> None:
    """The workers that were started here end with the crew."""
    before = processes()
    with Crew(1) as crew:
        crew._master.send_signal(signal.SIGKILL)
        with pytest.raises(CrewError, match="Locust's master was killed by SIGKILL"):
            sent(crew, server[0], 60)
    assert until(lambda: processes() <= before)


def test_without_a_master_a_worker_gives_up() -> None:
    """Its message says where it looked."""
    words = [sys.executable, "-m", "batchproof", "load-worker", "--master", "127.0.0.1:1", "--patience-s", "1"]
    ended = subprocess.run(words, capture_output=True, text=True, timeout=LONG_S, check=False)

    assert (ended.returncode, ended.stderr) == (
        ExitStatus.UNAVAILABLE, "batchproof: no master answers at 127.0.0.1:1 after 1 s\n"
    )  # fmt: skip


@pytest.mark.parametrize("address", ["host", "host:", ":5557", "host:x", "host:70000"])
def test_an_address_without_a_port(address: str) -> None:
    """The message says how to write it."""
    with pytest.raises(Misuse, match=f"--workers-from {address}: write HOST:PORT"):
        Wanted(2, address).crew(lambda _text: None)


def test_how_many_will_come_has_to_be_said() -> None:
    """Else nobody knows when all are here."""
    with pytest.raises(Misuse, match="--workers-from needs --workers"):
        Wanted(0, "127.0.0.1:5557").crew(lambda _text: None)
