"""The loop that sends requests to an engine and steps it.

One thread uses the engine, so nothing can be sent in the middle of an iteration: everything that has become due is sent
between two iterations. Latency still counts from the due time, so that a slow iteration delays the requests that arrive
during it, as in a server.
"""

from __future__ import annotations

import itertools
from array import array
from collections.abc import Sequence
from typing import Any

import numpy as np

from batchproof.host.clock import Clock
from batchproof.load.generation.demand import Demand
from batchproof.load.generation.samples import TextSamples
from batchproof.load.samples import OUTCOMES, UNANSWERED, Samples
from batchproof.stats.arrays import NEVER
from batchproof.targets.engines import Engine, Generation, Output
from batchproof.targets.witness.languages import Language

ENDS = {"length": "answered", "stop": "answered", "abort": "cancelled", "error": "failed", "refused": "invalid"}
OPEN = OUTCOMES.index(UNANSWERED)
IDLE = 1000  # after this many steps in a row without output, a stepped engine has lost a request
_serials = itertools.count(1)


def requests_of(demand: Demand, language: Language) -> list[Generation]:
    """Return the requests, each with a prompt that names it."""
    made = []
    for prompt, text in zip(demand.prompts.tolist(), demand.texts.tolist(), strict=True):
        serial = next(_serials)
        made.append(Generation(f"g{serial}", serial, language.prompt(serial, prompt), text))
    return made


class Player:
    """Sends requests to an engine, and records the results. It plays once.

    stepped: the engine runs one iteration in each `step`. wait_ns: how long it may produce nothing before the requests under
    way count as unanswered. texts: for each request, the tokens that came. lines: the witness's iterations. wrong:
    unexpected answers.
    """

    def __init__(
        self, engine: Engine, clock: Clock, requests: Sequence[Generation], *, wait_ns: int, stepped: bool = True
    ) -> None:
        self._engine, self._clock, self._requests, self._wait_ns, self._stepped = engine, clock, requests, wait_ns, stepped
        count = len(requests)
        self.texts: list[list[int]] = [[] for _ in range(count)]
        self.lines: list[dict[str, Any]] = []
        self.wrong: list[str] = []
        self._number = {request.name: number for number, request in enumerate(requests)}
        self._due, self._sent, self._ready, self._done = (array("q", [NEVER]) * count for _ in range(4))
        self._outcome = bytearray([OPEN]) * count
        self._piece_ns, self._piece_of, self._piece_tokens = array("q"), array("q"), array("q")
        self._open = self._asked = self._idle = self._news_ns = self._free_ns = 0
        self._start_ns = clock.now_ns()

    def play(self, demand: Demand) -> TextSamples:
        """Send each request when it is due, until all have ended; return the samples."""
        self._due = array("q", demand.schedule.due_ns.tolist())
        hope = True
        self._start_ns = self._clock.now_ns()
        while hope and (self._open or self._asked < demand.count):
            if not self._open and (next_ns := self._due[self._asked]) > self._now():
                self._clock.sleep_until_ns(self._start_ns + next_ns)
            while self._asked < demand.count and (next_ns := self._due[self._asked]) <= self._now():
                self._send(next_ns)
            hope = self._step()
        return self._samples(demand, demand.count)

    def keep_busy(self, demand: Demand, clients: int, seconds: float) -> TextSamples:
        """Keep `clients` requests under way, in the order of the list, until all are sent or the time is over.

        Each is due at the moment its client becomes free. Return the samples of those that were sent.
        """
        end_ns, hope = round(seconds * 1e9), True
        self._start_ns = self._clock.now_ns()
        while hope:
            while self._open < clients and self._asked < demand.count and self._now() < end_ns:
                self._due[self._asked] = now_ns = self._now()
                self._send(now_ns)
            if not self._open:
                break
            hope = self._step()
        return self._samples(demand, self._asked)

    def _now(self) -> int:
        return self._clock.now_ns() - self._start_ns

    def _send(self, due_ns: int) -> None:
        number = self._asked
        self._asked += 1
        self._open += 1
        self._ready[number] = max(due_ns, self._free_ns) if self._stepped else due_ns
        self._sent[number] = self._news_ns = self._now()
        self._engine.submit(self._requests[number])
        self._free_ns = self._now()

    def _step(self) -> bool:
        """Run an iteration; return whether the requests under way may still end."""
        outputs, _ = self._engine.step()
        self._free_ns = now_ns = self._now()
        lines = self._engine.log()
        self.lines += lines
        for output in outputs:
            self._take(output, now_ns)
        if lines or outputs:
            self._news_ns, self._idle = now_ns, 0
            return True
        self._idle += 1
        return now_ns - self._news_ns < self._wait_ns and not (self._stepped and self._idle >= IDLE)

    def _take(self, output: Output, now_ns: int) -> None:
        number = self._number.get(output.name)
        if number is None:
            self.wrong.append(f"the engine answered '{output.name[:40]}', which was not sent in this run")
        elif self._outcome[number] != OPEN:
            self.wrong.append(f"request {number} was answered again after its end")
        else:
            if output.tokens:
                self.texts[number].extend(output.tokens)
                self._piece_ns.append(now_ns)
                self._piece_of.append(number)
                self._piece_tokens.append(len(output.tokens))
            if output.end:
                self._outcome[number] = OUTCOMES.index(ENDS[output.end])
                self._done[number] = now_ns
                self._open -= 1

    def _samples(self, demand: Demand, count: int) -> TextSamples:
        """Return the samples of the first `count` requests."""

        def column(values: Any) -> Any:
            return np.array(values, np.int64)

        outcome = np.frombuffer(bytes(self._outcome), np.uint8).copy()[:count]
        due, sent, done = (column(one)[:count] for one in (self._due, self._sent, self._done))
        return TextSamples(
            Samples(due, sent, done, outcome, demand.client[:count]),
            column(self._ready)[:count],
            *(column(one) for one in (self._piece_ns, self._piece_of, self._piece_tokens)),
        )
