"""A process ends with its own status and within its time, whatever threads, handlers and processes are left in it."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from batchproof.host.clock import HOST_CLOCK

END = """
import sys
from batchproof.host.keeper import adopt_orphans
from batchproof.host.process_end import end, run_to_the_end
adopt_orphans()
{}
print("the last line", end="")
end(7, 0.3)
"""
WAYS = {
    "nothing": ("", ""),
    "a daemon": ("import threading; threading.Thread(target=threading.Event().wait, daemon=True).start()", ""),
    "a thread": (
        "import threading; threading.Thread(target=threading.Event().wait, name='worker').start()", "1 thread (worker)",
    ),
    "a pool": (
        """
        import concurrent.futures, threading
        pool = concurrent.futures.ThreadPoolExecutor(thread_name_prefix="pool")
        pool.submit(threading.Event().wait)
        """, "1 thread (pool_0)",
    ),
    "a loop": (
        """
        import asyncio, threading
        loop = asyncio.new_event_loop()
        threading.Thread(target=loop.run_forever, name="loop").start()
        """, "1 thread (loop)",
    ),
    "an exit handler": (
        "import atexit, threading; atexit.register(threading.Event().wait)", "an exit handler that does not return (",
    ),
    "a handler that raises": ("import atexit; atexit.register(lambda: 1 // 0)", "ZeroDivisionError"),
    "a destructor": (
        """
        import threading
        class Waits:
            def __del__(self):
                threading.Event().wait()
        waits = Waits()
        """, "",
    ),
    "many threads": (
        """
        import threading
        for number in range(5):
            threading.Thread(target=threading.Event().wait, name=f"t{number}").start()
        """, "5 threads (t0, t1, t2, ...)",
    ),
}  # fmt: skip


@pytest.mark.parametrize("way", WAYS)
def test_the_status_is_kept(way: str) -> None:
    """What was printed is there, the status is its own, and what was ended by force is in one line."""
    left, said = WAYS[way]
    program = END.format(textwrap.dedent(left))

    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False)

    assert (run.returncode, run.stdout) == (7, "the last line")
    assert said in run.stderr
    assert ("ended by force" in run.stderr) == bool(said and way != "a handler that raises")
    assert len(run.stderr.splitlines()) <= 1 or way == "a handler that raises"


def test_threads_that_end_are_waited_for() -> None:
    """A program that is only a little late is not cut short."""
    left = "import threading; threading.Timer(0.05, lambda: print('late but there, ', end='')).start()"

    run = subprocess.run([sys.executable, "-c", END.format(left)], capture_output=True, text=True, timeout=60, check=False)

    assert (run.returncode, run.stdout, run.stderr) == (7, "the last linelate but there, ", "")


def test_no_process_is_left(tmp_path: Path) -> None:
    """Not even a daemon that has left its parents and its session, and ignores SIGTERM."""
    left = textwrap.dedent(f"""
        import os, signal, time
        if os.fork() == 0:
            os.setsid()
            if os.fork() == 0:
                signal.signal(signal.SIGTERM, signal.SIG_IGN)
                with open({str(tmp_path / "id")!r}, "w") as file:
                    file.write(str(os.getpid()))
                time.sleep(600)
            os._exit(0)
        os.wait()
        while not os.path.exists({str(tmp_path / "id")!r}) or not open({str(tmp_path / "id")!r}).read():
            time.sleep(0.01)
    """)

    call = [sys.executable, "-c", END.format(left)]
    run = subprocess.run(call, stderr=subprocess.PIPE, text=True, timeout=60, check=False)
    pid = int((tmp_path / "id").read_text())

    assert run.returncode == 7
    assert f"1 process ({pid} {sys.executable} -c" in run.stderr
    assert HOST_CLOCK.wait(lambda: not Path(f"/proc/{pid}").exists(), HOST_CLOCK.now_ns() + 20 * 10**9)


@pytest.mark.parametrize(
    ("program", "status", "said"),
    [
        ("lambda: None", 0, ""),
        ("lambda: sys.exit()", 0, ""),
        ("lambda: sys.exit(75)", 75, ""),
        ("lambda: sys.exit('why')", 1, "why\n"),
        ("lambda: 1 // 0", 1, "ZeroDivisionError: "),
        ("lambda: signal.raise_signal(signal.SIGINT), 130", 130, ""),
    ],
    ids=["returns", "exits", "a status", "a text", "an error", "Ctrl-C"],
)
def test_a_program_is_run_to_its_end(program: str, status: int, said: str) -> None:
    """Its status is what Python would end with."""
    source = f"import signal, sys; from batchproof.host.process_end import run_to_the_end; run_to_the_end({program})"

    run = subprocess.run([sys.executable, "-c", source], stderr=subprocess.PIPE, text=True, timeout=60, check=False)

    assert run.returncode == status
    assert said in run.stderr
    assert bool(said) == bool(run.stderr)
