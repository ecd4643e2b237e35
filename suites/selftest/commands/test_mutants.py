"""The matrix of mutants: its worker processes end with it, and it can be of some rules alone."""

import subprocess
import sys
import time
from pathlib import Path

import pytest

from batchproof.commands import mutants as matrix
from batchproof.reference_batcher.mutants import Mutant


def test_the_matrix_leaves_no_worker_behind():
    """When `batchproof mutants` is killed, its processes end too, even while they judge and listen to SIGTERM."""
    program = (
        "import os, signal, time\n"
        "from batchproof.commands.mutants import pool\n"
        "if __name__ == '__main__':\n"
        "    with pool(1) as workers:\n"
        "        workers.submit(signal.signal, signal.SIGTERM, signal.SIG_IGN).result()\n"
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


@pytest.mark.parametrize(("kills", "problem"), [(("DB-SIZE-001", "DB-DELAY-001"), ""), (("DB-DELAY-001",), "declared none")])
def test_some_rules_are_held_against_their_part_of_a_kill_set(
    monkeypatch: pytest.MonkeyPatch, kills: tuple[str, ...], problem: str
) -> None:
    """Rules that were not judged are not missed, and one that kills without being declared is found."""
    one = Mutant("one", "what", "core", "line", "wrong", kills, "a batch of 5 rows")
    monkeypatch.setattr(matrix, "mutants", lambda: {"one": one})
    monkeypatch.setattr(matrix, "judged", lambda _target, only: dict.fromkeys(only.split(",")[:1], "a batch of 5 rows"))

    (row,) = matrix.rows(only="DB-SIZE-00[12]")

    assert problem in row.problem
    assert bool(row.problem) is bool(problem)
