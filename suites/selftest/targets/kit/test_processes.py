"""A guarded server: nothing that it starts outlives it or us, and its last words are in every message."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
import textwrap
import time
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from batchproof.host import keeper
from batchproof.host.clock import HOST_CLOCK
from batchproof.targets.deadlines import TooLate
from batchproof.targets.kit import Guarded
from batchproof.targets.protocol import TargetError

if TYPE_CHECKING:
    from collections.abc import Callable

PYTHON = [sys.executable, "-S", "-E", "-c"]
# Starts a worker that leaves its parents and its session, and notes the ids of both. The stubborn ones ignore SIGTERM.
DAEMON = textwrap.dedent("""
    import os, signal, sys, time
    ids, stubborn = sys.argv[1:]
    def note():
        with open(ids, "a") as file:
            file.write(f"{os.getpid()}\\n")
    note()
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            os.setsid()
            if stubborn == "yes":
                signal.signal(signal.SIGTERM, signal.SIG_IGN)
            note()
            time.sleep(600)
        os._exit(0)
    if stubborn == "yes":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    time.sleep(600)
""")


def noted(path: Path) -> list[int]:
    return [int(line) for line in path.read_text().split()] if path.exists() else []


def running(pid: int) -> bool:
    """Return whether a process runs, and is not only waiting to be collected."""
    with suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    return False


def soon(condition: Callable[[], object], seconds: float = 20.0) -> bool:
    return HOST_CLOCK.wait(lambda: bool(condition()), HOST_CLOCK.now_ns() + int(seconds * 1e9))


@pytest.mark.parametrize("stubborn", ["no", "yes"])
def test_everything_that_it_started_ends_with_it(tmp_path: Path, stubborn: str) -> None:
    """A worker in a session of its own, whose parents have ended, goes too, even if it ignores SIGTERM."""
    ids = tmp_path / "ids"
    guarded = Guarded([*PYTHON, DAEMON, ids, stubborn], ready=lambda: len(noted(ids)) == 2, grace_s=0.2)
    server, worker = noted(ids)
    assert guarded.pid == server
    assert soon(lambda: set(guarded.processes()) == {server, worker})
    assert guarded.ended() == ""

    guarded.finish()
    guarded.finish()

    assert not running(server)
    assert not running(worker)
    assert guarded.process_group == 0


def test_it_ends_when_we_are_killed(tmp_path: Path) -> None:
    """SIGKILL of the process that started it ends the server and its workers."""
    ids = tmp_path / "ids"
    program = textwrap.dedent(f"""
        import sys, time
        from batchproof.targets.kit import Guarded
        Guarded({[*PYTHON, DAEMON, str(ids), "yes"]!r})
        time.sleep(600)
    """)
    with subprocess.Popen([sys.executable, "-c", program]) as owner:
        assert soon(lambda: len(noted(ids)) == 2)
        owner.kill()
        owner.wait()

    assert soon(lambda: not any(map(running, noted(ids))))


def test_it_ends_when_its_keeper_is_killed(tmp_path: Path) -> None:
    """Without its keeper the server does not go on."""
    ids = tmp_path / "ids"
    guarded = Guarded([*PYTHON, DAEMON, ids, "yes"], ready=lambda: len(noted(ids)) == 2)
    worker = noted(ids)[1]

    os.kill(guarded.process_group, signal.SIGKILL)
    gone = soon(lambda: not running(guarded.pid))
    os.kill(worker, signal.SIGKILL)  # it has left its session, and nobody keeps it any more
    guarded.finish()

    assert gone
    assert "together with the process that keeps it" in guarded.ended()


def test_a_process_whose_first_thread_has_ended_is_no_gap(tmp_path: Path) -> None:
    """It looks like a zombie, and its other threads and its children go on: they all end with the server."""
    ids = tmp_path / "ids"
    program = textwrap.dedent("""
        import ctypes, os, subprocess, sys, threading, time
        child = subprocess.Popen(["/bin/sleep", "600"])
        threading.Thread(target=time.sleep, args=(600,)).start()
        with open(sys.argv[1], "a") as file:
            print(os.getpid(), child.pid, file=file)
        ctypes.CDLL(None).pthread_exit(None)
    """)
    guarded = Guarded([*PYTHON, program, ids], ready=lambda: len(noted(ids)) == 2, grace_s=0)
    server, child = noted(ids)
    headless = soon(lambda: not running(server))
    found = guarded.processes()

    guarded.finish()

    assert headless
    assert found == [server, child]
    assert not running(child)
    assert not Path(f"/proc/{server}/task").exists()


def test_shared_memory_is_freed(tmp_path: Path) -> None:
    """A server that is killed leaves no segment behind: the process that frees it is given the time to do so."""
    ids = tmp_path / "ids"
    program = textwrap.dedent("""
        import sys, time
        from multiprocessing import shared_memory
        segment = shared_memory.SharedMemory(create=True, size=64)
        with open(sys.argv[1], "w") as file:
            file.write(segment.name)
        time.sleep(600)
    """)
    call = [sys.executable, "-c", program, ids]
    guarded = Guarded(call, ready=lambda: ids.exists() and ids.read_text(), ends_by=signal.SIGKILL, grace_s=0)
    segment = Path("/dev/shm") / ids.read_text().lstrip("/")  # noqa: S108 - where POSIX shared memory is
    there = segment.exists()

    guarded.finish()

    assert there
    assert not segment.exists()


def test_a_server_that_ends_says_its_last_words() -> None:
    """The message has how it ended and the end of what it printed."""
    with pytest.raises(TargetError, match=r"(?s)my server ended with status 3; the end of what it printed:\nout of memory"):
        Guarded(["/bin/sh", "-c", "echo out of memory >&2; exit 3"], name="my server", ready=lambda: False)


def test_a_server_that_is_killed_says_so() -> None:
    """A signal is named."""
    with pytest.raises(TargetError, match="was killed by SIGSEGV"):
        Guarded(["/bin/sh", "-c", "kill -SEGV $$"], ready=lambda: False)


def test_a_program_that_does_not_exist_is_named() -> None:
    """The message is the reason."""
    with pytest.raises(TargetError, match=r"cannot run /no/such/program"):
        Guarded(["/no/such/program"], ready=lambda: False)


def test_a_server_that_is_late_is_ended(tmp_path: Path) -> None:
    """The message says how long, what was wrong last, how to wait longer, and what the server printed."""
    ids = tmp_path / "ids"
    script = f"echo loading weights; echo $$ > {ids}; exec sleep 600"
    ready = {"": None}

    def begun() -> bool:
        while not (ids.exists() and ids.read_text(encoding="utf-8")):  # a loaded machine may take longer than the limit
            time.sleep(0.01)
        return bool(ready["no"])

    with pytest.raises(TooLate) as caught:
        Guarded(["/bin/sh", "-c", script], name="slow", ready=begun, seconds=0.3)

    assert "slow was not ready after 0.3 s" in str(caught.value)
    assert "BATCHPROOF_READY_S=SECONDS" in str(caught.value)
    assert str(caught.value).endswith("loading weights")
    assert not any(map(running, noted(ids)))


def test_a_signal_goes_to_the_program_alone(tmp_path: Path) -> None:
    """SIGINT ends the server as Ctrl+C does, and its worker stays until the server is finished."""
    ids = tmp_path / "ids"
    guarded = Guarded([*PYTHON, DAEMON, ids, "no"], ready=lambda: len(noted(ids)) == 2)
    server, worker = noted(ids)

    guarded.send_signal(signal.SIGINT)
    ended = soon(guarded.ended)
    left = running(worker)
    text = guarded.ended()
    guarded.finish()

    assert ended
    assert left
    assert "KeyboardInterrupt" in text
    assert not running(server)
    assert not running(worker)


def test_all_processes_are_paused_and_resumed(tmp_path: Path) -> None:
    """A pause stops workers in sessions of their own too."""
    ids = tmp_path / "ids"
    guarded = Guarded([*PYTHON, DAEMON, ids, "no"], ready=lambda: len(noted(ids)) == 2, grace_s=0.2)

    def states() -> set[str]:
        return {Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] for pid in noted(ids)}

    guarded.pause()
    paused = soon(lambda: states() == {"T"})
    guarded.resume()
    resumed = soon(lambda: "T" not in states())
    guarded.finish()

    assert (paused, resumed) == (True, True)


def test_the_output_can_be_kept(tmp_path: Path) -> None:
    """With `log` it is in that file; it can be read while the program runs."""
    guarded = Guarded(["/bin/sh", "-c", "echo ready; exec sleep 600"], log=tmp_path / "log", grace_s=0.2)

    assert soon(lambda: guarded.output() == "ready\n")
    guarded.finish()
    assert (tmp_path / "log").read_text() == "ready\n"


def test_descendants_are_all_generations(tmp_path: Path) -> None:
    """Parents come before their children, and what is spared is left alone."""
    with subprocess.Popen(["/bin/sh", "-c", "sleep 600 & wait"]) as shell:
        assert soon(lambda: len(keeper.descendants(shell.pid)) == 1)
        mine = keeper.descendants(os.getpid())
        (child,) = keeper.descendants(shell.pid)
        assert mine.index(shell.pid) < mine.index(child)

        killed = keeper.kill_descendants(shell.pid)

        assert list(killed) == [child]
        assert killed[child] == "sleep 600"


def test_it_is_watched_beside_a_thousand_open_files(request: pytest.FixtureRequest) -> None:
    """An adapter that judges for long may have more files open than `select` can tell apart."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, min(hard, 2048)), hard))
    request.addfinalizer(lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard)))
    with Path(os.devnull).open("rb") as null, ExitStack() as files:
        for _ in range(1100):
            files.callback(os.close, os.dup(null.fileno()))
        server = Guarded([*PYTHON, "import time; time.sleep(600)"])
        request.addfinalizer(server.finish)

        assert server.alive() == ""
