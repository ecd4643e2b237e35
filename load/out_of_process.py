"""The generator in a process of its own, for a target that keeps the interpreter of this one busy.

The child has the clock and the schedule, and runs the same loops. The target stays here (`open_loop_apart`,
`closed_loop_apart`), or the child deploys one itself from its name, such as `grpc://host:port` (`Against`). The two exchange
frames of two int64 over a socketpair: a request (number, 0) to this process, an answer (number, outcome) back, and
(END, length) before bytes, which are JSON, due times, or the samples. Nothing is pickled. The measured latency includes
the socket: a request and its answer each cross it once, which takes about 25 us each way on a quiet machine.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import queue
import socket
import struct
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Mapping
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any

from batchproof.host.watch import undisturbed
from batchproof.load.answers import outcome_of, outcome_of_future
from batchproof.load.closed_loop import Submit
from batchproof.load.runs import Run
from batchproof.load.samples import Samples
from batchproof.load.schedule import Schedule
from batchproof.load.validity import Validity

FRAME = struct.Struct("<qq")
END = -1
BLOB_LIMIT = 1 << 31
CHUNK = 1 << 16
START_S = 60.0  # a child may take this long to start, and to end
LAST_WORDS_S = 5.0  # a child that has closed its end may take this long to say why


class GeneratorLost(RuntimeError):
    """The generator's process ended, or stopped answering; the message quotes what it wrote to stderr."""


@dataclass(frozen=True)
class Against:
    """A target that the generator's process deploys itself, so that no byte of a request passes through this one.

    target: its name, as `--target` takes it. config: `BatcherConfig.facts()`. payload: fields of `Payload` (work_ns,
    row_work_ns, ...). wait_s: how long deploying may take.
    """

    target: str
    config: Mapping[str, Any]
    payload: Mapping[str, int] = field(default_factory=dict)
    wait_s: float = 300.0


def open_loop_apart(submit: Submit | Against, schedule: Schedule, *, wait_ns: int, **asked: Any) -> Run:
    """As `runs.open_loop`, on the host's clock; asked: slo_ns, percent, compute_threads."""
    order = {"kind": "open", "spec": schedule.spec, "length_ns": schedule.length_ns, "wait_ns": wait_ns, **asked}
    return _run(submit, order, schedule.due_ns.tobytes(), (schedule.end_ns + wait_ns) / 1e9)


def closed_loop_apart(
    submit: Submit | Against, clients: int, *, wait_ns: int, requests: int = 0, seconds: float = 0.0, **asked: Any
) -> Run:
    """As `runs.closed_loop`, on the host's clock."""
    order = {"kind": "closed", "clients": clients, "requests": requests, "seconds": seconds, "wait_ns": wait_ns, **asked}
    return _run(submit, order, b"", seconds + wait_ns / 1e9)


def _run(submit: Submit | Against, order: dict[str, Any], due: bytes, silence_s: float) -> Run:
    """silence_s: how long the child may be silent."""
    ours, theirs = socket.socketpair()
    program = [sys.executable, "-m", "batchproof.load.generator_process", str(theirs.fileno()), str(os.getpid())]
    with tempfile.TemporaryFile() as said, ours:
        with theirs:
            child = subprocess.Popen(program, pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL, stdout=said, stderr=said)
        try:
            against = isinstance(submit, Against)
            ours.settimeout(START_S + silence_s + (submit.wait_s if isinstance(submit, Against) else 0))
            send_blob(ours, json.dumps(order | ({"against": vars(submit)} if against else {})).encode())
            send_blob(ours, due)
            with contextlib.nullcontext() if against else undisturbed():
                result = _serve(ours, submit)
            return _read(*result)
        except OSError as error:
            with contextlib.suppress(subprocess.TimeoutExpired):
                child.wait(LAST_WORDS_S)
            child.kill()
            child.wait()
            said.seek(0)
            told = said.read()[-2000:].decode(errors="replace").strip()
            raise GeneratorLost(f"the generator's process ended early ({error}): {told or 'it wrote nothing'}") from None
        finally:
            child.kill()
            child.wait()


def _serve(ours: socket.socket, submit: Submit | Against) -> tuple[bytes, bytes]:
    """Do what the child asks, until it has sent its two results: JSON and samples."""
    answers: queue.SimpleQueue[bytes] = queue.SimpleQueue()
    sender = threading.Thread(target=_send_answers, args=(ours, answers), name="batchproof-answers", daemon=True)
    sender.start()
    frames = Frames(ours)
    try:
        for number, length in frames:
            if number == END:
                return frames.blob(length), frames.blob(next(frames)[1])
            if isinstance(submit, Against):
                raise OSError("it sent a request, although the target is its own")
            try:
                future = submit(number)
            except Exception as error:
                answers.put(FRAME.pack(number, outcome_of(error)))
            else:
                future.add_done_callback(_Answering(answers, number))
    finally:
        answers.put(b"")
        sender.join(START_S)
    raise OSError("it gave no result")


def _send_answers(ours: socket.socket, answers: queue.SimpleQueue[bytes]) -> None:
    """Send answers, several in one piece when there are several, on a thread that is not the target's."""
    with contextlib.suppress(OSError):  # an answer after the end finds nobody
        while first := answers.get():
            pieces = [first]
            with contextlib.suppress(queue.Empty):
                while pieces[-1]:
                    pieces.append(answers.get_nowait())
            ours.sendall(b"".join(pieces))
            if not pieces[-1]:
                return


class _Answering:
    """A callback that queues the answer of its request."""

    __slots__ = ("_answers", "_number")

    def __init__(self, answers: queue.SimpleQueue[bytes], number: int) -> None:
        self._answers, self._number = answers, number

    def __call__(self, future: Future[Any]) -> None:
        self._answers.put(FRAME.pack(self._number, outcome_of_future(future)))


class Frames:
    """Frames as they come, and the bytes that follow one."""

    def __init__(self, channel: socket.socket) -> None:
        self._channel, self._held = channel, bytearray()

    def __iter__(self) -> Iterator[tuple[int, int]]:
        """Frames up to the end; OSError when the other side has gone."""
        return self

    def __next__(self) -> tuple[int, int]:
        """Wait for a frame."""
        frame = FRAME.unpack(self._take(FRAME.size))
        return frame[0], frame[1]

    def blob(self, length: int) -> bytes:
        """Return the bytes that were announced."""
        if not 0 <= length <= BLOB_LIMIT:
            raise OSError(f"a message cannot have {length} bytes")
        return bytes(self._take(length))

    def _take(self, length: int) -> bytearray:
        while len(self._held) < length:
            if not (more := self._channel.recv(max(CHUNK, min(length - len(self._held), 1 << 24)))):
                raise OSError("the other side has gone")
            self._held += more
        taken = self._held[:length]
        del self._held[:length]
        return taken


def send_blob(channel: socket.socket, data: bytes) -> None:
    """Announce the bytes and send them."""
    channel.sendall(FRAME.pack(END, len(data)) + data)


def _read(facts: bytes, samples: bytes) -> Run:
    told = json.loads(facts)
    kept = Samples.load(io.BytesIO(samples))
    validity = Validity(tuple(told["reasons"]))
    return Run(told["kind"], told["asked"], kept, told["duration_ns"], validity, told["host"] | {"apart": True})
