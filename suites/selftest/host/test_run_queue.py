"""Waiting for a processor: of which processes it is read."""

from __future__ import annotations

import os
import subprocess
import time
from pathlib import Path

import pytest

from batchproof.host import run_queue
from batchproof.host.clock import HOST_CLOCK
from batchproof.host.run_queue import Waiting, members, own_waits, waits
from batchproof.stats import gates


def test_workers_in_sessions_of_their_own_belong_to_the_group() -> None:
    """All descendants of the group's processes count, whatever group they have joined."""
    with subprocess.Popen(["/usr/bin/setsid", "/bin/sh", "-c", "setsid sleep 600 & echo $!; wait"],
                          stdout=subprocess.PIPE, text=True) as shell:
        assert shell.stdout
        worker = int(shell.stdout.readline())

        def found() -> set[int]:
            return {int(path.name) for path in members(shell.pid)}

        seen = HOST_CLOCK.wait(lambda: worker in found(), HOST_CLOCK.now_ns() + 20 * 10**9)
        mine = os.getpid() in found()
        os.kill(worker, 9)

    assert (seen, mine) == (True, False)


def test_a_process_that_has_just_ended_has_not_waited(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A server's process may end between the look at the group and the look at its threads."""
    monkeypatch.setattr(run_queue, "members", lambda _group: [Path("/proc/self"), tmp_path / "gone"])

    assert set(waits(1)) >= {str(os.getpid())}


def test_the_threads_of_this_process_are_known() -> None:
    """A target that is an object in this process waits as this process does."""
    assert str(os.getpid()) in own_waits()
    assert all(ns >= 0 for ns in own_waits().values())


def test_a_thread_that_ends_meanwhile_counts(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """What it had waited when it was last seen is not forgotten, and what it had waited before does not count."""
    monkeypatch.setattr(run_queue, "PROC", tmp_path)
    monkeypatch.setattr(run_queue, "EVERY_S", 0.001)

    def waited(thread: int, ns: int) -> Path:
        task = tmp_path / "7" / "task" / str(thread)
        task.mkdir(parents=True, exist_ok=True)
        (task / "new").write_text(f"1 {ns} 1\n", encoding="utf-8")
        (task / "new").rename(task / "schedstat")  # at once: a half-written file is no schedstat
        return task

    waited(7, 5)
    (tmp_path / "7" / "stat").write_text("7 (server) S 1 7 7", encoding="utf-8")
    watch = Waiting(7, own=False)
    of_a_request = waited(8, 300)
    seen = HOST_CLOCK.wait(lambda: watch._seen[0].get("8") == 300, HOST_CLOCK.now_ns() + 20 * 10**9)
    waited(7, 25)
    (of_a_request / "schedstat").unlink()
    of_a_request.rmdir()

    assert (seen, watch.end()) == (True, (300, (300 + 20) // 3))
    assert watch.looks()[-1] == (watch.looks()[-1].at_ns, run_queue.MS, run_queue.MS)  # rounded up
    assert len(watch.looks()) <= 4  # of equal ones, the first and the last


def test_a_request_that_passes_many_threads_may_wait_for_each(monkeypatch: pytest.MonkeyPatch) -> None:
    """Six that have waited for 100 ns each explain 600 ns of lateness, and a seventh explains nothing more."""
    watch = Waiting(0, own=False)
    watch._before = {"7": 5}, {}
    watch._seen = {"7": 105, "8": 100, "9": 100, "10": 3}, {"1": 100, "2": 100, "3": 100, "4": 100}
    monkeypatch.setattr(watch, "_note", lambda _known: None)

    assert watch.end() == (100, 200)
    assert run_queue.STALLS == gates.STALLS


def test_the_thread_that_watches_does_not_count() -> None:
    """It wakes again and again on a busy host, and would be the one that waits longest."""
    watch = Waiting(0, own=True)
    HOST_CLOCK.wait(lambda: bool(watch._me), HOST_CLOCK.now_ns() + 20 * 10**9)

    watch.end()

    assert watch._me not in watch._seen[1]
    assert str(os.getpid()) in watch._seen[1]


def test_a_thread_that_has_not_run_yet_has_waited_since_it_began(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The kernel counts that only when it runs, and then it may end before anybody looks."""
    monkeypatch.setattr(run_queue, "PROC", tmp_path)
    task = tmp_path / "self" / "task" / "9"
    task.mkdir(parents=True)
    ticks = (time.clock_gettime_ns(time.CLOCK_BOOTTIME) - 3 * 10**9) * os.sysconf("SC_CLK_TCK") // 10**9
    (task / "stat").write_text(f"9 (a (new) one) R {' 0' * 18} {ticks} 0 0", encoding="utf-8")
    (task / "schedstat").write_text("0 0 0\n", encoding="utf-8")

    assert 3 * 10**9 <= own_waits()["9"] < 600 * 10**9

    (task / "schedstat").write_text("7 20 1\n", encoding="utf-8")
    assert own_waits()["9"] == 20
