"""Samples as an HdrHistogram: base64 in format V2, and its percentile text. It is only an export; raw samples are judged."""

from __future__ import annotations

import io
from dataclasses import dataclass
from typing import Any

import numpy as np

from batchproof.stats.arrays import NEVER, Ints

LOWEST_NS, HIGHEST_NS = 1, 3_600_000_000_000
DIGITS = 3  # at most one part in a thousand off
TICKS = 5  # lines of the text for each halving of the distance to 100 %


class MissingPackage(ImportError):
    """An optional package is not installed; the message says how to get it."""

    def __init__(self, package: str) -> None:
        super().__init__(f"this needs {package}: pip install 'batchproof[bench]'", name=package)


@dataclass(frozen=True)
class Histogram:
    """encoded: base64 of a compressed V2 histogram in ns, which every HdrHistogram library reads. text: percentiles, in ms.

    count: values in it. left_out: requests that were not answered; a histogram cannot hold them.
    """

    encoded: str
    text: str
    count: int
    left_out: int


def histogram(values_ns: Ints) -> Histogram:
    """Return latencies as a histogram; values beyond an hour count as one hour. MissingPackage without hdrhistogram.

    Its text takes about a second to make, `encoded` alone a few milliseconds.
    """
    made, text = _made(values_ns), io.BytesIO()
    made.output_percentile_distribution(text, 1e6, TICKS)
    left_out = int(np.count_nonzero(values_ns == NEVER))
    return Histogram(made.encode().decode("ascii"), text.getvalue().decode("ascii"), len(values_ns) - left_out, left_out)


def encoded(values_ns: Ints) -> str:
    """Return `Histogram.encoded` alone; the rest is as in `histogram`."""
    return str(_made(values_ns).encode().decode("ascii"))


def _made(values_ns: Ints) -> Any:
    try:
        from hdrh.histogram import HdrHistogram
    except ImportError:
        raise MissingPackage("hdrhistogram") from None
    finite = values_ns[values_ns != NEVER].clip(LOWEST_NS, HIGHEST_NS)
    made = HdrHistogram(LOWEST_NS, HIGHEST_NS, DIGITS)
    for value, count in zip(*(one.tolist() for one in np.unique(finite, return_counts=True)), strict=True):
        made.record_value(value, count)
    return made
