"""The raw samples next to bench.jsonl: read, and turned into figures with intervals.

A bench writes an .npz for each run (`load/samples.py` is the writer). Nothing in the file is run, and a file that would not
fit into memory is not opened.
"""

from __future__ import annotations

import itertools
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from zipfile import BadZipFile, ZipFile

import numpy as np
import numpy.typing as npt

from batchproof.stats import intervals
from batchproof.stats.arrays import NEVER, Ints
from batchproof.stats.autocorrelation import integrated_time
from batchproof.stats.percentile import interval, percentile
from batchproof.stats.quantiles import CONFIDENCE

ANSWERED = 0  # the outcome of a request that got what it asked for
NAMES = ("scheduled_ns", "sent_ns", "done_ns", "outcome", "client")
MOST_BYTES = 256 << 20  # unpacked
TWO_SIDED = (1 + CONFIDENCE) / 2  # both bounds together hold with 99 %
PARTS = 8  # of a run, for the interval of its throughput


class SamplesError(ValueError):
    """The file is not there, or does not hold samples; the message says why."""


@dataclass(frozen=True, eq=False)
class Samples:
    """One row for each request, int64 [n]; times in ns from the start of the run, NEVER for what did not happen.

    outcome: 0 if it was answered. client: which client, or which of several loads, sent it.
    """

    scheduled_ns: Ints
    sent_ns: Ints
    done_ns: Ints
    outcome: Ints
    client: Ints

    @property
    def answered(self) -> npt.NDArray[np.bool_]:
        """Which requests were answered: bool [n]."""
        return np.asarray(self.outcome == ANSWERED)

    @property
    def latency_ns(self) -> Ints:
        """From the scheduled time to the answer; NEVER for whatever was not answered."""
        return np.where(self.answered, self.done_ns - self.scheduled_ns, NEVER)

    @property
    def end_ns(self) -> int:
        """When the last request was due or ended."""
        done = self.done_ns[self.done_ns != NEVER]
        return int(max(self.scheduled_ns.max(initial=0), done.max(initial=0)))

    def part(self, mask: npt.NDArray[np.bool_]) -> Samples:
        """Return the requests for which `mask` (bool [n]) is true."""
        return Samples(**{name: getattr(self, name)[mask] for name in NAMES})


def read(folder: Path, name: object) -> Samples:
    """Read the samples of this name, as bench.jsonl has it, in a report folder; SamplesError."""
    found = arrays(folder, name, NAMES)
    if any(array.ndim != 1 or array.shape != found["outcome"].shape for array in found.values()):
        raise SamplesError(f"{name} does not hold samples: its arrays differ in length")
    return Samples(**found)


def arrays(folder: Path, name: object, names: Sequence[str]) -> dict[str, Ints]:
    """Read these arrays of samples: int64; SamplesError."""
    if not isinstance(name, str) or not name:
        raise SamplesError("the bench does not say where its samples are")
    path = folder / name
    if not path.resolve().is_relative_to((folder / "samples").resolve()):
        raise SamplesError(f"{name!r} is not in the folder samples/ of the report")
    try:
        with ZipFile(path) as packed:
            if sum(one.file_size for one in packed.infolist()) > MOST_BYTES:
                raise SamplesError(f"{name} unpacks to more than {MOST_BYTES >> 20} MiB")
        with np.load(path, allow_pickle=False) as file:
            return {one: file[one].astype(np.int64, casting="safe") for one in names}
    except FileNotFoundError:
        raise SamplesError(f"{name} is not there") from None
    except (OSError, EOFError, KeyError, ValueError, TypeError, AttributeError, BadZipFile, zlib.error) as error:
        raise SamplesError(f"{name} does not hold samples: {error}") from None


Bounds = tuple[float | None, float | None, float | None]  # a figure and its interval


def quantile(latency_ns: Ints, percent: float) -> Bounds:
    """Return a percentile with its interval for the number of independent values, as a bench computes it; Nones if none."""
    if not len(latency_ns) or (found := percentile(latency_ns, percent)) == NEVER:
        return None, None, None
    low, high = interval(latency_ns, percent, CONFIDENCE, integrated_time(latency_ns > found))
    return found, low or None, None if high == NEVER else high


def throughput(samples: Samples, duration_ns: int) -> Bounds:
    """Return the answers a second while load was offered, with the interval of the mean of eight parts of the run.

    The parts end in the longest pause nearby, so that none of them begins or ends in the middle of a batch. Nones where
    a run has too few answers for that.
    """
    done = np.sort(samples.done_ns[samples.answered])
    done = done[done <= duration_ns]
    reach = len(done) // (4 * PARTS)
    if not reach:
        return None, None, None
    pauses = np.diff(done)
    nominal = np.linspace(reach, len(pauses) - 1 - reach, PARTS + 1).astype(int)
    ends = [at - reach + int(np.argmax(pauses[at - reach : at + reach + 1])) for at in nominal.tolist()]
    rates = [(end - start) * 1e9 / max(1, int(done[end] - done[start])) for start, end in itertools.pairwise(ends)]
    found = intervals.mean(rates, TWO_SIDED)
    low = None if found.low is None else max(0.0, found.low)
    return found.estimate, low, found.high


def goodput(samples: Samples, slo_ns: int, offered: float) -> Bounds:
    """Return the answers within the objective for each second of load: of a share of the offered rate."""
    within = samples.latency_ns <= slo_ns
    if not within.size:
        return None, None, None
    found = intervals.share(int(within.sum()), within.size, integrated_time(within), TWO_SIDED)
    low, middle, high = (None if one is None else one * offered for one in (found.low, found.estimate, found.high))
    return middle, low, high
