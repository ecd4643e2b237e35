"""The other load generators beside ours: what they print is read right, and the runners end, whatever the tool does."""

from __future__ import annotations

import os
import re
import stat
import subprocess
import sys
import threading
import time
import zipfile
from concurrent.futures import Future, ThreadPoolExecutor
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from batchproof.fixtures.load.others import compare, loadgen, locusts, perf_analyzer
from batchproof.fixtures.load.others.agreement import Pair, Side, agreement, lines
from batchproof.fixtures.load.others.opinion import Opinion, ToolFailed, ToolMissing, end, guarded
from batchproof.fixtures.load.samples import NEVER, OUTCOMES, Samples
from batchproof.fixtures.load.schedule import Schedule, constant, parse, poisson
from batchproof.fixtures.target import Kind, Refused, Request, TargetInfo

if TYPE_CHECKING:
    from collections.abc import Iterator

MS = 1_000_000
# What the tools wrote, shortened: perf_analyzer 2.51.0 on the embedded Triton, LoadGen 6.0.17, Locust 2.47.0.
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
STATS = """\
Type,Name,Request Count,Failure Count,Median Response Time,Requests/s,Failures/s,50%,66%,75%,80%,90%,95%,98%,99%,99.9%
grpc,infer,485,0,22,202.14186138602054,0.0,22,25,26,28,34,41,51,58,64
,Aggregated,485,0,22,202.14186138602054,0.0,22,25,26,28,34,41,51,58,64
"""


def mllog(key: str, value: str, error: str = "false") -> str:
    """Return a line of LoadGen's detail log."""
    return (f':::MLLOG {{"key": "{key}", "value": {value}, "time_ms": 2002.159408, "namespace": "mlperf::logging", '
            f'"event_type": "POINT_IN_TIME", "metadata": {{"is_error": {error}, "is_warning": false, "file": "results.cc", '
            '"line_no": 1, "pid": 1, "tid": 1}}\n')


DETAIL = "".join(
    mllog(key, value) for key, value in (
        ("effective_scenario", '"Server"'), ("result_validity", '"VALID"'), ("result_min_duration_met", "true"),
        ("result_min_queries_met", "true"), ("early_stopping_met", "true"), ("result_completed_samples_per_sec", "990.43"),
        ("result_50.00_percentile_latency_ns", "127466"), ("result_99.00_percentile_latency_ns", "771425"),
        ("result_99.90_percentile_latency_ns", "2511270"),
    )
)
ENDED = "Ending early: Ran out of generated queries to issue"
EARLY = mllog("error_runtime", f'"{ENDED}"', "true")


def samples(scheduled: list[int], sent: list[int], done: list[int], failed: tuple[int, ...] = ()) -> Samples:
    """Return samples in ns; those of `failed` were refused as full."""
    outcome = np.array([OUTCOMES.index("full" if n in failed else "answered") for n in range(len(done))], dtype=np.uint8)
    columns = (np.array(one, dtype=np.int64) for one in (scheduled, sent, done))
    return Samples(*columns, outcome, np.zeros(len(done), dtype=np.int32))


# perf_analyzer


def test_its_report_and_its_records() -> None:
    """Microseconds become ns; records come in the order of sending, from zero on, and what got no answer never ended."""
    said, raw = perf_analyzer.parse_csv(CSV), perf_analyzer.parse_profile(PROFILE)

    assert said == {
        "throughput": 1023.45, "p50": 15_082_000.0, "p90": 17_668_000.0, "p95": 18_950_000.0, "p99": 24_756_000.0,
        "server_queue_ns": 7_956_000.0, "server_compute_infer_ns": 4_895_000.0, "network_server_send_recv_ns": 290_000.0,
    }
    assert raw.sent_ns.tolist() == [0, 8_849_264, 11_790_020] == raw.scheduled_ns.tolist()
    assert raw.done_ns.tolist() == [8_775_196, 24_440_608, NEVER]
    assert [OUTCOMES[one] for one in raw.outcome] == ["answered", "answered", "unanswered"]


def test_its_warnings_are_reasons() -> None:
    """A run that it calls unstable is no result."""
    [warned] = perf_analyzer.warnings_in(PRINTED)

    assert "latency is not stabilizing" in warned
    assert perf_analyzer.warnings_in("Failed to obtain stable measurement.\n")
    assert perf_analyzer.warnings_in(PRINTED.partition("Warning")[0]) == ()


def test_what_it_is_given() -> None:
    """One row without its batch dimension; the gaps of a schedule whose rounding never adds up."""
    row = Request("load", 7, work_ns=5, row_work_ns=3).tensor()
    assert perf_analyzer.input_data({"IN": row}) == '{"data": [{"IN": {"content": [7, 0, 5, 3, 0, 0, 0, 0], "shape": [8]}}]}'
    with pytest.raises(ValueError, match="one row, not 2"):
        perf_analyzer.input_data({"IN": np.zeros((2, 8), dtype=np.int64)})

    schedule = poisson(3000, 5.0, 7)
    gaps = np.array(perf_analyzer.intervals(schedule).split(), dtype=np.int64)
    assert len(gaps) == schedule.count
    assert gaps.min() == 1
    assert np.abs(np.cumsum(gaps) * 1000 - schedule.due_ns).max() < 5_000


def tool(folder: Path, body: str) -> Path:
    """Write a program that answers --version as perf_analyzer does, and else does this."""
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
    """Run what BATCHPROOF_PERF_ANALYZER names."""
    with perf_analyzer.found() as found:
        return perf_analyzer.measure(found, "host:1", "model", {"IN": Request("load", 1).tensor()}, **load)


def test_it_is_driven(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The command is its own, and its figures come back with its version and its clock."""
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
def test_it_fails(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, body: str, message: str) -> None:
    """No figures are an error that says what it said."""
    monkeypatch.setenv(perf_analyzer.VARIABLE, str(tool(tmp_path, body)))

    with pytest.raises(ToolFailed, match=f"(?s){message}"):
        analyzed(clients=1)


def test_it_hangs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Its time is bounded."""
    monkeypatch.setenv(perf_analyzer.VARIABLE, str(tool(tmp_path, "print('here', flush=True); time.sleep(60)")))
    with perf_analyzer.found() as found:
        monkeypatch.setattr(perf_analyzer, "START_S", 0.5)

        with pytest.raises(ToolFailed, match=r"(?s)not ready after.*here"):
            perf_analyzer.measure(found, "host:1", "m", {"IN": Request("load", 1).tensor()}, clients=1, window_ms=1)


def test_it_is_missing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Every way of not having it says how to get it."""
    monkeypatch.delenv(perf_analyzer.VARIABLE, raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    with pytest.raises(ToolMissing, match=r"pip download tritonclient==2\.51\.0"):
        analyzed(clients=1)

    (tmp_path / "perf_analyzer").write_text("a placeholder", encoding="utf-8")
    for named, message in ((tmp_path / "none", "no such file"), (tmp_path / "perf_analyzer", "does not run")):
        monkeypatch.setenv(perf_analyzer.VARIABLE, str(named))
        with pytest.raises(ToolMissing, match=message):
            analyzed(clients=1)


def test_it_is_taken_out_of_a_wheel(tmp_path: Path) -> None:
    """The binary comes out executable; a wheel that has none, and a file that is none, are named."""
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


# MLPerf LoadGen


def test_its_log() -> None:
    """Percentiles are in ns and from the schedule; its samples here know no due times, so its own percentiles are taken."""
    raw = samples([0, 5], [0, 5], [50, 90])
    opinion = loadgen.opinion(loadgen.parse_detail(DETAIL), "poisson:rate=1000", raw, release="6.0")

    assert (opinion.throughput, opinion.kind, opinion.clock, opinion.valid) == (990.43, "open", "schedule", True)
    assert opinion.latency_ns() == {"p50": 127_466, "p90": None, "p99": 771_425, "p99_9": 2_511_270}
    assert opinion.service_ns()["p50"] == 50


def test_its_invalid_run() -> None:
    """What it calls invalid, and an error of its own, are reasons; a log without a result is a failure."""
    raw = samples([0], [0], [1])
    broken = DETAIL.replace('"VALID"', '"INVALID"').replace('met", "value": true', 'met", "value": false')
    said = loadgen.parse_detail(broken)
    assert loadgen.opinion(said, "", raw, release="").reasons == (
        "LoadGen: it was shorter than asked", "LoadGen: it had too few queries",
    )
    assert loadgen.opinion(loadgen.parse_detail(DETAIL + EARLY), "", raw, release="").reasons == (f"LoadGen: {ENDED}",)
    with pytest.raises(ToolFailed, match="Ending early"):
        loadgen.opinion(loadgen.parse_detail(EARLY), "", raw, release="")


def has_loadgen() -> None:
    """Skip without it."""
    pytest.importorskip("mlperf_loadgen", reason="LoadGen is not installed: pip install 'batchproof[opinions]'")


def test_it_measures() -> None:
    """A Server run on something that takes a while: it sends what its log says, and no answer is faster than the work."""
    has_loadgen()
    with ThreadPoolExecutor(4) as pool:
        opinion = loadgen.server(lambda _number: pool.submit(time.sleep, 0.002), 200, seconds=0.5, seed=3, limit_ns=10**9)

    assert opinion.samples is not None
    assert opinion.requests == opinion.samples.count > 50
    assert opinion.samples.answered.all()
    assert opinion.samples.service_ns.min() >= 2 * MS
    assert opinion.said_ns["p50"] >= 2 * MS
    assert opinion.kind == "open"


def test_its_other_scenarios() -> None:
    """One after the other is never two at once; Offline sends everything at once."""
    has_loadgen()
    with ThreadPoolExecutor(1) as pool:
        one = loadgen.single_stream(lambda _number: pool.submit(time.sleep, 0.001), seconds=0.2, expected_ns=MS)
        whole = loadgen.offline(lambda _number: pool.submit(time.sleep, 0.001), 200, seconds=0.2)

    assert one.samples is not None
    assert (one.samples.sent_ns[1:] >= one.samples.done_ns[:-1]).all()
    assert 0 < one.throughput < 1000
    assert whole.requests == 44
    assert 0 < whole.throughput < 1000


@pytest.mark.parametrize("how", ["refused", "raises", "never"])
def test_it_knows_no_failures(how: str) -> None:
    """A request that is refused, or never answered, makes its run invalid; and it ends."""
    has_loadgen()

    def submit(number: int) -> Future[Any]:
        future: Future[Any] = Future()
        if number % 4 or how == "never":
            if how != "never":
                future.set_result(None)
        elif how == "refused":
            future.set_exception(Refused(Kind.FULL, "full"))
        else:
            raise Refused(Kind.FULL, "full")
        return future

    opinion = loadgen.server(submit, 200, seconds=0.2, limit_ns=10**9, wait_s=0.2)

    assert opinion.samples is not None
    assert ("were not answered in time" if how == "never" else "LoadGen counts them as answers") in opinion.reasons[-1]
    assert set(opinion.samples.outcomes()) == ({"unanswered"} if how == "never" else {"answered", "full"})


def test_without_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """The message names the extra."""
    monkeypatch.setitem(sys.modules, "mlperf_loadgen", None)
    with pytest.raises(ToolMissing, match=r"batchproof\[opinions\]"):
        loadgen.module()


# Locust


def has_locust() -> None:
    """Skip without it; it is not imported, as gevent patches whatever it finds."""
    if find_spec("locust") is None:
        pytest.skip("Locust is not installed: pip install 'batchproof[opinions]'")


def test_a_schedule_is_split() -> None:
    """Every request has exactly one sender, whatever the number of workers, and each one's stay in order."""
    for count, workers in ((10, 1), (10, 3), (2, 4)):
        parts = [locusts.share(count, workers, index) for index in range(workers)]
        assert sorted(np.concatenate(parts).tolist()) == list(range(count))
        assert max(map(len, parts)) - min(map(len, parts)) <= 1
        assert all((np.diff(part) > 0).all() for part in parts)
    with pytest.raises(ValueError, match="no worker 2 of 2"):
        locusts.share(10, 2, 2)


def test_its_parts_are_merged() -> None:
    """The workers' samples, each with its own column, in the order of the schedule."""
    whole = locusts.merged([samples([0, 20], [1, 21], [9, 30]), samples([10, 30], [11, 31], [19, NEVER], failed=(1,))])

    assert whole.scheduled_ns.tolist() == [0, 10, 20, 30]
    assert whole.done_ns.tolist() == [9, 19, 30, NEVER]
    assert [OUTCOMES[one] for one in whole.outcome] == ["answered", "answered", "answered", "full"]


def test_its_statistics() -> None:
    """The line of all requests, in ns."""
    assert locusts.parse_stats(STATS) == {"throughput": 202.14186138602054, "p50": 22e6, "p90": 34e6, "p99": 58e6}
    with pytest.raises(ToolFailed, match="no line of all requests"):
        locusts.parse_stats(STATS.replace("Aggregated", "other"))


def test_it_is_judged_by_its_lag() -> None:
    """Figures are ours, from the schedule; requests without an answer, and sending late, make them no result."""
    schedule, scheduled = constant(100, 1.0), [n * 10 * MS for n in range(100)]
    good = samples(scheduled, scheduled, [at + 5 * MS for at in scheduled])
    late = samples(scheduled, [at + 3 * MS for at in scheduled], [at + 5 * MS for at in scheduled])
    lost = samples(scheduled, scheduled, [*(at + 5 * MS for at in scheduled[:-1]), 2000 * MS], failed=(99,))
    said = {"throughput": 90.0, "p50": 5e6}

    opinions = [locusts.opinion(one, said, schedule, "2", workers=2, wire="grpc") for one in (good, late, lost)]

    assert [one.valid for one in opinions] == [True, False, False]
    assert (opinions[0].throughput, opinions[0].latency_ns()["p50"], opinions[0].said_ns["p50"]) == (100.0, 5 * MS, 5 * MS)
    assert opinions[1].reasons == ("the p99 of its send lag is 3.0 ms, of a p99 of 5.0 ms",)
    assert opinions[2].reasons == ("1 of 100 requests got no answer",)


def test_workers_must_be_able_to_make_the_schedule() -> None:
    """A schedule whose text says something else is refused before anything starts."""
    has_locust()
    other = Schedule(np.array([0, 5], dtype=np.int64), "constant:rate=1,seconds=5")
    with pytest.raises(ValueError, match="cannot make this schedule again"):
        locusts.measure("127.0.0.1:1", "model", [0], other)


@pytest.fixture
def server() -> Iterator[tuple[str, list[int]]]:
    """A gRPC server that answers ModelInfer with nothing, and keeps the first number of each request."""
    import grpc
    from tritonclient.grpc import service_pb2, service_pb2_grpc

    seen: list[int] = []

    class Service(service_pb2_grpc.GRPCInferenceServiceServicer):
        def ModelInfer(self, request: Any, context: Any) -> Any:  # noqa: N802
            number = int(np.frombuffer(request.raw_input_contents[0], dtype=np.int64)[0])
            seen.append(number)
            if number == 11:
                context.abort(grpc.StatusCode.UNAVAILABLE, "Exceeds maximum queue size")
            return service_pb2.ModelInferResponse(model_name=request.model_name)

    running = grpc.server(ThreadPoolExecutor(8))
    service_pb2_grpc.add_GRPCInferenceServiceServicer_to_server(Service(), running)
    port = running.add_insecure_port("127.0.0.1:0")
    running.start()
    yield f"127.0.0.1:{port}", seen
    running.stop(None).wait()


def test_master_and_workers(server: tuple[str, list[int]]) -> None:
    """Two workers send one schedule, each request once and none early; nothing of gevent comes into this process."""
    has_locust()
    address, seen = server
    before = "gevent" in sys.modules  # tritonclient.http brings it, in other tests
    schedule = parse("poisson:rate=60,seconds=1,seed=5")

    opinion = locusts.measure(address, "model", [0] * 8, schedule, start_s=80.0)

    got = opinion.samples
    assert got is not None
    assert got.scheduled_ns.tolist() == schedule.due_ns.tolist()
    assert sorted(seen) == sorted([1, 1, *range(1, schedule.count + 1)])  # each worker connects with a request of its own
    assert got.client.tolist() == [n % 2 for n in range(schedule.count)]
    assert got.lag_ns.min() >= 0
    assert got.outcomes() == {"answered": schedule.count - 1, "full": 1}
    assert OUTCOMES[got.outcome[10]] == "full"
    assert not opinion.valid
    assert ("gevent" in sys.modules) == before


# What is alike


def test_children_die_with_us() -> None:
    """A tool that we started ends when we are killed, and `end` ends one that ignores what it is asked."""
    deaf = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('up', flush=True); time.sleep(60)"
    process = subprocess.Popen([sys.executable, "-c", deaf], stdout=subprocess.PIPE)
    assert process.stdout is not None
    process.stdout.readline()
    end(process, limit_s=0.1)
    process.stdout.close()
    assert process.poll() == -9

    starts = ("import subprocess, sys; from batchproof.fixtures.load.others.opinion import guarded; "
              "child = subprocess.Popen(guarded('/bin/sleep', '60')); print(child.pid, flush=True); sys.stdin.read()")
    parent = subprocess.Popen([sys.executable, "-c", starts], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert parent.stdout is not None
    assert parent.stdin is not None
    child = int(parent.stdout.readline())
    deadline = time.monotonic() + 20
    while Path(f"/proc/{child}/comm").read_text().strip() != "sleep" and time.monotonic() < deadline:
        time.sleep(0.01)  # until then it may not have asked to be told of our end
    parent.kill()
    parent.communicate()
    while Path(f"/proc/{child}").exists() and "Z" not in Path(f"/proc/{child}/stat").read_text().split()[2]:
        assert time.monotonic() < deadline
        time.sleep(0.01)
    assert guarded("a", "b")[-2:] == ["a", "b"]


def side(
    throughput: float = 100.0, p50: float = 10.0, service: float | None = None, *, clock: str = "send", why: str = "",
) -> Side:
    """Return figures in requests per second and ms."""
    service_ns = round((p50 if service is None else service) * MS)
    return Side("tool", clock, throughput, round(p50 * MS), 2 * round(p50 * MS), service_ns, None, (why,) if why else ())


@pytest.mark.parametrize(
    ("ours", "theirs", "verdict", "why"),
    [
        (side(), side(104.0, 10.9), "AGREES", ""),
        (side(), side(94.0), "DIFFERS", "not the same throughput"),
        (side(100.0, 10.0, 8.0), side(100.0, 8.1), "EXPLAINED", "starts at the actual send: .* 1.01"),
        (side(100.0, 10.0, 9.5), side(100.0, 12.0, 9.6, clock="schedule"), "EXPLAINED", "sends later than ours"),
        (side(), side(100.0, 7.0), "DIFFERS", "p50 0.70 of ours; from the actual send 0.70: nothing here explains it"),
        (side(why="stalled"), side(10.0), "INVALID", "ours: stalled"),
        (side(), Side.nothing("tool", "it hung"), "INVALID", "it hung"),
    ],
    ids=["near", "slower", "clock", "late", "unexplained", "invalid", "nothing"],
)
def test_agreement(ours: Side, theirs: Side, verdict: str, why: str) -> None:
    """Within 5 % and 10 %, or explained by the clock, or it differs; a round that is invalid is shown and not judged."""
    [judged] = agreement([Pair("load", ours, theirs)])

    assert judged.verdict == verdict
    assert re.search(why, judged.why)
    assert len(lines([judged])) == 3


class Sleeper:
    """A target and its deployment: one request at a time, a millisecond each."""

    info = TargetInfo("sleeper", "1", "here")

    def deploy(self, _config: Any) -> Sleeper:
        """Start."""
        self.pool = ThreadPoolExecutor(1)
        return self

    def submit(self, _request: Request) -> Future[Any]:
        """Sleep."""
        return self.pool.submit(time.sleep, 0.001)

    def close(self) -> None:
        """End."""
        self.pool.shutdown()


def test_the_comparison_measures() -> None:
    """LoadGen and ours on the same target, for a moment: every scenario has figures of both."""
    has_loadgen()
    said: list[str] = []

    pairs = compare.in_process(Sleeper(), 1, 0.3, said.append)

    assert [pair.name for pair in pairs] == [f"sleeper: LoadGen {one}" for one in ("Server", "SingleStream", "Offline")]
    assert all(pair.ours.throughput > 0 and pair.theirs.throughput > 0 for pair in pairs)
    assert [pair.theirs.clock for pair in pairs] == ["schedule", "send", "send"]
    assert len(said) == 3


def test_a_tool_that_is_missing_is_said_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without LoadGen there is nothing to compare, and the message says how to get it."""
    monkeypatch.setitem(sys.modules, "mlperf_loadgen", None)
    said: list[str] = []

    assert compare.in_process(Sleeper(), 3, 0.1, said.append) == []
    assert said == ["skipped: MLPerf LoadGen is not here: pip install 'batchproof[opinions]'"]


def test_invalid_rounds_do_not_count() -> None:
    """The median is that of the valid rounds; latencies that mean something else are not compared."""
    good, bad = Pair("load", side(), side(101.0)), Pair("load", side(), side(5.0, why="unstable"))
    offline = Pair("offline", side(), side(100.0, 900.0), latency=False)

    first, second = agreement([bad, good, offline, bad])

    assert (first.verdict, first.rounds, first.valid, first.throughput) == ("AGREES", 3, 1, 1.01)
    assert (second.verdict, second.p50, second.service_p50) == ("AGREES", None, None)


def test_one_loadgen_at_a_time() -> None:
    """LoadGen is one for a process: a second run waits for the first."""
    has_loadgen()
    spans: list[tuple[int, int]] = []

    def run() -> None:
        begun: list[int] = []

        def submit(_number: int) -> Future[Any]:
            begun.append(time.monotonic_ns())
            future: Future[Any] = Future()
            future.set_result(None)
            return future

        loadgen.server(submit, 100, seconds=0.1, limit_ns=10**9)
        spans.append((begun[0], begun[-1]))

    threads = [threading.Thread(target=run) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    (_, first_end), (second_start, _) = sorted(spans)
    assert second_start > first_end
