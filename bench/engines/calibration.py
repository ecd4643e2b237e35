"""What a bench first finds out about an engine: how long an iteration takes, and what the engine serves when saturated.

Measurements that refer to these figures get them here; each figure is measured once per bench.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import ceil
from typing import Any

import numpy as np

from batchproof.bench.engines.serving import Serving, opened
from batchproof.bench.measurement import Bench
from batchproof.load.generation.demand import Demand
from batchproof.load.generation.runs import TextRun
from batchproof.load.generation.samples import Objective
from batchproof.load.workload import MS, Unmeasured, Work
from batchproof.reference_batcher.continuous import EngineConfig

LIST = 5000  # the most requests in a closed loop
FULL_NS = 20 * MS  # the assumed length of an iteration, for the objective, without a device and without visible iterations
LONE_SHARE = 0.5  # share of the saturated loop's time


@dataclass(frozen=True)
class Pace:
    """The time from one iteration's beginning to the next one's: base_ns, token_ns per new token, row_ns per row."""

    base_ns: float
    token_ns: float
    row_ns: float

    def takes_ns(self, rows: float, tokens: float = 0) -> int:
        """Return how long an iteration takes; without tokens, the time that does not depend on them."""
        return max(1, round(self.base_ns + self.row_ns * rows + self.token_ns * tokens))


@dataclass(frozen=True)
class Saturation:
    """An engine that always has more requests than rows. lone: the same with one client.

    pace: the time of its iterations; None if they are not visible. limit: the output tokens per second that no scheduler can
    exceed on this device; None without a device. paths: the samples of both runs.
    """

    work: Work
    config: EngineConfig
    run: TextRun
    lone: TextRun
    objective: Objective
    pace: Pace | None
    limit: float | None
    paths: tuple[str, ...]

    @property
    def reasons(self) -> tuple[str, ...]:
        """Why it is not a result."""
        lone = tuple(f"one client: {why}" for why in self.lone.validity.reasons)
        return (*self.run.validity.reasons, *lone)

    @property
    def valid(self) -> bool:
        """Whether its figures are a result."""
        return not self.reasons

    @property
    def verdict(self) -> str:
        """An empty string: it has no gate."""
        return ""

    @property
    def of_limit(self) -> float | None:
        """The achieved share of the limit."""
        return self.run.tokens_per_s / self.limit if self.limit else None

    @property
    def overhead_ns(self) -> int | None:
        """How much longer than the device's own time an iteration with all rows takes."""
        if self.pace is None:
            return None
        return round(self.pace.takes_ns(self.config.max_num_seqs) - self.work.base_ns)

    @property
    def says(self) -> str:
        """The throughput, and its share of the limit."""
        share = f", {self.of_limit:.0%} of what the device allows" if self.of_limit is not None else ""
        return f"{self.run.tokens_per_s:.0f} tokens/s and {self.run.requests_per_s:.1f} requests/s{share}"

    def facts(self) -> dict[str, Any]:
        """Return JSON data."""
        known = {
            "tokens_per_s": self.run.tokens_per_s,
            "requests_per_s": self.run.requests_per_s,
            "limit_tokens_per_s": self.limit,
            "overhead_ns": self.overhead_ns,
            "pace": vars(self.pace) if self.pace else None,
            "requests": self.run.samples.count,
            "iterations": len(self.run.lines),
        }
        about = {"valid": self.valid, "reasons": list(self.reasons), "config": self.config.facts()}
        about |= {"work": vars(self.work), "objective": vars(self.objective), "samples": list(self.paths)}
        about |= {"lengths": self.run.demand.spec, "host": self.run.host}
        return about | (known if self.valid else {"discarded": known})


Calibrate = Callable[[Work], Saturation]


def saturated(bench: Bench, work: Work) -> Saturation:
    """Saturate an engine, and load it with one client; Unmeasured if nothing is answered, Skipped as in `opened`."""
    with opened(bench, work) as serving:
        return saturation(serving)


def saturation(serving: Serving) -> Saturation:
    """Saturate an open engine, and load it with one client; Unmeasured if nothing is answered."""
    bench, config, work = serving.bench, serving.config, serving.work
    seconds = bench.seconds(10.0, 4.0)
    asked = bench.texts.list(LIST, bench.seed, config)
    bench.say("one client")
    serving.loaded.saturate(bench.texts.list(config.max_num_seqs, bench.seed, config), config.max_num_seqs, seconds)  # warm
    lone = serving.saturate(asked, 1, seconds * LONE_SHARE)
    bench.say("saturated")
    run = serving.saturate(asked, 2 * config.max_num_seqs, seconds)
    if not run.tokens_per_s:
        raise Unmeasured(f"saturation: {run.validity}")
    paths = serving.keep(f"{work.name}-saturated", run), serving.keep(f"{work.name}-one-client", lone)
    pace = pace_of(work, lone.lines, run.lines)
    full_ns = serving.full_ns or (pace and _rounded(pace.takes_ns(config.max_num_seqs, config.max_num_batched_tokens)))
    objective = bench.texts.objective(full_ns or FULL_NS)
    return Saturation(work, config, run, lone, objective, pace, limit(asked.first(run.samples.count), config, work), paths)


def limit(asked: Demand, config: EngineConfig, work: Work) -> float | None:
    """Return the output tokens per second that no scheduler can exceed on this device; None without a device.

    Each token of a text needs a row in an iteration, and each token but a text's last has to be computed. So the rows and
    the tokens each demand a minimum number of iterations, and each iteration takes its base time besides its tokens.
    """
    if not work.base_ns and not work.row_ns:
        return None
    texts = int(asked.texts.sum())
    tokens = int(asked.prompts.sum()) + texts - asked.count
    iterations = max(ceil(texts / config.max_num_seqs), ceil(tokens / config.max_num_batched_tokens))
    return texts * 1e9 / (iterations * work.base_ns + tokens * work.row_ns)


def pace_of(work: Work, lone: Sequence[Mapping[str, Any]], full: Sequence[Mapping[str, Any]]) -> Pace | None:
    """Return the time of iterations, from medians of two closed loops: one client, and more clients than rows.

    None if iterations are not visible. The device's own time is known; the rest is the engine's.
    """
    alone, many = _periods(work, lone), _periods(work, full)
    if not len(alone) or not len(many):
        return None
    decode, prefill = alone[alone[:, 1] == 1], alone[alone[:, 1] > 1]
    first = np.median(decode if len(decode) else alone, axis=0)
    token = 0.0
    if len(decode) and len(prefill):
        middle = np.median(prefill, axis=0)
        token = max(0.0, float((middle[2] - first[2]) / (middle[1] - 1)))
    crowd = np.median(many, axis=0)
    row = 0.0
    if crowd[0] > first[0]:
        row = max(0.0, float((crowd[2] - first[2] - token * (crowd[1] - first[1])) / (crowd[0] - first[0])))
    base = work.base_ns + float(first[2]) - row * float(first[0]) - token * float(first[1])
    return Pace(base, work.row_ns + token, row)


def _periods(work: Work, lines: Sequence[Mapping[str, Any]]) -> Any:
    """Return for each iteration but the last: its rows, its new tokens, and its time beyond the device's: [m, 3]."""
    found = [
        (len(one["rows"]), sum(row[2] for row in one["rows"]), after["enter_ns"] - one["enter_ns"])
        for one, after in pairwise(lines)
    ]
    return np.array([(rows, new, took - work.base_ns - work.row_ns * new) for rows, new, took in found], np.float64)


def _rounded(ns: int) -> int:
    """Round to two significant digits, so that an objective does not change with measurement noise."""
    step: int = 10 ** max(0, len(str(ns)) - 2)
    return -(-ns // step) * step
