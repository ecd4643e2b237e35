"""Figures: measured numbers with names that stay, for everything that compares runs, keeps them or draws them.

An id is a path of words and, in brackets, the conditions that tell its siblings apart, in the order in which they are
declared: `sweep.best_rows_per_s[work=accelerator]`. Two figures of the same id answer the same question about two runs.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal

Better = Literal["higher", "lower"]
BETTER: tuple[Better, ...] = ("higher", "lower")
_WORD = r"[a-z][a-z0-9_]*"
_VALUE = r"[A-Za-z0-9_.+-]+"
_ID = re.compile(rf"{_WORD}(\.{_WORD})*(\[{_WORD}={_VALUE}(,{_WORD}={_VALUE})*\])?", re.ASCII)
LONGEST = 200  # characters of an id
OF_THE_HOST = "host."  # begins the names of figures of the host itself, measured with a bench


@dataclass(frozen=True)
class Figure:
    """One measured number. ValueError if a field makes no sense.

    value: in `unit` ("rows/s", "ns", "1" for a ratio). better: which way is an improvement. low, high: the interval that
    holds the true value with 99 % confidence; None where there is no bound. n: how many independent observations the value
    rests on. valid: whether it is a result at all; if not, it is kept to be seen and never compared.
    """

    id: str
    value: float
    unit: str
    better: Better
    low: float | None = None
    high: float | None = None
    n: int = 1
    valid: bool = True

    def __post_init__(self) -> None:
        """Refuse what no figure can be."""
        if len(self.id) > LONGEST or not _ID.fullmatch(self.id):
            raise ValueError(f"{self.id[:LONGEST]!r} is not the id of a figure, such as open.p99_ns[load=0.6,size=16]")
        if not math.isfinite(self.value):
            raise ValueError(f"{self.id}: {self.value} is not a finite number")
        if self.better not in BETTER:
            raise ValueError(f"{self.id}: better is {' or '.join(BETTER)}, not {self.better!r}")
        if self.low is not None and self.high is not None and self.low > self.high:
            raise ValueError(f"{self.id}: the interval from {self.low} to {self.high} is empty")
        if self.n < 0:
            raise ValueError(f"{self.id}: n is {self.n}")

    @property
    def name(self) -> str:
        """The id without its conditions."""
        return self.id.partition("[")[0]

    @property
    def conditions(self) -> dict[str, str]:
        """What stands in the brackets of the id."""
        inside = self.id.partition("[")[2].rstrip("]")
        return dict(pair.split("=", 1) for pair in inside.split(",")) if inside else {}

    def facts(self) -> dict[str, Any]:
        """Return JSON data."""
        return asdict(self)

    @classmethod
    def of(cls, facts: Mapping[str, Any]) -> Figure:
        """Return the figure of this JSON data, the reverse of `facts`; ValueError says what is wrong with it."""
        try:
            return cls(**facts)
        except TypeError as error:
            raise ValueError(f"not a figure: {error}") from None


def figure_id(name: str, **conditions: object) -> str:
    """Return the id of a figure: `figure_id("open.p99_ns", load=0.6, size=16)` is `open.p99_ns[load=0.6,size=16]`."""
    inside = ",".join(f"{key}={_plain(value)}" for key, value in conditions.items())
    return f"{name}[{inside}]" if inside else name


def _plain(value: object) -> str:
    text = f"{value:g}" if isinstance(value, float) else str(value)
    return re.sub(r"[^A-Za-z0-9_.+-]+", "-", text)
