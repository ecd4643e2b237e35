"""A batcher whose models are processes of their own: batches go there as lines of JSON over pipes, and results come back.

    python -m batchproof.suites.selftest.strangers.piped FOLDER NUMBER GROUP [untidy]     (the model's side)

`PipedBatcher` is right. Each class after it is wrong in one way, which its docstring says.
"""

import json
import os
import queue
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Sequence
from concurrent.futures import Future
from typing import Any

import numpy as np

from batchproof.suites.selftest.strangers.errors import Stopped
from batchproof.targets.witness import Counted
from batchproof.targets.witness.probe import Witness


class Call:
    """A request that waits, or is in a process."""

    def __init__(self, item: Any) -> None:
        self.item, self.since = item, time.monotonic()
        self.future: Future[Any] = Future()


class Child:
    """A process with a model. running: the batches that it has, by number."""

    def __init__(self, command: Sequence[str]) -> None:
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.running: dict[int, list[Call]] = {}

    def wait(self) -> None:
        """Wait until it says that it is ready."""
        assert self.process.stdout is not None
        self.process.stdout.readline()

    def send(self, number: int, batch: list[Call]) -> None:
        self.running[number] = batch
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps([number, [call.item.tolist() for call in batch]]).encode() + b"\n")
        self.process.stdin.flush()


class PipedBatcher:
    """A request counts as one; the delay counts from the oldest request; a process has one batch at a time."""

    untidy = False

    def __init__(self, folder: str, instances: int, max_batch: int, delay_s: float = 0) -> None:
        self.max_batch, self.delay_s = max_batch, delay_s
        self.waiting: deque[Call] = deque()
        self.changed = threading.Condition()
        self.closed = False
        self.sent = 0
        self.group = 0  # of the processes, which the first of them leads
        self.children: list[Child] = []
        for number in range(instances):
            words = [folder, str(number), str(self.group), *["untidy"] * self.untidy]
            self.children.append(Child([sys.executable, "-m", __name__, *words]))
            if not self.group:
                self.children[0].wait()
                self.group = self.children[0].process.pid
        for child in self.children[1:]:
            child.wait()
        self.idle = deque(self.children)
        for child in self.children:
            threading.Thread(target=self.listen, args=(child,), daemon=True).start()
        threading.Thread(target=self.dispatch, daemon=True).start()

    def submit(self, item: Any) -> Future[Any]:
        call = Call(item)
        with self.changed:
            if self.closed:
                call.future.set_exception(Stopped("the batcher is closed"))
            else:
                self.waiting.append(call)
                self.changed.notify_all()
        return call.future

    def cancel(self, future: Future[Any]) -> None:
        with self.changed:
            for call in [call for call in self.waiting if call.future is future]:
                self.waiting.remove(call)
            future.cancel()
            self.changed.notify_all()

    def queued(self) -> int:
        return len(self.waiting)

    def close(self) -> None:
        with self.changed:
            self.closed = True
            self.changed.notify_all()

    def dispatch(self) -> None:
        with self.changed:
            while not self.closed or self.waiting:
                left_s = self.left_s()
                if self.idle and left_s is not None and left_s <= 0:
                    batch = [self.waiting.popleft() for _ in range(min(len(self.waiting), self.max_batch))]
                    self.start(batch)
                    self.sent += 1
                    self.choose().send(self.sent, batch)
                else:
                    self.changed.wait(left_s if self.idle else None)

    def left_s(self) -> float | None:
        """For how long the oldest request waits for company; None: there is none."""
        if not self.waiting:
            return None
        if self.closed or len(self.waiting) >= self.max_batch:
            return 0
        return self.waiting[0].since + self.delay_s - time.monotonic()

    def start(self, batch: list[Call]) -> None:
        for call in batch:
            call.future.set_running_or_notify_cancel()

    def choose(self) -> Child:
        return self.idle.popleft()

    def listen(self, child: Child) -> None:
        assert child.process.stdout is not None
        for line in child.process.stdout:
            try:
                number, outputs, error = json.loads(line)
            except ValueError:
                continue
            batch = self.belongs(child, number)
            if batch is None:
                continue
            if error := error or self.problem(line):
                self.fail(batch, RuntimeError(error))
            for call, (echo, info) in zip(batch, outputs, strict=False):
                if not call.future.done():
                    call.future.set_result((np.array(echo, dtype=np.int64), np.array(info, dtype=np.int64)))
            self.free(child)

    def problem(self, line: bytes) -> str:
        """Say what is wrong with a line that can be read."""
        return ""

    def belongs(self, child: Child, number: int) -> list[Call] | None:
        """Return the batch that an answer belongs to."""
        return child.running.pop(number)

    def fail(self, batch: list[Call], error: Exception) -> None:
        for call in batch:
            if not call.future.done():
                call.future.set_exception(error)

    def free(self, child: Child) -> None:
        with self.changed:
            self.idle.append(child)
            self.changed.notify_all()

    def end(self) -> None:
        """End the processes, whatever they do."""
        self.close()
        for child in self.children:
            child.process.kill()
            child.process.wait()


class LateAnswer(PipedBatcher):
    """If nobody wants a batch any more, its process counts as free; the late answer is given to its next batch."""

    def start(self, batch: list[Call]) -> None:
        """Leave them as they are, so that they can be cancelled in the process as well."""

    def cancel(self, future: Future[Any]) -> None:
        super().cancel(future)
        for child in self.children:
            for number, batch in list(child.running.items()):
                if any(call.future is future for call in batch) and all(call.future.cancelled() for call in batch):
                    child.running.pop(number, None)
                    self.free(child)

    def belongs(self, child: Child, number: int) -> list[Call] | None:
        return child.running.pop(min(child.running)) if child.running else None


class LineTooLong(PipedBatcher):
    """A line has at most 16 KiB: a batch whose results are longer fails."""

    LONGEST = 16 * 1024

    def problem(self, line: bytes) -> str:
        return "the chunk is longer than the limit" if len(line) > self.LONGEST else ""


class ModelPrints(PipedBatcher):
    """A model that raises prints so to the pipe of the results, without an end of the line: the next line cannot be read."""

    untidy = True


class KilledAtClose(PipedBatcher):
    """Closing ends the processes at once, with the batches that they have."""

    def close(self) -> None:
        super().close()
        for child in self.children:
            if child.running:
                child.process.kill()


class RoundRobin(PipedBatcher):
    """Each batch goes to the next process in turn, even if that one is busy and another is not."""

    def choose(self) -> Child:
        self.idle.popleft()
        return self.children[self.sent % len(self.children)]


class OnlyFirstTold(PipedBatcher):
    """From a batch that failed, only the first request is told; the others never get an answer."""

    def fail(self, batch: list[Call], error: Exception) -> None:
        super().fail(batch[:1], error)


def main() -> None:
    """Be a model: read batches, and write results, until the other side has gone."""
    os.setpgid(0, int(sys.argv[3]))
    model, untidy = Counted(Witness(sys.argv[1], int(sys.argv[2]))), "untidy" in sys.argv
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    batches: queue.SimpleQueue[Any] = queue.SimpleQueue()
    threading.Thread(target=execute, args=(model, batches, untidy), daemon=True).start()
    for line in sys.stdin:
        batches.put(json.loads(line))
    os._exit(0)


def execute(model: Counted, batches: "queue.SimpleQueue[Any]", untidy: bool) -> None:
    """Run one batch after the other."""
    while True:
        number, items = batches.get()
        outputs, failure = [], ""
        try:
            outputs = [[echo.tolist(), info.tolist()] for echo, info in model.execute([np.array(item) for item in items])]
        except Exception as error:  # noqa: BLE001
            failure = f"{type(error).__name__}: {error}"
        if failure and untidy:
            sys.stdout.write(failure)
        sys.stdout.write(json.dumps([number, outputs, failure]) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
