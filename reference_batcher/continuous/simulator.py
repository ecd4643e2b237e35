"""Simulates the reference engine under a schedule of arrivals: the scheduler itself, and a device of tau0 + tau1 x tokens.

An iteration with t new tokens takes tau0_ns + t * tau1_ns. At any one moment, ends come before arrivals, and arrivals before
the next iteration: a request that arrives in the nanosecond in which an iteration ends is in the next one if there is room.
Nothing waits, no clock is read, and the tokens themselves are not computed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .config import EngineConfig
from .requests import Request
from .scheduler import Scheduler

Ints = NDArray[np.int64]
NEVER = -1
SAID = 0  # a token; which one does not matter, since no request has stop tokens


@dataclass(frozen=True)
class SimulatedEngine:
    """What happened to n requests in m iterations; all times are int64 nanoseconds.

    arrival_ns: [n]. token_ns: for each request, when each of its tokens came out; empty if it was refused. refusals: why a
    request was refused, by its number. enter_ns, exit_ns: [m], of each iteration. tokens, rows: [m], how many it computed.
    preempted: how often a sequence lost its blocks.
    """

    arrival_ns: Ints
    token_ns: tuple[Ints, ...]
    refusals: dict[int, str]
    enter_ns: Ints
    exit_ns: Ints
    tokens: Ints
    rows: Ints
    preempted: int

    @property
    def ttft_ns(self) -> Ints:
        """[n], the time to the first token; NEVER for a request that was refused."""
        return self._since_arrival(0)

    @property
    def e2e_ns(self) -> Ints:
        """[n], the time to the last token; NEVER for a request that was refused."""
        return self._since_arrival(-1)

    @property
    def itl_ns(self) -> Ints:
        """The times between two tokens of one text, in the order of the requests."""
        return np.concatenate([np.diff(times) for times in self.token_ns] or [np.zeros(0, dtype=np.int64)])

    def _since_arrival(self, token: int) -> Ints:
        pairs = zip(self.token_ns, self.arrival_ns.tolist(), strict=True)
        return np.array([times[token] - arrival if times.size else NEVER for times, arrival in pairs], dtype=np.int64)


def simulate(
    config: EngineConfig,
    arrival_ns: Sequence[int] | Ints,
    prompt_tokens: Sequence[int] | Ints,
    output_tokens: Sequence[int] | Ints,
    tau0_ns: int,
    tau1_ns: int,
    *,
    priorities: Sequence[int] | None = None,
    prompts: Sequence[tuple[int, ...]] | None = None,
    takes_ns: Callable[[int, int, int], int] | None = None,
) -> SimulatedEngine:
    """Let n requests arrive at `arrival_ns` (int64 [n], ascending), with prompts and texts of these lengths.

    priorities: of each request (None: 0). prompts: the tokens themselves, for a prefix cache; without them no two prompts
    begin alike. takes_ns: what an iteration takes that begins at a moment with so many rows and tokens, where that is not
    tau0_ns + tokens * tau1_ns. ValueError for lengths that do not match, times that do not ascend, and an iteration that
    takes no time.
    """
    arrivals = np.asarray(arrival_ns, dtype=np.int64)
    times = arrivals.tolist()
    lengths, outputs = [int(one) for one in prompt_tokens], [int(one) for one in output_tokens]
    _check(times, lengths, outputs, [*(priorities or times)], tau0_ns, tau1_ns)
    given = prompts or [(number, *[SAID] * (length - 1))[:length] for number, length in enumerate(lengths)]
    urgent = priorities or [0] * len(times)
    engine = Scheduler(config)
    said: list[list[int]] = [[] for _ in times]
    refusals: dict[int, str] = {}
    log: list[tuple[int, int, int, int]] = []
    now, coming = 0, 0
    while coming < len(times) or engine.busy:
        if not engine.busy:
            now = max(now, times[coming])
        while coming < len(times) and times[coming] <= now:
            request = Request(str(coming), given[coming], outputs[coming], urgent[coming])
            if refusal := engine.add(request):
                refusals[coming] = refusal
            coming += 1
        iteration = engine.schedule()
        tokens = sum(len(row.tokens) for row in iteration.rows)
        usual = tau0_ns + tokens * tau1_ns
        takes = takes_ns(now, len(iteration.rows), tokens) if takes_ns else usual
        enter, now = now, now + (takes if tokens else 0)
        for one in engine.finished(iteration, [SAID if row.last else None for row in iteration.rows]):
            said[int(one.name)].append(now)
        if tokens:
            log.append((enter, now, tokens, len(iteration.rows)))
    enters, exits, tokens_each, rows = np.array(log, dtype=np.int64).reshape(-1, 4).T
    token_ns = tuple(np.array(one, dtype=np.int64) for one in said)
    preempted = engine.gauges()["preempted"]
    return SimulatedEngine(arrivals, token_ns, refusals, enters, exits, tokens_each, rows, preempted)


def _check(times: list[int], lengths: list[int], outputs: list[int], priorities: list[int], tau0: int, tau1: int) -> None:
    for what, values in (("prompt_tokens", lengths), ("output_tokens", outputs), ("priorities", priorities)):
        if len(values) != len(times):
            raise ValueError(f"{what} has {len(values)} values for {len(times)} requests")
    if times != sorted(times) or times[:1] < [0]:
        raise ValueError("arrival_ns must ascend from 0 or more")
    if min(tau0, tau1) < 0 or tau0 + tau1 < 1:
        raise ValueError("an iteration must take at least 1 ns: tau0_ns + tau1_ns")
