"""The use of a processor while nothing is asked: of this process, and of a process that it has started."""

from __future__ import annotations

import subprocess
import sys
import threading

from batchproof.host.processor_use import idle_share

SOME, HARDLY_ANY = 0.03, 0.1  # of a processor that others may want as well
WINDOW_S = 0.4


def test_a_thread_that_sleeps_uses_nothing() -> None:
    """What happens to run meanwhile is not held against it."""
    assert idle_share(WINDOW_S) < HARDLY_ANY


def test_a_thread_that_looks_over_and_over_is_seen() -> None:
    """It takes what the machine gives it."""
    done = threading.Event()
    thread = threading.Thread(target=lambda: all(not done.is_set() for _ in iter(int, 1)))
    thread.start()
    try:
        share = idle_share(WINDOW_S)
    finally:
        done.set()
        thread.join()
    assert share > SOME


def test_a_process_that_was_started_is_seen() -> None:
    """A server has its own."""
    command = [sys.executable, "-S", "-c", "print(flush=True)\nwhile True: pass"]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        try:
            share = idle_share(WINDOW_S)
        finally:
            process.kill()
    assert share > SOME
