"""perf_analyzer and our load generator: its output is read correctly, and its runner ends, whatever it does."""

from __future__ import annotations

import json
import os
import stat
import sys
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from batchproof.load.samples import OUTCOMES
from batchproof.load.schedule import poisson
from batchproof.load.second_opinion import perf_analyzer
from batchproof.load.second_opinion.opinion import Opinion, ToolFailed, ToolMissing
from batchproof.stats.arrays import NEVER
from batchproof.targets.protocol import Request
from batchproof.targets.witness.probe import Payload

# What perf_analyzer 2.51.0 wrote on the embedded Triton, shortened.
CSV = """\
Concurrency,Inferences/Second,Client Send,Network+Server Send/Recv,Server Queue,Server Compute Input,Server Compute Infer,\
Server Compute Output,Client Recv,p50 latency,p90 latency,p95 latency,p99 latency
16,1023.45,4,290,7956,104,4895,2151,1,15082,17668,18950,24756
"""
PROFILE = """\
{"experiments":[{"experiment":{"mode":"concurrency","value":16},"requests":[
{"timestamp":1795288836127059244,"request_inputs":{},"response_timestamps":[1795288836142650588],"response_outputs":[{}]},
{"timestamp":1795288836118209980,"request_inputs":{},"response_timestamps":[1795288836126985176],"response_outputs":[{}]},
{"timestamp":1795288836130000000,"request_inputs":{},"response_timestamps":[],"response_outputs":[]}],
"window_boundaries":[1795288836117946748,1795288837323136883]}],"version":"","service_kind":"triton","endpoint":""}
"""
PRINTED = """\
Request Rate: 1000 inference requests per seconds
  Pass [1] throughput: 947.528 infer/sec. Avg latency: 11042 usec (std 4746 usec).
  Pass [2] throughput: 1000.81 infer/sec. Avg latency: 9139 usec (std 2832 usec).

Warning: Request latency is not stabilizing. Please try lowering the request rate.
"""


def test_the_report_and_the_records_are_read() -> None:
    """Microseconds become ns. Records are in the order of sending, from zero on; one without an answer never ended."""
    said, raw = perf_analyzer.parse_csv(CSV), perf_analyzer.parse_profile(PROFILE)

    assert said == {
        "throughput": 1023.45, "p50": 15_082_000.0, "p90": 17_668_000.0, "p95": 18_950_000.0, "p99": 24_756_000.0,
        "server_queue_ns": 7_956_000.0, "server_compute_infer_ns": 4_895_000.0, "network_server_send_recv_ns": 290_000.0,
    }
    assert raw.sent_ns.tolist() == [0, 8_849_264, 11_790_020] == raw.scheduled_ns.tolist()
    assert raw.done_ns.tolist() == [8_775_196, 24_440_608, NEVER]
    assert [OUTCOMES[one] for one in raw.outcome] == ["answered", "answered", "unanswered"]


def test_an_unstable_run_is_invalid() -> None:
    """A run that perf_analyzer calls unstable is not a result."""
    [warned] = perf_analyzer.warnings_in(PRINTED)

    assert "latency is not stabilizing" in warned
    assert perf_analyzer.warnings_in("Failed to obtain stable measurement.\n")
    assert perf_analyzer.warnings_in(PRINTED.partition("Warning")[0]) == ()


def test_perf_analyzer_gets_a_row_and_the_gaps() -> None:
    """It gets one row without its batch dimension, and the gaps of a schedule, in which rounding does not accumulate."""
    row = Request("load", 7, Payload(work_ns=5, row_work_ns=3)).tensor()
    values = {"content": [7, 0, 1, 5, 3, *[0] * (row.size - 5)], "shape": [row.size]}
    assert json.loads(perf_analyzer.input_data({"IN": row})) == {"data": [{"IN": values}]}
    with pytest.raises(ValueError, match="one row, not 2"):
        perf_analyzer.input_data({"IN": np.zeros((2, 8), dtype=np.int64)})

    schedule = poisson(3000, 5.0, 7)
    gaps = np.array(perf_analyzer.intervals(schedule).split(), dtype=np.int64)
    assert len(gaps) == schedule.count
    assert gaps.min() == 1
    assert np.abs(np.cumsum(gaps) * 1000 - schedule.due_ns).max() < 5_000


def tool(folder: Path, body: str) -> Path:
    """Write a program that answers --version like perf_analyzer, and otherwise does this."""
    path = folder / "perf_analyzer"
    version = "import sys, time, pathlib\nif '--version' in sys.argv: sys.exit('Perf Analyzer Version 9.9 (commit none)')\n"
    path.write_text(f"#!{sys.executable}\n{version}{body}\n", encoding="utf-8")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


WRITES = f"""
given = dict(zip(sys.argv, sys.argv[1:]))
assert given['--concurrency-range'] == '16' and given['-u'] == 'host:1' and '--async' in sys.argv
assert 'content' in pathlib.Path(given['--input-data']).read_text()
pathlib.Path(given['-f']).write_text({CSV!r})
pathlib.Path(given['--profile-export-file']).write_text({PROFILE!r})
print({PRINTED.partition("Warning")[0]!r})
"""


def analyzed(**load: Any) -> Opinion:
    """Run the program that BATCHPROOF_PERF_ANALYZER names."""
    with perf_analyzer.found() as found:
        return perf_analyzer.measure(found, "host:1", "model", {"IN": Request("load", 1).tensor()}, **load)


def test_perf_analyzer_is_run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The command is as it should be, and the figures come back with their version and clock."""
    monkeypatch.setenv(perf_analyzer.VARIABLE, str(tool(tmp_path, WRITES)))

    opinion = analyzed(clients=16)

    assert (opinion.tool, opinion.version, opinion.kind, opinion.clock) == ("perf_analyzer", "9.9", "closed", "send")
    assert (opinion.throughput, opinion.requests, opinion.said_ns["p50"]) == (1023.45, 3, 15_082_000)
    assert opinion.valid
    assert opinion.more["windows"] == 2
    assert opinion.latency_ns() == {"p50": 15_591_344, "p90": None, "p99": None, "p99_9": None}  # one of three is missing
    with pytest.raises(ValueError, match="one of clients, rate and schedule"):
        analyzed(clients=16, rate=5.0)


@pytest.mark.parametrize(
    ("body", "message"),
    [("sys.exit('no such model')", "status 1.*no such model"), ("print('Pass [1]'); sys.exit(2)", "gave no result")],
    ids=["refuses", "unstable"],
)
def test_a_failing_perf_analyzer_is_quoted(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, body: str, message: str) -> None:
    """A run without figures is an error that quotes its output."""
    monkeypatch.setenv(perf_analyzer.VARIABLE, str(tool(tmp_path, body)))

    with pytest.raises(ToolFailed, match=f"(?s){message}"):
        analyzed(clients=1)


def test_a_hanging_perf_analyzer_is_ended(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Its time is limited, and the error quotes what it printed before."""
    monkeypatch.setenv(perf_analyzer.VARIABLE, str(tool(tmp_path, "print('here', flush=True); time.sleep(60)")))
    with perf_analyzer.found() as found:
        monkeypatch.setattr(perf_analyzer, "START_S", 5.0)  # time enough to print on a busy host, and far from 60 s

        with pytest.raises(ToolFailed, match=r"(?s)not ready after.*here"):
            perf_analyzer.measure(found, "host:1", "m", {"IN": Request("load", 1).tensor()}, clients=1, window_ms=1)


def test_a_missing_perf_analyzer_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Every way in which it can be missing has a message that says so."""
    monkeypatch.delenv(perf_analyzer.VARIABLE, raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    with pytest.raises(ToolMissing, match=r"pip download tritonclient==2\.51\.0"):
        analyzed(clients=1)

    (tmp_path / "perf_analyzer").write_text("a placeholder", encoding="utf-8")
    for named, message in ((tmp_path / "none", "does not exist"), (tmp_path / "perf_analyzer", "does not run")):
        monkeypatch.setenv(perf_analyzer.VARIABLE, str(named))
        with pytest.raises(ToolMissing, match=message):
            analyzed(clients=1)


def test_the_binary_is_taken_out_of_a_wheel(tmp_path: Path) -> None:
    """The binary is executable. A wheel without one, and a file that is not a wheel, are named."""
    wheel = tmp_path / "tritonclient-2.51.0-py3-none-manylinux1_x86_64.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("tritonclient-2.51.0.data/data/bin/perf_analyzer", "binary")
    binary = perf_analyzer.unpack(wheel, tmp_path)
    assert binary.read_text() == "binary"
    assert os.access(binary, os.X_OK)

    newer = tmp_path / "tritonclient-2.73.0-py3-none-any.whl"
    with zipfile.ZipFile(newer, "w") as archive:
        archive.writestr("tritonclient/__init__.py", "")
    for given, message in ((newer, "no perf_analyzer in"), (binary, "is not a wheel")):
        with pytest.raises(ToolMissing, match=message):
            perf_analyzer.unpack(given, tmp_path / "elsewhere")
