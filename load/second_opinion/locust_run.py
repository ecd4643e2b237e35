"""Locust, distributed, as an engine for more load than one machine can offer, and as a second opinion.

A master and its workers, each a process of its own (gevent patches whatever it touches, so it is kept out of this one);
the workers' users send our schedules through tritonclient, split round robin, and we keep the samples: Locust itself counts
from the actual send and rounds to a millisecond. Here on loopback; for other machines `commands` gives the same lines.
"""

from __future__ import annotations

import contextlib
import csv
import io
import json
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np

from batchproof.host.scratch import scratch
from batchproof.load.samples import Samples
from batchproof.load.schedule import Schedule, parse
from batchproof.load.second_opinion.opinion import Opinion, ToolFailed, ToolMissing, end, guarded, tail

ORDER = "BATCHPROOF_LOCUST_ORDER"  # the environment variable that tells master and workers what to do
FILE = Path(__file__).with_name("locust_file.py")
POLL_S = 0.05
END_S = 10.0  # the master's last words: it waits for its workers' statistics
LAG_SHARE = 0.1  # its samples are not a result if late sending makes up more than this of the p99


@dataclass(frozen=True)
class Order:
    """The order for the master and its workers.

    address: host:port of a Triton's `wire` ("grpc" or "http") endpoint. model, tensor, row: what to ask it, int64 [1, n];
    the first number of the row becomes the request's number + 1. schedule: its spec. wait_s: how long an answer may take.
    start_s: how long all may take to be ready. into: the folder for the samples.
    """

    address: str
    wire: str
    model: str
    tensor: str
    row: tuple[int, ...]
    schedule: str
    workers: int
    wait_s: float
    start_s: float
    into: str

    def to_json(self) -> str:
        """Return it as text."""
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> Order:
        """Read what `to_json` wrote."""
        given = json.loads(text)
        return cls(**{**given, "row": tuple(given["row"])})


def samples_file(folder: Path, index: int) -> Path:
    """Return where a worker's samples are kept."""
    return folder / f"worker-{index}.npz"


def commands(order: Order, host: str, port: int, stats: Path) -> tuple[list[str], list[str]]:
    """Return the master's command and that of every worker; both need the variable ORDER in their environment."""
    locust = [sys.executable, "-m", "locust", "-f", str(FILE), "--loglevel", "WARNING"]
    master = [*locust, "--master", "--master-bind-host", host, "--master-bind-port", str(port), "--headless"]
    master += ["--expect-workers", str(order.workers), "--expect-workers-max-wait", str(round(order.start_s))]
    master += ["-u", str(order.workers), "-r", str(order.workers), "--only-summary", "--csv", str(stats)]
    master += ["--exit-code-on-error", "0", "--reset-stats"]
    return master, [*locust, "--worker", "--master-host", host, "--master-port", str(port)]


def measure(
    address: str,
    model: str,
    row: Sequence[int],
    schedule: Schedule,
    *,
    workers: int = 2,
    wire: str = "grpc",
    tensor: str = "IN",
    wait_s: float = 5.0,
    start_s: float = 40.0,
) -> Opinion:
    """Send a schedule from local workers to one model of the Triton at `address` and return what was seen.

    row: one request of int64 [1, n], see `Order`. ToolMissing without Locust; ToolFailed if it does not end in time.
    """
    try:
        release = version("locust")
    except PackageNotFoundError:
        raise ToolMissing("Locust is not installed: pip install 'batchproof[opinions]'") from None
    if not np.array_equal(parse(schedule.spec).due_ns, schedule.due_ns):
        raise ValueError(f"the workers cannot make this schedule again from '{schedule.spec}'")
    with tempfile.TemporaryDirectory(prefix=scratch()) as name:
        folder = Path(name)
        order = Order(
            address, wire, model, tensor, tuple(map(int, row)), schedule.spec, workers, wait_s, start_s, str(folder)
        )
        _run(order, folder, start_s + schedule.seconds + wait_s + END_S)
        parts = [Samples.load(samples_file(folder, index)) for index in range(workers)]
        said = parse_stats((folder / "said_stats.csv").read_text(encoding="utf-8"))
    samples = merged(parts)
    return opinion(samples, said, schedule, release, workers, wire)


def opinion(
    samples: Samples, said: Mapping[str, float], schedule: Schedule, release: str, workers: int, wire: str
) -> Opinion:
    """Return our figures from the workers' samples, and those that Locust reports itself."""
    said_ns = {name: int(said[name]) for name in ("p50", "p90", "p99") if name in said}
    in_time = int(np.count_nonzero(samples.answered & (samples.done_ns <= schedule.end_ns)))
    throughput = in_time / schedule.seconds  # as `Run.throughput`: what is answered while load is offered
    more: dict[str, Any] = {"workers": workers, "wire": wire, "said_throughput": said.get("throughput")}
    found = Opinion(
        "locust", release, "open", schedule.spec, "schedule", throughput, samples.count, said_ns, (), samples, True, more
    )
    return Opinion(**{**vars(found), "reasons": _faults(found)})


def _faults(found: Opinion) -> tuple[str, ...]:
    samples = found.samples
    assert samples is not None
    unanswered = samples.count - int(samples.answered.sum())
    words = [f"{unanswered} of {samples.count} requests got no answer"] if unanswered else []
    lag_ns, whole_ns = int(np.quantile(samples.lag_ns, 0.99)), found.latency_ns()["p99"]
    if whole_ns and lag_ns > LAG_SHARE * whole_ns:
        words.append(f"the p99 of its send lag is {lag_ns / 1e6:.1f} ms, of a p99 of {whole_ns / 1e6:.1f} ms")
    return tuple(words)


def _run(order: Order, folder: Path, limit_s: float) -> None:
    environment = {**os.environ, ORDER: order.to_json(), "OMP_NUM_THREADS": "1"}
    master, worker = commands(order, "127.0.0.1", _free_port(), folder / "said")
    with contextlib.ExitStack() as stack:
        processes = []
        for number, command in enumerate([master] + [worker] * order.workers):
            log = stack.enter_context((folder / f"{number}.log").open("wb"))
            process = subprocess.Popen(
                guarded(*command), env=environment, cwd=folder, stdin=subprocess.DEVNULL, stdout=log, stderr=log
            )
            stack.callback(end, process)
            processes.append(process)
        deadline = time.monotonic() + limit_s
        while processes[0].poll() is None and time.monotonic() < deadline:
            if all(one.poll() is not None for one in processes[1:]):
                break  # no worker is left: the master would wait for ever
            time.sleep(POLL_S)
        with contextlib.suppress(subprocess.TimeoutExpired):
            processes[0].wait(max(0.0, min(END_S, deadline - time.monotonic())))
    if missing := [number for number in range(order.workers) if not samples_file(folder, number).exists()]:
        logs = "\n".join((folder / f"{number}.log").read_text(errors="replace") for number in range(order.workers + 1))
        raise ToolFailed(
            f"Locust's workers {missing} did not deliver samples within {limit_s:.0f} s; what it wrote:\n{_worst(logs)}"
        )


def _worst(logs: str) -> str:
    """Return the warnings and errors of all processes, else the end of what they said."""
    return tail("\n".join(line for line in logs.splitlines() if "ERROR" in line or "WARNING" in line) or logs)


def merged(parts: Sequence[Samples]) -> Samples:
    """Return the samples of all workers in the order of the schedule."""
    columns = {name: np.concatenate([getattr(one, name) for one in parts]) for name in vars(parts[0])}
    order = np.argsort(columns["scheduled_ns"], kind="stable")
    return Samples(**{name: column[order] for name, column in columns.items()})


def parse_stats(text: str) -> dict[str, float]:
    """Return what Locust's --csv says of all requests: `throughput` per second, p50, p90 and p99 in ns, rounded."""
    for row in csv.DictReader(io.StringIO(text)):
        if row["Name"] != "Aggregated":
            continue
        said = {"throughput": float(row["Requests/s"])}
        percentiles = {"p50": row["50%"], "p90": row["90%"], "p99": row["99%"]}
        return {**said, **{name: float(value) * 1e6 for name, value in percentiles.items() if value not in ("", "N/A")}}
    raise ToolFailed("Locust's statistics have no line of all requests")


def _free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port: int = one.getsockname()[1]
        return port
