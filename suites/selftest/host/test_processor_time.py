"""The processor time of this process and of a server's processes, those too that end meanwhile."""

from __future__ import annotations

import subprocess
import sys
import time

from batchproof.host.processor_time import used

WORK = "sum(range(3_000_000)); print(flush=True); input()"


def test_what_this_process_computes_is_seen() -> None:
    """A sleep costs next to nothing."""
    used_ns = used(0)

    before_ns = used_ns()
    time.sleep(0.05)
    slept_ns = used_ns() - before_ns
    sum(range(3_000_000))

    assert used_ns() - before_ns > 2 * slept_ns


def test_what_a_server_has_used_counts_as_long_as_it_lives() -> None:
    """It is found by its process group."""
    command = [sys.executable, "-S", "-c", WORK]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True) as server:
        assert server.stdout is not None
        server.stdout.readline()
        used_ns, own_ns = used(server.pid), used(0)
        servers_ns = used_ns() - own_ns()
        server.communicate(b"\n")

    assert servers_ns > 10_000_000
    assert used_ns() - own_ns() < 10_000_000
