"""The lengths of prompts and texts: distributions of token counts that one line of text reproduces.

A spec is `kind:name=value,...`, as for a schedule: `fixed:tokens=64`, `lognormal:mean=64,sigma=0.8,most=256`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from batchproof.load.schedule import ScheduleError
from batchproof.stats.arrays import Ints

MOST = 1 << 20  # tokens


@dataclass(frozen=True)
class Lengths:
    """A distribution of token counts, between 1 and `most`.

    sigma: of the logarithm, in a lognormal distribution with this mean; 0: all have the same length. Longer values are cut
    to `most`, which lowers the mean of the drawn lengths. ScheduleError for impossible values.
    """

    mean: float
    sigma: float = 0.0
    most: int = MOST

    def __post_init__(self) -> None:
        """ScheduleError unless the values define a distribution."""
        if not (1 <= self.mean <= MOST and 0 <= self.sigma <= 4 and 1 <= self.most <= MOST):
            raise ScheduleError(f"lengths need 'mean' and 'most' from 1 to {MOST}, and 'sigma' from 0 to 4, not {self.spec}")

    @property
    def spec(self) -> str:
        """The line that reproduces it."""
        if not self.sigma:
            return f"fixed:tokens={self.mean:g}"
        most = f",most={self.most}" if self.most < MOST else ""
        return f"lognormal:mean={self.mean:g},sigma={self.sigma:g}{most}"

    def drawn(self, count: int, seed: int, most: int = MOST) -> Ints:
        """Return `count` lengths: int64 [count]. most: a further upper bound."""
        if not self.sigma:
            return np.full(count, min(round(self.mean), self.most, most), np.int64)
        generator = np.random.Generator(np.random.PCG64(seed))
        found = generator.lognormal(math.log(self.mean) - self.sigma**2 / 2, self.sigma, count)
        return np.asarray(np.clip(np.rint(found), 1, min(self.most, most)), np.int64)


def parse(spec: str) -> Lengths:
    """Return the lengths of a spec; ScheduleError says what is wrong with it."""
    kind, _, rest = spec.partition(":")
    known = {"fixed": ("tokens",), "lognormal": ("mean", "sigma", "most")}
    if kind not in known:
        raise ScheduleError(f"unknown lengths '{spec}': write fixed:tokens=64, or lognormal:mean=64,sigma=0.8,most=256")
    given: dict[str, float] = {}
    for part in filter(None, rest.split(",")):
        name, equals, value = part.partition("=")
        if name not in known[kind] or not equals or name in given:
            raise ScheduleError(f"{kind} takes {', '.join(known[kind])}, once each, as name=value; not '{part}'")
        try:
            given[name] = float(value)
        except ValueError:
            raise ScheduleError(f"{name} is a number of tokens, not '{value}'") from None
    needed = known[kind][:2]
    if missing := [name for name in needed if name not in given]:
        raise ScheduleError(f"{kind} needs {', '.join(missing)}")
    if not all(math.isfinite(value) for value in given.values()):
        raise ScheduleError(f"{spec}: a length is a finite number")
    if kind == "fixed":
        return Lengths(given["tokens"])
    return Lengths(given["mean"], given["sigma"], int(given.get("most", MOST)))
