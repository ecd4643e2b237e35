"""The matrix of mutants: its worker processes end with it."""

import subprocess
import sys
import time
from pathlib import Path


def test_the_matrix_leaves_no_worker_behind():
    """When `batchproof mutants` is killed, its processes end too."""
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
