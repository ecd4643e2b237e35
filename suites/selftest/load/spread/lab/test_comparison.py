"""The comparison in a network, as far as it needs none: its order, and what it says about clocks."""

from __future__ import annotations

from typing import Any

from batchproof.load.runs import Run
from batchproof.load.spread.lab.comparison import Order, clocks
from batchproof.load.validity import Validity
from batchproof.suites.selftest.samples import samples

S = 1_000_000_000


def with_clocks(**offsets: int) -> Run:
    """Return a run whose workers' clocks were estimated so, within 1 ms."""
    told: dict[str, Any] = {
        name: {
            "requests": 10,
            "lag_p99_ns": 90_000,
            "clock": {
                "offset_ns": offset, "within_ns": 1_000_000, "drift_ppm": 1.0, "drift_within_ppm": 2.0,
                "round_trip_ns": 10_000_000,
            },
        }
        for name, offset in offsets.items()
    }  # fmt: skip
    return Run("open", "by hand", samples(), S, Validity(), {"workers": told})


def test_an_order_travels() -> None:
    """As JSON."""
    order = Order(("a", "b"), 5, 100.0, 20.0, 3, 1)

    assert Order.from_json(order.to_json()) == order


def test_a_clock_is_compared_with_what_is_known() -> None:
    """Each worker's clock was set ahead by a known time; the estimate may be off by what it says, and not by more."""
    lines, right = clocks(with_clocks(a=1000 * S + 900_000, b=2000 * S - 900_000), {"a": 1000, "b": 2000})
    assert right
    assert [line.split() for line in lines] == [
        ["a", "10", "0.090", "1000", "900.0", "1000.0", "1.00", "2.00", "10.000"],
        ["b", "10", "0.090", "2000", "-900.0", "1000.0", "1.00", "2.00", "10.000"],
    ]

    _, right = clocks(with_clocks(a=1000 * S + 1_100_000), {"a": 1000})
    assert not right
