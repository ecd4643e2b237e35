"""Measurements of requests for text: when each was due, sent, began and ended, and when each piece of its text came."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from functools import cached_property
from pathlib import Path
from typing import IO

import numpy as np

from batchproof.load.samples import Bools, Samples
from batchproof.stats.arrays import NEVER, Ints


@dataclass(frozen=True)
class Objective:
    """A latency objective: a first token within ttft_ns of the arrival, and no later gap longer than itl_ns."""

    ttft_ns: int
    itl_ns: int

    def __str__(self) -> str:
        """Return it in words."""
        return f"TTFT within {self.ttft_ns / 1e6:g} ms and no gap above {self.itl_ns / 1e6:g} ms"


@dataclass(frozen=True, eq=False)
class TextSamples:
    """One row for each request, in the order of the schedule; times in ns from the start of the run.

    whole: due, sent and done, as for any other request. ready_ns: the first moment, from its due time on, at which the
    request could be sent, because no iteration was running and all earlier ones had been sent: int64 [n]. piece_ns: when
    each piece of a text came, ascending; piece_of: its request; piece_tokens: its tokens; all int64 [m].
    """

    whole: Samples
    ready_ns: Ints
    piece_ns: Ints
    piece_of: Ints
    piece_tokens: Ints

    @property
    def count(self) -> int:
        """How many requests there are."""
        return self.whole.count

    @property
    def latency_ns(self) -> Ints:
        """From the due time to the end of the text; NEVER if it did not come to a regular end."""
        return self.whole.latency_ns

    @cached_property
    def first_ns(self) -> Ints:
        """When the first token of each request came: int64 [n]; NEVER if none did."""
        found = np.full(self.count, NEVER, np.int64)
        np.minimum.at(found, self.piece_of, self.piece_ns)
        return found

    @property
    def ttft_ns(self) -> Ints:
        """From the due time to the first token; NEVER if there was none."""
        return np.where(self.first_ns == NEVER, NEVER, self.first_ns - self.whole.scheduled_ns)

    @cached_property
    def tokens(self) -> Ints:
        """How many tokens of each text came: int64 [n]."""
        return np.bincount(self.piece_of, weights=self.piece_tokens, minlength=self.count).astype(np.int64)

    @cached_property
    def _gaps(self) -> tuple[Ints, Ints]:
        """The time from each piece of a text to its next piece, in order of time, and the request: int64 [g] each."""
        by_request = np.argsort(self.piece_of, kind="stable")
        whose, at = self.piece_of[by_request], self.piece_ns[by_request]
        same = whose[1:] == whose[:-1]
        order = np.argsort(by_request[1:][same], kind="stable")
        return np.diff(at)[same][order], whose[1:][same][order]

    @property
    def gap_ns(self) -> Ints:
        """The times between two pieces of the same text, in the order of the later piece: int64 [g]."""
        return self._gaps[0]

    @property
    def longest_gap_ns(self) -> Ints:
        """The longest gap in each text; 0 for a text that came in one piece: int64 [n]."""
        found = np.zeros(self.count, np.int64)
        np.maximum.at(found, self._gaps[1], self._gaps[0])
        return found

    @property
    def sendable(self) -> Samples:
        """The same, with each request due when it could be sent; the lateness of the generator is judged by this."""
        return replace(self.whole, scheduled_ns=self.ready_ns)

    def within(self, objective: Objective) -> Bools:
        """Return which requests meet the objective: bool [n]. A request without an end does not."""
        kept = (self.ttft_ns <= objective.ttft_ns) & (self.longest_gap_ns <= objective.itl_ns)
        return np.asarray(kept & self.whole.answered)

    def tokens_by(self, end_ns: int, begin_ns: int = 0) -> int:
        """Return how many tokens came after `begin_ns` and no later than `end_ns`."""
        return int(self.piece_tokens[(self.piece_ns > begin_ns) & (self.piece_ns <= end_ns)].sum())

    def part(self, mask: Bools) -> TextSamples:
        """Return the requests for which `mask` (bool [n]) is true."""
        kept = mask[self.piece_of]
        place = (np.cumsum(mask) - 1)[self.piece_of[kept]]
        return TextSamples(self.whole.part(mask), self.ready_ns[mask], self.piece_ns[kept], place, self.piece_tokens[kept])

    def save(self, path: Path | IO[bytes]) -> None:
        """Write an .npz: its arrays under their own names, which `Samples.load` reads as well."""
        whole = {one.name: getattr(self.whole, one.name) for one in fields(Samples)}
        own = {name: getattr(self, name) for name in ("ready_ns", "piece_ns", "piece_of", "piece_tokens")}
        np.savez_compressed(path, **whole, **own)
