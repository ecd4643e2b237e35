"""perf_analyzer, Triton's own load generator, as a second opinion on a Triton.

The binary is in the manylinux wheels of tritonclient up to 2.51.0 (`pip download tritonclient==2.51.0 --no-deps`); the
package `perf-analyzer` on PyPI is an empty placeholder. Nothing is downloaded here: the binary, or the wheel file, is named
in BATCHPROOF_PERF_ANALYZER, or the binary is on PATH. Its latency starts at the actual send; in its figures,
a request that it sent late is as fast as any other (flagged beyond 1 ms).
"""

from __future__ import annotations

import contextlib
import csv
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from batchproof.host.scratch import scratch
from batchproof.load.samples import OUTCOMES, Samples
from batchproof.load.schedule import Schedule
from batchproof.load.second_opinion.opinion import Opinion, ToolFailed, ToolMissing, guarded, tail
from batchproof.stats.arrays import NEVER

VARIABLE = "BATCHPROOF_PERF_ANALYZER"
NAME = "perf_analyzer"
HOW = f"pip download tritonclient==2.51.0 --no-deps, then set {VARIABLE} to the wheel file"
LIBRARIES = ("libb64.so.0d", "libcudart.so.12")  # linked by the binary, and not in its wheel
START_S, WINDOW = 20.0, 1.2  # its windows last for 1.2 times what is asked
COLUMNS = {"p50": "p50 latency", "p90": "p90 latency", "p95": "p95 latency", "p99": "p99 latency"}


@dataclass(frozen=True)
class Tool:
    """A binary that runs. environment: with it. version: what it says of itself."""

    binary: Path
    environment: Mapping[str, str]
    version: str


@contextlib.contextmanager
def found() -> Iterator[Tool]:
    """Find the binary and what it needs; ToolMissing says how to get it. What is unpacked is removed at the end."""
    with tempfile.TemporaryDirectory(prefix=scratch()) as folder:
        binary = locate(Path(folder))
        environment = {**os.environ, "LD_LIBRARY_PATH": _library_path(Path(folder))}
        yield Tool(binary, environment, _version(binary, environment))


def locate(into: Path) -> Path:
    """Return the binary: the one that is named, or from the wheel that is named, or on PATH, or next to this Python."""
    if named := os.environ.get(VARIABLE):
        if not Path(named).is_file():
            raise ToolMissing(f"{VARIABLE} names {named}, which does not exist")
        return unpack(Path(named), into) if named.endswith(".whl") else Path(named)
    beside = Path(sys.executable).with_name(NAME)
    if on_path := shutil.which(NAME) or (str(beside) if beside.is_file() else None):
        return Path(on_path)
    raise ToolMissing(f"{NAME} is not installed: {HOW}")


def unpack(wheel: Path, into: Path) -> Path:
    """Take the binary out of a tritonclient wheel; ToolMissing if the wheel lacks it (as it does from 2.52.0 on)."""
    try:
        with zipfile.ZipFile(wheel) as archive:
            inside = next((name for name in archive.namelist() if name.endswith(f".data/data/bin/{NAME}")), None)
            if inside is None:
                raise ToolMissing(f"there is no {NAME} in {wheel.name}: {HOW}")
            binary = into / NAME
            with archive.open(inside) as source, binary.open("wb") as target:
                shutil.copyfileobj(source, target)
    except zipfile.BadZipFile:
        raise ToolMissing(f"{wheel} is not a wheel: {HOW}") from None
    binary.chmod(0o755)
    return binary


def _library_path(into: Path) -> str:
    """Link the libraries that the nvidia-pytriton wheel keeps under longer names (libb64-98cb6333.so.0d) to their own."""
    spec = find_spec("pytriton")
    kept = Path(spec.origin).parents[1] / "nvidia_pytriton.libs" if spec and spec.origin else None
    folder = into / "libraries"
    folder.mkdir()
    for name in LIBRARIES:
        stem, rest = name.split(".so", 1)
        if kept and (real := next(iter(sorted(kept.glob(f"{stem}-*.so{rest}*"))), None)):
            (folder / name).symlink_to(real)
    return os.pathsep.join(filter(None, (os.environ.get("LD_LIBRARY_PATH"), str(folder))))


def _version(binary: Path, environment: Mapping[str, str]) -> str:
    try:
        asked = [str(binary), "--version"]
        done = subprocess.run(asked, env=environment, capture_output=True, text=True, timeout=START_S, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise ToolMissing(f"{binary} does not run ({error}): {HOW}") from None
    if match := re.search(r"Perf Analyzer Version (\S+)", done.stdout + done.stderr):
        return match[1]
    if match := re.search(r"error while loading shared libraries: (\S+):", done.stderr):
        raise ToolMissing(f"{binary} needs {match[1]}: apt install libb64-0d, or pip install 'batchproof[triton]', has it")
    raise ToolMissing(f"{binary} is not a working {NAME} ({tail(done.stdout + done.stderr, 1)}): {HOW}")


def measure(
    tool: Tool,
    address: str,
    model: str,
    inputs: Mapping[str, Any],
    *,
    clients: int = 0,
    rate: float = 0.0,
    schedule: Schedule | None = None,
    window_ms: int = 1000,
    trials: int = 4,
    wire: str = "grpc",
) -> Opinion:
    """Load one model of the Triton at `address` (host:port of its gRPC or HTTP endpoint) and return what it says.

    inputs: name -> array [rows, ...], one request; batch size 1 needs one row. The load is one of: clients (a closed loop),
    rate (its own Poisson arrivals, the same ones in each run as it has no seed), schedule (its gaps, rounded to whole
    microseconds and repeated if it is shorter than the run). At most `trials` windows of 1.2 * window_ms.
    ToolFailed if it gives no result in time.
    """
    if sum(map(bool, (clients, rate, schedule is not None))) != 1:
        raise ValueError("give exactly one of clients, rate and schedule")
    with tempfile.TemporaryDirectory(prefix=scratch()) as name:
        folder = Path(name)
        (folder / "input.json").write_text(input_data(inputs), encoding="utf-8")
        load = ["--concurrency-range", str(clients)]
        asked = f"clients={clients}"
        if rate:
            load, asked = (
                ["--request-rate-range", f"{rate:g}", "--request-distribution", "poisson"],
                f"poisson:rate={rate:g}",
            )
        elif schedule is not None:
            (folder / "gaps.txt").write_text(intervals(schedule), encoding="ascii")
            load, asked = ["--request-intervals", str(folder / "gaps.txt")], schedule.spec
        command = guarded(str(tool.binary), "-m", model, "-u", address, "-i", wire, "--async", *load)
        command += ["--input-data", str(folder / "input.json"), "-p", str(window_ms), "-r", str(trials)]
        command += ["-f", str(folder / "said.csv"), "--profile-export-file", str(folder / "profile.json")]
        limit_s = START_S + 2 * trials * WINDOW * window_ms / 1e3
        printed = _run(command, tool.environment, limit_s)
        try:
            said = parse_csv((folder / "said.csv").read_text(encoding="utf-8"))
            samples = parse_profile((folder / "profile.json").read_text(encoding="utf-8"))
        except (OSError, ValueError, LookupError):
            raise ToolFailed(f"{NAME} gave no result; the end of what it said:\n{tail(printed)}") from None
    throughput = said.pop("throughput")
    said_ns = {key: int(said.pop(key)) for key in COLUMNS}
    kind = "closed" if clients else "open"
    more = {**said, "windows": printed.count("Pass [")}
    warned = warnings_in(printed)
    count = samples.count
    return Opinion(NAME, tool.version, kind, asked, "send", throughput, count, said_ns, warned, samples, more=more)


def _run(command: list[str], environment: Mapping[str, str], limit_s: float) -> str:
    try:
        done = subprocess.run(
            command,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=limit_s,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        said = error.stdout.decode("utf-8", "replace") if isinstance(error.stdout, bytes) else error.stdout or ""
        raise ToolFailed(f"{NAME} was not ready after {limit_s:.0f} s; the end of what it said:\n{tail(said)}") from None
    if done.returncode and "Pass [" not in done.stdout:
        raise ToolFailed(f"{NAME} ended with status {done.returncode}; the end of what it said:\n{tail(done.stdout)}")
    return done.stdout


def input_data(inputs: Mapping[str, Any]) -> str:
    """Return the text of its --input-data file: one request, the tensors without the batch dimension."""
    tensors = {}
    for name, values in inputs.items():
        array = np.asarray(values)
        if array.shape[0] != 1:
            raise ValueError(f"{name}: {NAME} makes batches of its own, so give one row, not {array.shape[0]}")
        tensors[name] = {"content": array[0].ravel().tolist(), "shape": list(array.shape[1:])}
    return json.dumps({"data": [tensors]})


def intervals(schedule: Schedule) -> str:
    """Return the text of its --request-intervals file: gaps in whole microseconds, at least 1, whose sum does not drift."""
    places = np.arange(1, schedule.count + 1)
    due_us = np.round(schedule.due_ns / 1e3).astype(np.int64)
    due_us = np.maximum.accumulate(np.maximum(due_us - places, 0)) + places  # at least one after the one before
    return "".join(f"{gap}\n" for gap in np.diff(due_us, prepend=0).tolist())


def parse_csv(text: str) -> dict[str, float]:
    """Return what its report (-f) says of one load: `throughput` per second, the percentiles and other times in ns."""
    row = next(csv.DictReader(io.StringIO(text)), None)
    if row is None:
        raise ValueError("a report without a line")
    said = {"throughput": float(row["Inferences/Second"])}
    said.update({key: float(row[column]) * 1e3 for key, column in COLUMNS.items()})
    for column in ("Server Queue", "Server Compute Infer", "Network+Server Send/Recv"):
        if row.get(column):
            said[re.sub(r"\W+", "_", column).lower() + "_ns"] = float(row[column]) * 1e3
    return said


def parse_profile(text: str) -> Samples:
    """Return the raw records of its --profile-export-file, in order of sending; scheduled_ns is when it really sent."""
    requests = json.loads(text)["experiments"][0]["requests"]
    if not requests:
        raise ValueError("an export without requests")
    sent = np.array([one["timestamp"] for one in requests], dtype=np.int64)
    done = np.array([(one["response_timestamps"] or [NEVER])[-1] for one in requests], dtype=np.int64)
    order = np.argsort(sent, kind="stable")
    start_ns = sent.min()
    answered = done[order] != NEVER
    sent_ns = sent[order] - start_ns
    done_ns = np.where(answered, done[order] - start_ns, NEVER)
    outcome = np.where(answered, OUTCOMES.index("answered"), OUTCOMES.index("unanswered")).astype(np.uint8)
    return Samples(sent_ns.copy(), sent_ns, done_ns, outcome, np.zeros(len(sent_ns), dtype=np.int32))


def warnings_in(printed: str) -> tuple[str, ...]:
    """Return what it warns of (unstable, delayed requests, no stable measurement): its figures are then not a result."""
    found_lines = re.findall(r"(?im)^\s*((?:warning|failed)\b.*)$", printed)
    return tuple(dict.fromkeys(f"{NAME}: {line.strip()}" for line in found_lines))
