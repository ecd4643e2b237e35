"""A server in processes of its own, all of which end with it, and with us."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import subprocess
import sys
import tempfile
import threading
import time
import weakref
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from batchproof.host import keeper
from batchproof.targets.deadlines import TooLate, more_time, timeout_s
from batchproof.targets.kit.readiness import until

GRACE_S = 5.0  # to end when asked, before everything is killed
LINES = 12
GONE = "gone"
_running: weakref.WeakSet[Guarded] = weakref.WeakSet()


def tail(text: str, lines: int = LINES) -> str:
    """Return the last lines of what a program has printed, each at most 300 characters long."""
    return "\n".join(line[:300] for line in text.rstrip().splitlines()[-lines:]) or "(it has printed nothing)"


def died(since_s: float = 0.0) -> str:
    """Return how a program ended that nobody has finished yet, as `Guarded.ended` says it; an empty string if all run.

    since_s: only those that were started after this moment of `time.monotonic`.
    """
    mine = [one for one in list(_running) if one.began_s >= since_s]
    return next((why for one in mine if (why := one.ended())), "")


class Guarded:
    """A program with all of its descendants, such as a server with its workers.

    None of them outlives `finish()`, nor this process, even if this process is killed or a worker has left its parents, its
    process group and its session. Returns once `ready()` is true; what `ready` raises means "not yet".

    argv, cwd, env: as `subprocess.Popen` takes them; the program reads nothing from standard input. seconds: how long it may
    take to be ready; by default 60 s, or what BATCHPROOF_READY_S says. name: what messages call it. log: a file for what it
    prints; without one the output is kept where only `output()` can read it. ends_by: the signal that asks it to end.
    grace_s: how long its end may take before everything is killed.

    TargetError if it ends before it is ready, or TooLate if it is not ready in time. Both messages have the end of what it
    printed, and nothing of it is left running.
    """

    def __init__(
        self,
        argv: Sequence[str | os.PathLike[str]],
        *,
        ready: Callable[[], object] | None = None,
        cwd: str | os.PathLike[str] | None = None,
        env: Mapping[str, str] | None = None,
        seconds: float | None = None,
        name: str = "",
        log: str | os.PathLike[str] | None = None,
        ends_by: int = signal.SIGTERM,
        grace_s: float = GRACE_S,
    ) -> None:
        command = [os.fspath(one) for one in argv]
        self.name, self.began_s = name or Path(command[0]).name, time.monotonic()
        self._ends_by, self._grace_s = ends_by, grace_s
        self._lock, self._news, self._status = threading.RLock(), b"", ""
        self._log = Path(log).open("w+b") if log else tempfile.TemporaryFile()  # noqa: SIM115 - closed by `finish`
        call = [sys.executable, "-S", "-E", keeper.__file__, str(os.getpid()), *command]
        self._keeper = subprocess.Popen(
            call, cwd=cwd, env=env, bufsize=0, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._log,
            start_new_session=True,
        )  # fmt: skip
        self._orders, news = self._keeper.stdin, self._keeper.stdout
        assert news is not None
        self._reports = news
        self.pid = int(self._line().removeprefix("pid ") or 0)
        try:
            if ready is not None:
                until(ready, timeout_s("READY_S") if seconds is None else seconds, self.name, self.ended)
            _running.add(self)
        except BaseException as error:
            printed = tail(self.output())
            self.finish()
            if isinstance(error, TooLate):
                raise TooLate(f"{error}: {more_time('READY_S')}; the end of what it printed:\n{printed}") from None
            raise

    @property
    def process_group(self) -> int:
        """The ancestor of all its processes, for the verb of this name; 0 once it is finished."""
        return 0 if self._keeper.returncode is not None else self._keeper.pid

    def processes(self) -> list[int]:
        """Return the ids of all its processes that are running, parents before their children."""
        return keeper.descendants(self._keeper.pid)

    def output(self) -> str:
        """Return all that its processes have printed so far."""
        with self._lock, contextlib.suppress(OSError, ValueError):
            size = os.fstat(self._log.fileno()).st_size
            return os.pread(self._log.fileno(), size, 0).decode("utf-8", "replace")
        return ""

    def ended(self) -> str:
        """Return how the program ended, with the end of what it printed; an empty string while it is running."""
        with self._lock:
            while not self._status and not self._reports.closed and self._news_waits():
                line = self._line()
                self._status = line.removeprefix("exit ") if line else GONE
            if not self._status:
                return ""
        how = f"ended with status {self._status}"
        if self._status.startswith("-"):
            how = f"was killed by {signal.Signals(-int(self._status)).name}"
        elif self._status == GONE:
            how = "was ended, together with the process that keeps it"
        return f"{self.name} {how}; the end of what it printed:\n{tail(self.output())}"

    def _news_waits(self) -> bool:
        """Whether the keeper has said something; `select` would break once this process has 1024 files open."""
        poll = select.poll()
        poll.register(self._reports, select.POLLIN)
        return bool(poll.poll(0))

    def alive(self) -> str:
        """Return why it cannot serve any more, or an empty string: the target's verb `alive`."""
        return self.ended()

    def send_signal(self, number: int) -> None:
        """Send a signal to the program, and not to its descendants; nothing happens if it has ended."""
        self._order(f"signal {int(number)}")

    def pause(self) -> None:
        """Stop all its processes where they are."""
        self._signal_all(signal.SIGSTOP)

    def resume(self) -> None:
        """Let them go on."""
        self._signal_all(signal.SIGCONT)

    def finish(self) -> None:
        """End it and everything that it has started: ask, wait for `grace_s`, then kill. Safe to call twice."""
        _running.discard(self)
        with self._lock:
            if self._reports.closed:
                return
            self._order(f"end {int(self._ends_by)} {self._grace_s}")
            try:
                self._keeper.wait(self._grace_s + 2 * keeper.KILL_S)
            except subprocess.TimeoutExpired:  # the keeper itself hangs, for instance because it was stopped
                self._keeper.send_signal(signal.SIGSTOP)
                keeper.kill_descendants(self._keeper.pid)
                self._keeper.kill()
                self._keeper.wait()
            self.ended()
            for file in (self._orders, self._reports, self._log):
                if file is not None:
                    file.close()

    def _signal_all(self, number: int) -> None:
        for pid in self.processes():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, number)

    def _order(self, line: str) -> None:
        """Tell the keeper, if it is still there."""
        with self._lock, contextlib.suppress(OSError, ValueError):
            if self._orders is not None:
                self._orders.write(f"{line}\n".encode())

    def _line(self) -> str:
        """Return the next line of the keeper's news, without its end; an empty string if there is none any more."""
        while b"\n" not in self._news:
            data = self._reports.read(512)
            if not data:
                return ""
            self._news += data
        line, _, self._news = self._news.partition(b"\n")
        return line.decode()
