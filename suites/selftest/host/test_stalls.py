"""Stalls of the host, seen from a process of its own."""

import os
import signal
import time

import pytest

from batchproof.host.stalls import Stalls, stalls

MS = 1_000_000


@pytest.fixture
def watch():
    found = Stalls()
    yield found
    found.stop()


def test_a_stall_is_seen_from_another_process(watch):
    """A ticker that is stopped for 100 ms notes a stall of nearly that long, and a stall that still goes on is seen too."""
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


def test_a_process_has_one_ticker_and_replaces_a_dead_one():
    """Runs share a ticker, and one that was killed is replaced."""
    first = stalls()
    assert stalls() is first

    first.stop()

    assert stalls() is not first
    assert stalls().alive()
