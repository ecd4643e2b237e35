"""What was measured: raw nanoseconds of every request, kept exactly."""

from __future__ import annotations

import contextlib
import zlib
from dataclasses import dataclass, fields
from pathlib import Path
from typing import IO, Any
from zipfile import BadZipFile

import numpy as np
import numpy.typing as npt

from batchproof.stats.arrays import NEVER, Ints
from batchproof.targets.protocol import Kind

Bools = npt.NDArray[np.bool_]

ANSWERED, UNANSWERED = "answered", "unanswered"
OUTCOMES: tuple[str, ...] = (ANSWERED, *(kind.value for kind in Kind), UNANSWERED)
_TYPES = {"scheduled_ns": np.int64, "sent_ns": np.int64, "done_ns": np.int64, "outcome": np.uint8, "client": np.int32}


class SamplesError(ValueError):
    """The arrays or the file are not samples."""


@dataclass(frozen=True, eq=False)
class Samples:
    """One row for each request, in the order of the schedule; times in ns from the start of the run.

    scheduled_ns: when it was due (closed loop: when its client was free). sent_ns: just before it was submitted; NEVER if it
    was not. done_ns: when it was answered or refused; NEVER if neither. All int64 [n].
    outcome: uint8 [n], an index into OUTCOMES. client: int32 [n], who sent it in a closed loop; 0 in an open loop.
    """

    scheduled_ns: Ints
    sent_ns: Ints
    done_ns: Ints
    outcome: npt.NDArray[np.uint8]
    client: npt.NDArray[np.int32]

    def __post_init__(self) -> None:
        """SamplesError unless all five are vectors of one length and of their types, and every outcome is known."""
        for name, type_ in _TYPES.items():
            array = getattr(self, name)
            if array.dtype != type_ or array.shape != self.scheduled_ns.shape or array.ndim != 1:
                expected = f"{type_.__name__} {self.scheduled_ns.shape}"
                raise SamplesError(f"{name} must be {expected}, not {array.dtype} {array.shape}")
        if self.count and int(self.outcome.max()) >= len(OUTCOMES):
            raise SamplesError(f"outcome {int(self.outcome.max())} is not one of the {len(OUTCOMES)} that are known")

    @property
    def count(self) -> int:
        """How many requests there are."""
        return len(self.scheduled_ns)

    @property
    def answered(self) -> Bools:
        """Which requests got what they asked for: bool [n]."""
        return np.asarray(self.outcome == OUTCOMES.index(ANSWERED))

    @property
    def latency_ns(self) -> Ints:
        """From the scheduled time to the answer; NEVER for whatever was not answered: a failure is infinitely late."""
        return np.where(self.answered, self.done_ns - self.scheduled_ns, NEVER)

    @property
    def service_ns(self) -> Ints:
        """From the actual send to the answer, as most tools report it; NEVER for whatever was not answered."""
        sent_ns = np.where(self.answered, self.sent_ns, 0)
        return np.where(self.answered, self.done_ns - sent_ns, NEVER)

    @property
    def lag_ns(self) -> Ints:
        """From the scheduled time to the actual send: the generator's own lateness; NEVER for what was never sent."""
        return np.where(self.sent_ns == NEVER, NEVER, self.sent_ns - self.scheduled_ns)

    def outcomes(self) -> dict[str, int]:
        """Return how many requests ended in which way; only ways that occurred."""
        counts = np.bincount(self.outcome, minlength=len(OUTCOMES)).tolist()
        return {name: count for name, count in zip(OUTCOMES, counts, strict=True) if count}

    def part(self, mask: Bools) -> Samples:
        """Return the requests for which `mask` (bool [n]) is true."""
        return Samples(**{one.name: getattr(self, one.name)[mask] for one in fields(self)})

    def save(self, path: Path | IO[bytes], *, compress: bool = True) -> None:
        """Write an .npz: five arrays under their own names."""
        write = np.savez_compressed if compress else np.savez
        write(path, **{one.name: getattr(self, one.name) for one in fields(self)})

    @classmethod
    def load(cls, path: Path | IO[bytes]) -> Samples:
        """Read what `save` wrote; SamplesError if it is anything else. Nothing in the file is run."""
        arrays: dict[str, Any] = {}
        try:
            opened = path.open("rb") if isinstance(path, Path) else contextlib.nullcontext(path)
            with opened as source, np.load(source, allow_pickle=False) as file:
                arrays = {name: file[name] for name in _TYPES}
        except (OSError, EOFError, KeyError, ValueError, TypeError, AttributeError, BadZipFile, zlib.error) as error:
            raise SamplesError(f"{path} does not hold samples: {error}") from None
        return cls(**arrays)
