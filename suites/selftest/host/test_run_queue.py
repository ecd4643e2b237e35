"""Waiting for a processor: of which processes it is read."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from batchproof.host import run_queue
from batchproof.host.clock import HOST_CLOCK
from batchproof.host.run_queue import _members, longest_wait_ns, own_waits, waits


def test_workers_in_sessions_of_their_own_belong_to_the_group() -> None:
    """All descendants of the group's processes count, whatever group they have joined."""
    with subprocess.Popen(["/usr/bin/setsid", "/bin/sh", "-c", "setsid sleep 600 & echo $!; wait"],
                          stdout=subprocess.PIPE, text=True) as shell:
        assert shell.stdout
        worker = int(shell.stdout.readline())

        def found() -> set[int]:
            return {int(path.name) for path in _members(shell.pid)}

        seen = HOST_CLOCK.wait(lambda: worker in found(), HOST_CLOCK.now_ns() + 20 * 10**9)
        mine = os.getpid() in found()
        os.kill(worker, 9)

    assert (seen, mine) == (True, False)


def test_the_longest_wait_is_that_of_one_thread() -> None:
    """A thread that began in between is counted from 0."""
    assert longest_wait_ns({"1": 5, "2": 7}, {"1": 9, "2": 8, "3": 3}) == 4
    assert longest_wait_ns({}, {}) == 0


def test_a_process_that_has_just_ended_has_not_waited(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A server's process may end between the look at the group and the look at its threads."""
    monkeypatch.setattr(run_queue, "_members", lambda _group: [Path("/proc/self"), tmp_path / "gone"])

    assert set(waits(1)) >= {str(os.getpid())}


def test_the_threads_of_this_process_are_known() -> None:
    """A target that is an object in this process waits as this process does."""
    assert str(os.getpid()) in own_waits()
    assert all(ns >= 0 for ns in own_waits().values())
