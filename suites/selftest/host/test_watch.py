"""What watches the host during a run, and what keeps a virtual machine's processors awake."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from batchproof.bench.measurement import Bench
from batchproof.bench.measurements.overload import saturation
from batchproof.cli import app
from batchproof.host.awake import awake, kept
from batchproof.host.stalls import Stalls, stalls
from batchproof.load.workload import WORKS, Served, Unmeasured
from batchproof.reference_batcher import BatcherConfig
from batchproof.reference_batcher.virtual import VirtualClock
from batchproof.targets.protocol import Response

MS = 1_000_000


@pytest.fixture
def watch():
    found = Stalls()
    yield found
    found.stop()


def test_a_stall_is_seen_from_another_process(watch):
    """A ticker that is stopped for 100 ms has noted a stall of nearly that long, and the one that goes on is seen too."""
    start_ns = time.monotonic_ns()
    os.kill(watch.pid, signal.SIGSTOP)
    time.sleep(0.1)
    under_way = max(stall.late_ns for stall in watch.since(start_ns))
    os.kill(watch.pid, signal.SIGCONT)
    deadline = time.monotonic() + 10
    noted = []
    while not noted and time.monotonic() < deadline:
        time.sleep(0.01)
        now_ns = time.monotonic_ns()
        noted = [one for one in watch.since(start_ns) if one.late_ns > 90 * MS and one.at_ns < now_ns]

    assert under_way > 90 * MS
    assert noted
    assert watch.since(time.monotonic_ns() + 3600 * 1000 * MS) == ()


def test_a_process_has_one_ticker_and_a_new_one_when_it_was_ended():
    """Runs share a ticker; one that was killed is replaced."""
    first = stalls()
    assert stalls() is first

    first.stop()

    assert stalls() is not first
    assert stalls().alive()


def test_processors_are_awake_only_inside():
    """One process a processor computes where nobody else wants to, in any session, and none is left."""
    with awake() as spinners:
        deadline = time.monotonic() + 20
        while time.monotonic() < deadline and any(os.sched_getscheduler(pid) != os.SCHED_IDLE for pid in spinners):
            time.sleep(0.05)
        policies = {os.sched_getscheduler(pid) for pid in spinners}

        asked = [path.read_text().split()[-1] for pid in spinners if (path := Path(f"/proc/{pid}/autogroup")).exists()]
        assert kept()

    assert not kept()
    assert policies == {os.SCHED_IDLE}
    assert set(asked) <= {"19"}, "a server in a session of its own would share its processors with them"
    assert len(spinners) == len(os.sched_getaffinity(0))
    assert not any(Path(f"/proc/{pid}").exists() for pid in spinners)


@pytest.mark.parametrize(
    ("command", "status"),
    [((sys.executable, "-c", "raise SystemExit(7)"), 7), (("no-such-program",), 1), ((), 1)],
    ids=["status", "missing", "nothing"],
)
def test_awake_is_a_command(command, status):
    """It exits as the command does; without one that can be run it says so."""
    asked = [sys.executable, "-m", "batchproof.host.awake", *command]
    ended = subprocess.run(asked, capture_output=True, text=True, timeout=60, check=False)

    assert ended.returncode == status
    assert "Traceback" not in ended.stderr
    assert command[:1] == (sys.executable,) or ended.stderr.startswith(("cannot run no-such-program", "usage: "))


@pytest.mark.parametrize(
    ("command", "lines"),
    [("check --rules DB-SIZE-001", "report.jsonl"), ("bench --only static --quick", "bench.jsonl")],
    ids=["check", "bench"],
)
def test_our_commands_can_keep_them_awake(tmp_path, command, lines):
    """`--awake`: the report says so."""
    asked = [*command.split(), "--awake", "--target", "virtual", "--report", str(tmp_path)]
    ended = subprocess.run([sys.executable, "-m", "batchproof", *asked], capture_output=True, timeout=60, check=False)

    assert ended.returncode == 0, ended.stderr
    header = json.loads((tmp_path / lines).read_text().splitlines()[0])
    assert header["host"]["awake"] is True
    assert ("--awake" in header["command"]) == (lines == "bench.jsonl"), "a verdict on a rule does not depend on it"


def test_a_system_that_cannot_is_told_so(monkeypatch, capsys):
    """One line, and the status of misuse."""
    monkeypatch.delattr(os, "SCHED_IDLE")

    with pytest.raises(SystemExit) as ended:
        app(["tune", "--target", "virtual", "--awake"])

    assert ended.value.code == 2
    assert "needs the SCHED_IDLE of Linux" in capsys.readouterr().err


def test_a_target_without_an_answer_has_no_capacity(bench_of_nobody):
    """What compares with the capacity has no result where nothing is answered, and says why."""
    bench, served, config = bench_of_nobody

    with pytest.raises(Unmeasured, match="the capacity, with 12 clients: INVALID: 12 of 12 requests had no answer"):
        saturation(bench, served, config)


@pytest.fixture
def bench_of_nobody():
    from concurrent.futures import Future
    from types import SimpleNamespace

    class Mute:
        clock = VirtualClock()

        def submit(self, _request) -> "Future[Response]":
            return Future()

    bench = Bench(SimpleNamespace(), SimpleNamespace(), quick=True, wait_ns=1000 * MS)
    return bench, Served(Mute(), WORKS["accelerator"]), BatcherConfig(max_batch_size=4)


def test_the_matrix_leaves_no_worker_behind():
    """A killed `batchproof mutants` takes its processes with it."""
    program = (
        "import os, time\n"
        "from batchproof.commands.mutants import pool\n"
        "if __name__ == '__main__':\n"
        "    with pool() as workers:\n"
        "        print(workers.submit(os.getpid).result(), flush=True)\n"
        "        time.sleep(60)\n"
    )
    process = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    assert process.stdout
    worker = int(process.stdout.readline())
    process.kill()
    process.wait()
    process.stdout.close()
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline and _runs(worker):
        time.sleep(0.05)

    assert not _runs(worker)


def _runs(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
