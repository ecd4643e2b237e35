"""What another load generator says about a target, in the same units as our own runs."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from batchproof.host import guard
from batchproof.load.samples import Samples
from batchproof.stats.arrays import NEVER
from batchproof.stats.percentile import percentile

PERCENTS = {"p50": 50.0, "p90": 90.0, "p99": 99.0, "p99_9": 99.9}
GUARD = Path(guard.__file__)


class ToolMissing(Exception):
    """The other tool is not installed, or cannot run; the message says how to get it."""


class ToolFailed(Exception):
    """The other tool ran without a result; the message has the end of what it printed."""


@dataclass(frozen=True, eq=False)
class Opinion:
    """One measurement by another tool.

    kind: "open" or "closed". asked: the load ("clients=16", a schedule's spec).
    clock: where its latency begins: "schedule" (when the request was due) or "send" (when it was really sent).
    throughput: answers per second, as it says. said_ns: latency percentiles in ns, as it says ("p50", "p90", "p99", ...).
    reasons: why its run is invalid, in its own judgement and ours. samples: raw records, if there are any.
    due: those know when each request was due; else their scheduled_ns is when it was sent.
    more: what else it says, as it says it.
    """

    tool: str
    version: str
    kind: str
    asked: str
    clock: str
    throughput: float
    requests: int
    said_ns: Mapping[str, int]
    reasons: tuple[str, ...] = ()
    samples: Samples | None = None
    due: bool = False
    more: Mapping[str, Any] = field(default_factory=dict)

    @property
    def valid(self) -> bool:
        """Whether its run has no reason against it."""
        return not self.reasons

    def latency_ns(self) -> dict[str, int | None]:
        """Return p50 to p99.9 by our convention (nearest rank) from its raw records, else what it says.

        None: no such percentile, or it lies among the requests that were not answered.
        """
        if self.samples is None or not self.samples.count or (self.clock == "schedule" and not self.due):
            return {name: self.said_ns.get(name) for name in PERCENTS}
        exact = {name: int(percentile(self.samples.latency_ns, percent)) for name, percent in PERCENTS.items()}
        return {name: None if value == NEVER else value for name, value in exact.items()}

    def service_ns(self) -> dict[str, int | None]:
        """Return the same from the actual send; nothing is known without raw records, unless that is its clock."""
        if self.samples is None or not self.samples.count:
            return {name: self.said_ns.get(name) if self.clock == "send" else None for name in PERCENTS}
        answered = self.samples.service_ns[self.samples.answered]
        if not len(answered):
            return dict.fromkeys(PERCENTS)
        return {name: int(percentile(answered, percent)) for name, percent in PERCENTS.items()}

    def summary(self) -> dict[str, Any]:
        """Return it as JSON can have it."""
        return {
            "tool": self.tool,
            "version": self.version,
            "kind": self.kind,
            "asked": self.asked,
            "clock": self.clock,
            "throughput": self.throughput,
            "requests": self.requests,
            "latency_ns": self.latency_ns(),
            "service_ns": self.service_ns(),
            "said_ns": dict(self.said_ns),
            "valid": self.valid,
            "reasons": list(self.reasons),
            "more": dict(self.more),
        }


def guarded(program: str, *arguments: str) -> list[str]:
    """Return the command that runs a program so that it ends when we end, even by SIGKILL (see host/guard.py)."""
    return [sys.executable, "-S", "-E", str(GUARD), str(os.getpid()), program, *arguments]


def end(process: subprocess.Popen[Any], limit_s: float = 5.0) -> None:
    """End a process that we started: ask first, then kill. Never raises; safe when it has ended."""
    for ask in (signal.SIGTERM, signal.SIGKILL):
        if process.poll() is not None:
            return
        process.send_signal(ask)
        try:
            process.wait(limit_s)
        except subprocess.TimeoutExpired:
            continue


def tail(text: str, lines: int = 8) -> str:
    """Return the end of what a tool printed."""
    return "\n".join(line[:300] for line in text.strip().splitlines()[-lines:]) or "(it printed nothing)"
