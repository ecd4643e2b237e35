"""What a core owes the shells, and what the shells owe a core.

A core is one scheduling discipline. It decides which requests run together, on which instance and when; `core` has the
dynamic batcher. A shell makes things happen: it has the clock and the instances, and it answers requests. Every shell runs
every core:

    threaded.Batcher          real threads and the host's clock
    virtual.VirtualBatcher    Futures and models under a simulated clock
    event_loop.EventLoop      nothing but moments, for the simulator

A shell uses what stands in `Core` below and nothing else. What a core keeps in its queue, how it counts its instances and
what it remembers about them is its own affair.
"""

from __future__ import annotations

from typing import Protocol

from .decisions import Decision, Entry
from .errors import BatcherError


class Core(Protocol):
    """A scheduling discipline as a state machine. It has no thread, no lock and no clock: time is an argument.

    The shell promises
      - that calls do not overlap: a shell with threads calls under one lock;
      - that `now_ns` (nanoseconds of a monotonic clock) and the entries' `queued_ns` never run backwards;
      - that after every `enqueue`, `cancel`, `finished` and `drain`, and at the moment that the last `Wait` named, it calls
        `poll` again and again, and does what each decision says, until the decision is a `Wait`;
      - that it calls `finished` once for each `Dispatch`, whether the model returned or raised. If it raised, every request
        of the batch has its answer: the shell leaves it out of later batches, and the core need not know.

    The core promises
      - that each entry that it accepts leaves it in exactly one way: in a `Dispatch` that finishes it, in a `Reject`, or
        through a `cancel` that returned True;
      - that it never dispatches to an instance whose last batch is not finished;
      - that a `Wait` is the truth: until that moment, or until something happens, `poll` gives the same answer.
    """

    @property
    def waiting(self) -> int:
        """How many requests are queued and have not been in any batch yet."""

    @property
    def drained(self) -> bool:
        """Whether `drain` was called and no batch will ever leave again. The shell then stops its instances."""

    def enqueue(self, entry: Entry) -> BatcherError | None:
        """Accept a request, or return why it is refused. A refused request is forgotten."""

    def cancel(self, entry: Entry) -> bool:
        """Forget a request that its caller has cancelled; False if it has been in a batch already, or is not known."""

    def finished(self, instance: int) -> None:
        """Note that the batch on `instance` has run."""

    def drain(self) -> None:
        """Note that no request will come any more: serve what is queued without waiting for company."""

    def poll(self, now_ns: int) -> Decision:
        """Answer the question "what now?": dispatch a batch, reject requests, or wait."""
