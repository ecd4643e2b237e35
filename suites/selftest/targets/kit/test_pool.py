"""The pool: calls run side by side up to a number, and a call that hangs keeps no program from ending."""

from __future__ import annotations

import subprocess
import sys
import threading

import pytest

from batchproof.targets.kit import Pool


def test_results_and_errors_come_back() -> None:
    """A Future has what the call returned or raised."""
    pool = Pool(2)

    assert pool.submit(divmod, 7, 2).result(10) == (3, 1)
    with pytest.raises(ZeroDivisionError):
        pool.submit(divmod, 1, 0).result(10)
    pool.close()


def test_as_many_run_at_once_as_it_may_have_threads() -> None:
    """The third call waits until one of the two before it has ended."""
    pool, gates, begun = Pool(2), [threading.Event() for _ in range(3)], [threading.Event() for _ in range(3)]

    def hold(number: int) -> int:
        begun[number].set()
        gates[number].wait(30)
        return number

    futures = [pool.submit(hold, number) for number in range(3)]
    assert begun[0].wait(30)
    assert begun[1].wait(30)
    assert not begun[2].is_set()
    gates[1].set()
    assert begun[2].wait(30)
    gates[0].set()
    gates[2].set()

    assert [future.result(30) for future in futures] == [0, 1, 2]
    pool.close()


def test_a_call_that_has_not_begun_can_be_cancelled() -> None:
    """One that has begun cannot."""
    pool, gate, begun = Pool(1), threading.Event(), threading.Event()

    def hold() -> None:
        begun.set()
        gate.wait(30)

    first, second = pool.submit(hold), pool.submit(hold)
    assert begun.wait(30)

    assert (first.cancel(), second.cancel()) == (False, True)
    gate.set()
    assert first.result(30) is None
    pool.close()


def test_a_closed_pool_takes_no_calls() -> None:
    """It says so, and its threads end."""
    pool = Pool(1, "closing")
    pool.submit(int).result(30)

    pool.close()
    pool.close()

    with pytest.raises(RuntimeError, match="the pool is closed"):
        pool.submit(int)
    for thread in threading.enumerate():
        if thread.name.startswith("closing"):
            thread.join(30)
            assert not thread.is_alive()


def test_a_call_that_hangs_keeps_no_program_from_ending() -> None:
    """Python exits while a call still waits."""
    program = "import threading; from batchproof.targets.kit import Pool; Pool().submit(threading.Event().wait)"

    assert subprocess.run([sys.executable, "-c", program], timeout=60, check=False).returncode == 0
