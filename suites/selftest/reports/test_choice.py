"""Which requests a picture shows if it cannot show all of them."""

from __future__ import annotations

from typing import Any

import pytest

from batchproof.reports.choice import chosen

CROWD = [{"name": f"r{at}", "serial": 100 + at} for at in range(160)]
PAIRS = [{100 + at, 101 + at} for at in range(0, 160, 2)]


def names(most: int = 5, about: Any = (), together: Any = ()) -> str:
    """The names of those that are chosen from the crowd, in their order."""
    return " ".join(one["name"] for one in chosen(CROWD, most, about, together))


@pytest.mark.parametrize(
    ("about", "together", "shown"),
    [
        ((), (), "r0 r1 r2 r3 r4"),
        (("nobody",), (), "r0 r1 r2 r3 r4"),
        (("r80",), (), "r78 r79 r80 r81 r82"),
        (("r159",), (), "r155 r156 r157 r158 r159"),
        (("r0",), PAIRS, "r0 r1 r2 r3 r4"),
        (("r80",), [{180, 120, 250}], "r20 r79 r80 r81 r150"),
        (("r80", "r120"), PAIRS, "r79 r80 r81 r120 r121"),
        ([f"r{at}" for at in range(150, 0, -10)], PAIRS, "r110 r120 r130 r140 r150"),
        ({"r80"}, [[180, 181], [182, 183]], "r78 r79 r80 r81 r82"),
    ],
    ids=["nobody accused", "an unknown name", "its neighbours", "the last", "the first", "its batch before its neighbours",
         "two places", "more accused than lanes", "a set"],
)  # fmt: skip
def test_the_accused_come_first(about: Any, together: Any, shown: str) -> None:
    """Then those in a batch with them, then the nearest; and all in the order in which they were sent."""
    assert names(5, about, together) == shown


def test_all_are_shown_if_there_is_room() -> None:
    """Whoever is accused, nobody is left out and nobody moves."""
    assert chosen(CROWD[:5], 5, ("r4", "r1")) == CROWD[:5]
    assert chosen([], 5, ("r4",)) == []


def test_requests_of_one_name_are_all_accused() -> None:
    """Evidence from elsewhere may have a name twice."""
    twice = [*CROWD, {"name": "r0", "serial": 1}]

    assert [one["serial"] for one in chosen(twice, 2, ("r0",))] == [100, 1]


def test_a_large_crowd_is_cut() -> None:
    """A slice of load has as many requests as this, and all of them may be accused."""
    crowd = [{"name": f"r{at}", "serial": at} for at in range(100_000)]

    assert len(chosen(crowd, 16, [one["name"] for one in crowd], [range(100_000)])) == 16
