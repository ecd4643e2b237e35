"""What a worker's clock is worth: its offset and its drift against the master's, from messages there and back.

A message leaves the master at t1 and arrives at t2 on the worker's clock; the answer leaves at t3 and is back at t4.
Messages take time, but never less than none, so the offset (worker minus master) lies between t3 - t4 and t2 - t1, however
unlike the two ways are. That is the bound of NTP (RFC 5905, section 8: half the round trip). Both clocks are taken to run at
constant rates for as long as a run lasts, so that the offset is a line: every exchange leaves out some lines, and what all
leave is the answer. Nothing is averaged, so a slow way back does not pull the estimate beyond what it says of itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

MOST_DRIFT = 1e-3  # between two clocks that are both slewed by at most 500 ppm, the most that adjtimex(2) does
GRAIN_NS = 1_000  # what reading the clocks may add
MOST = 400  # exchanges that an estimate uses: the tightest of each stretch
Floats = npt.NDArray[np.float64]


class UnevenClock(ValueError):
    """No constant rate explains what a clock showed: it jumped, or it changed its rate."""


@dataclass(frozen=True)
class Exchange:
    """One message and its answer. sent_ns, back_ns: on the master's clock; there_ns, off_ns: on the worker's."""

    sent_ns: int
    there_ns: int
    off_ns: int
    back_ns: int

    @property
    def at_ns(self) -> float:
        """The moment on the master's clock that it speaks of."""
        return (self.sent_ns + self.back_ns) / 2

    @property
    def round_trip_ns(self) -> int:
        """The time on the way, both ways together."""
        return (self.back_ns - self.sent_ns) - (self.off_ns - self.there_ns)


@dataclass(frozen=True)
class Span:
    """A quantity that lies between low and high, for certain; `middle` is off by at most `within`."""

    low: float
    high: float

    @property
    def middle(self) -> float:
        """The estimate."""
        return (self.low + self.high) / 2

    @property
    def within(self) -> float:
        """How far the truth can be from it."""
        return (self.high - self.low) / 2


class ClockEstimate:
    """What exchanges with one worker say of its clock; ValueError without any."""

    def __init__(self, exchanges: Sequence[Exchange]) -> None:
        if not exchanges:
            raise ValueError("without an exchange nothing is known about a clock")
        self.count = len(exchanges)
        self.round_trip_ns = min(one.round_trip_ns for one in exchanges)
        used = _tightest(sorted(exchanges, key=lambda one: one.sent_ns))
        self._began_ns = used[0].sent_ns
        self._base_ns = used[0].there_ns - used[0].sent_ns  # large numbers would lose their last digits in the arithmetic
        # Each bound speaks of the moment on the master's clock at which its message was sent, or was back.
        self._sent: Floats = np.array([one.sent_ns - self._began_ns for one in used], dtype=np.float64)
        self._back: Floats = np.array([one.back_ns - self._began_ns for one in used], dtype=np.float64)
        high = [one.there_ns - one.sent_ns - self._base_ns + GRAIN_NS for one in used]
        low = [one.off_ns - one.back_ns - self._base_ns - GRAIN_NS for one in used]
        self._high: Floats = np.array(high, dtype=np.float64)
        self._low: Floats = np.array(low, dtype=np.float64)

    def at(self, master_ns: int) -> Span:
        """Return the offset, worker minus master, in ns at this moment of the master's clock; UnevenClock."""
        x = float(master_ns - self._began_ns)
        low, high = self._extremes(np.array([1.0, x]))
        return Span(low + self._base_ns, high + self._base_ns)

    @cached_property
    def drift(self) -> Span:
        """By how much the worker's clock is faster: ns in each ns of the master's; UnevenClock."""
        return Span(*self._extremes(np.array([0.0, 1.0])))

    def _extremes(self, wanted: Floats) -> tuple[float, float]:
        """Return the least and the most of wanted[0] * a + wanted[1] * b over all lines a + b * x that fit."""
        from scipy.optimize import linprog

        scale = max(1.0, float(self._back[-1]), abs(float(wanted[1])))  # unknowns of like size: a, and b * scale
        aim = np.array([wanted[0], wanted[1] / scale])
        unit = float(np.abs(aim).max())  # the solver takes small numbers for 0
        ones = np.ones(len(self._sent))
        above = np.column_stack([ones, self._sent / scale])
        below = np.column_stack([-ones, -self._back / scale])
        limits = np.concatenate([self._high, -self._low])
        found = []
        for sign in (1.0, -1.0):
            solved = linprog(
                sign * aim / unit,
                A_ub=np.concatenate([above, below]),
                b_ub=limits,
                bounds=[(None, None), (-MOST_DRIFT * scale, MOST_DRIFT * scale)],
                method="highs",
            )
            if not solved.success:
                raise UnevenClock("its clock jumped, or changed its rate")
            found.append(sign * float(solved.fun) * unit)
        return found[0], found[1]


def _tightest(ordered: Sequence[Exchange]) -> list[Exchange]:
    """Return at most MOST exchanges: of each stretch of time the one with the shortest round trip."""
    step = -(-len(ordered) // MOST)
    stretches = [ordered[start : start + step] for start in range(0, len(ordered), step)]
    return [min(one, key=lambda exchange: exchange.round_trip_ns) for one in stretches]
