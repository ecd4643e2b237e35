"""What all other load generators have in common: they end with us, and their figures agree with ours or differ."""

from __future__ import annotations

import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

from batchproof.load.second_opinion.agreement import Pair, Side, agreement, lines
from batchproof.load.second_opinion.opinion import end, guarded

MS = 1_000_000


def test_children_die_with_us() -> None:
    """A tool that we started ends when we are killed, and `end` ends one that ignores the signal."""
    deaf = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('up', flush=True); time.sleep(60)"
    process = subprocess.Popen([sys.executable, "-c", deaf], stdout=subprocess.PIPE)
    assert process.stdout is not None
    process.stdout.readline()
    end(process, limit_s=0.1)
    process.stdout.close()
    assert process.poll() == -9

    starts = ("import subprocess, sys; from batchproof.load.second_opinion.opinion import guarded; "
              "child = subprocess.Popen(guarded('/bin/sleep', '60')); print(child.pid, flush=True); sys.stdin.read()")
    parent = subprocess.Popen([sys.executable, "-c", starts], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert parent.stdout is not None
    assert parent.stdin is not None
    child = int(parent.stdout.readline())
    deadline = time.monotonic() + 20
    while Path(f"/proc/{child}/comm").read_text().strip() != "sleep" and time.monotonic() < deadline:
        time.sleep(0.01)  # before that it may not yet have asked for a signal at our end
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
        (side(), side(104.0, 10.9), "PASS", ""),
        (side(), side(94.0), "FAIL", "not the same throughput"),
        (side(100.0, 10.0, 8.0), side(100.0, 8.1), "PASS", "explained: its clock starts at the actual send: .* 1.01"),
        (side(100.0, 10.0, 9.5), side(100.0, 12.0, 9.6, clock="schedule"), "PASS", "explained: it sends later than ours"),
        (side(), side(100.0, 7.0), "FAIL", "p50 0.70 of ours; from the actual send 0.70: nothing here explains it"),
        (side(why="stalled"), side(10.0), "INCONCLUSIVE", "no valid round: ours: stalled"),
        (side(), Side.nothing("tool", "it hung"), "INCONCLUSIVE", "it hung"),
    ],
    ids=["near", "slower", "clock", "late", "unexplained", "invalid", "nothing"],
)
def test_two_generators_agree_or_differ(ours: Side, theirs: Side, verdict: str, why: str) -> None:
    """They agree within 5 % and 10 %, or the clock explains it, or they differ. An invalid round is shown but not judged."""
    [judged] = agreement([Pair("load", ours, theirs)])

    assert judged.verdict == verdict
    assert re.search(why, judged.why)
    assert len(lines([judged])) == 3


def test_invalid_rounds_do_not_count() -> None:
    """The median is that of the valid rounds, and latencies with another meaning are not compared."""
    good, bad = Pair("load", side(), side(101.0)), Pair("load", side(), side(5.0, why="unstable"))
    offline = Pair("offline", side(), side(100.0, 900.0), latency=False)

    first, second = agreement([bad, good, offline, bad])

    assert (first.verdict, first.rounds, first.valid, first.throughput) == ("PASS", 3, 1, 1.01)
    assert (second.verdict, second.p50, second.service_p50) == ("PASS", None, None)
