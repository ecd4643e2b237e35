"""A target that leaves everything behind: threads, a pool, an event loop, an exit handler, and a process.

`--target batchproof.suites.selftest.untidy_target:Untidy`
"""

from __future__ import annotations

import asyncio
import atexit
import os
import signal
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from batchproof.targets.virtual import VirtualTarget

ID = "UNTIDY_ID"  # the variable that names the file for the id of the process


class Untidy(VirtualTarget):
    """The reference batcher in simulated time, in bad company."""

    def close(self) -> None:
        """Leave what a careless adapter leaves, and start a little more of it."""
        threading.Thread(target=threading.Event().wait, name="careless").start()
        ThreadPoolExecutor(thread_name_prefix="pool").submit(threading.Event().wait)
        threading.Thread(target=asyncio.new_event_loop().run_forever, name="loop").start()
        atexit.register(threading.Event().wait)
        if (child := os.fork()) == 0:
            os.setsid()
            if os.fork() == 0:
                signal.signal(signal.SIGTERM, signal.SIG_IGN)
                Path(os.environ[ID]).write_text(str(os.getpid()), encoding="ascii")
                time.sleep(600)
            os._exit(0)
        os.waitpid(child, 0)
        while not (Path(os.environ[ID]).exists() and Path(os.environ[ID]).read_text(encoding="ascii")):
            time.sleep(0.01)
