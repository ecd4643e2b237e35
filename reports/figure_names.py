"""The names of all figures that this version measures: what each one means, its unit, and the conditions in its id.

`figures.toml` next to this module is the registry; docs/figures.md is made from it. `figure` makes a figure and takes
unit and direction from there: nothing that measures can emit a figure that nobody has declared. Names are frozen as the ids
of rules are: one that was published keeps its meaning.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from batchproof.reports.figures import Better, Figure, figure_id

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib


@dataclass(frozen=True)
class Declared:
    """A name of the registry.

    by: what measures it: a measurement of `bench`, `tune`, a rule, or `host`. unit, better: of every figure of this name.
    says: what it is, in a sentence. conditions: what stands in the brackets of its id, in this order. decides: whether
    `batchproof compare` looks at it first; it looks at the others too.
    """

    name: str
    by: str
    unit: str
    better: Better
    says: str
    conditions: tuple[str, ...] = ()
    decides: bool = False


@cache
def declared() -> Mapping[str, Declared]:
    """Return the registry, in its order."""
    text = files("batchproof").joinpath("reports", "figures.toml").read_text(encoding="utf-8")
    tables = tomllib.loads(text)
    return {
        name: Declared(name, **{**table, "conditions": tuple(table.get("conditions", ()))}) for name, table in tables.items()
    }


def figure(
    name: str,
    value: float,
    *,
    low: float | None = None,
    high: float | None = None,
    n: float = 1,
    valid: bool = True,
    **conditions: object,
) -> Figure:
    """Return a figure of a declared name; ValueError if the name is not declared, or has other conditions.

    n may be a fraction, as the number of independent values in a series is; the figure has the whole number below it. Bounds
    that rounding has put on the wrong side of the value are drawn to it.
    """
    if (about := declared().get(name)) is None:
        raise ValueError(f"{name} is not declared in reports/figures.toml")
    if tuple(conditions) != about.conditions:
        raise ValueError(f"{name} has the conditions {', '.join(about.conditions) or 'none'}, not {', '.join(conditions)}")
    low = None if low is None else min(float(low), float(value))
    high = None if high is None else max(float(high), float(value))
    return Figure(figure_id(name, **conditions), float(value), about.unit, about.better, low, high, int(n), valid)
