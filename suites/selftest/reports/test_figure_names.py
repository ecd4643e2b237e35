"""The registry of figures: every name is complete, and none that was published changes its meaning."""

import hashlib
import sys
from pathlib import Path

import pytest

from batchproof.reports.figure_names import Declared, declared, figure
from batchproof.reports.figures import BETTER

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

FROZEN = Path(__file__).parents[1] / "frozen_figures.toml"
UNITS = ("ns", "rows/s", "tokens/s", "requests/s", "steps/s", "1", "per million", "loops/s")


def fingerprint(one: Declared) -> str:
    """Return the fingerprint of all that a name promises."""
    promised = "|".join((one.unit, one.better, ",".join(one.conditions), one.says))
    return hashlib.sha256(promised.encode()).hexdigest()[:16]


@pytest.mark.parametrize("one", declared().values(), ids=lambda one: one.name)
def test_a_name_is_complete(one):
    """The unit stands in the name where it is a time or a rate, and the sentence is one."""
    assert one.unit in UNITS
    assert one.better in BETTER
    assert one.says[0].isupper()
    assert one.says.endswith(".")
    assert one.name.endswith("_ns") == (one.unit == "ns")
    assert one.name.endswith("_per_s") == one.unit.endswith("/s")
    assert figure(one.name, 1.0, **dict.fromkeys(one.conditions, "x")).name == one.name


def test_names_are_frozen():
    """A published name does not go away, and what it promises does not change: give it another name instead."""
    frozen = tomllib.loads(FROZEN.read_text(encoding="utf-8"))

    now = {name: fingerprint(one) for name, one in declared().items()}
    new = "\n".join(f'"{name}" = "{mark}"' for name, mark in now.items() if name not in frozen)

    assert new == "", f"add to {FROZEN.name}:\n{new}"
    assert now == frozen


@pytest.mark.parametrize(
    ("name", "conditions", "said"),
    [
        ("static.speed", {}, "static.speed is not declared"),
        ("static.tau_ns", {}, "has the conditions work, rows, not"),
        ("static.tau_ns", {"rows": 1, "work": "mlp"}, "has the conditions work, rows, not rows, work"),
        ("isolation.p99_ratio", {"model": "A"}, "has the conditions none, not model"),
    ],
)
def test_what_is_not_declared_cannot_be_made(name, conditions, said):
    """A measurement cannot emit a figure that docs/figures.md does not have."""
    with pytest.raises(ValueError, match=said):
        figure(name, 1.0, **conditions)


def test_a_figure_has_what_its_name_says():
    """Unit and direction come from the registry; rounding does not put a bound on the wrong side of its value."""
    found = figure("static.tau_ns", 5, low=5.0000001, high=6, n=12.7, work="mlp", rows=8)

    assert (found.id, found.unit, found.better, found.n) == ("static.tau_ns[work=mlp,rows=8]", "ns", "lower", 12)
    assert (found.low, found.value, found.high) == (5.0, 5.0, 6.0)
