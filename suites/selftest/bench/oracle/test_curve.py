"""The curve under test: how long a batch takes, and how much batching can gain at most."""

from __future__ import annotations

import pytest

from batchproof.bench.oracle.curve import Curve

US, MS = 1_000, 1_000_000
CAPACITY = 8 / 3_600_000 * 1e9  # a second, of 2 ms + 0.2 ms a row at 8 rows


def test_the_curve_is_straight_between_and_beyond_its_points() -> None:
    """The curve is straight between points, as steep as the last piece beyond them, and never below 1 ns."""
    curve = Curve((2, 4, 8), (100, 140, 120))

    assert [curve.at(rows) for rows in (1, 2, 3, 4, 6, 8, 12, 40)] == [80, 100, 120, 140, 130, 120, 100, 1]
    assert curve.table(3) == (0, 80, 100, 120)
    assert Curve((4,), (50,)).table(3) == (0, 50, 50, 50)
    assert Curve.from_json(curve.to_json()) == curve
    with pytest.raises(ValueError, match="at least 1 row"):
        curve.at(0)


def test_the_curve_bounds_what_batching_gives() -> None:
    """A line has a limit, a best batch and a ceiling, and so does a device that large batches slow down."""
    line = Curve.affine(2 * MS, MS // 5, (1, 2, 4, 8))
    slow = Curve((1, 8, 32), (275 * US, 2410 * US, 14459 * US))

    assert line.tau_ns == (2_200_000, 2_400_000, 2_800_000, 3_600_000)
    assert line.max_throughput(8) == pytest.approx(CAPACITY)
    assert line.max_throughput(8, instances=3) == pytest.approx(3 * CAPACITY)
    assert line.ceiling(8) == pytest.approx(CAPACITY / (1e9 / 2_200_000))
    assert line.fit() == (2 * MS, MS // 5, pytest.approx(0, abs=1e-9))
    assert (slow.best(32), slow.ceiling(32)) == (1, 1.0)
    assert Curve((1, 2), (100, 210)).fit()[0] == 0, "no negative start"
    assert Curve((1, 2), (100, 90)).fit()[1] == 0, "no negative rows"


def test_the_knee_is_the_smallest_batch_near_the_limit() -> None:
    """The knee is the smallest batch with 90 % of the limit.

    9 base / row for a line. A curve that peaks early is compute-bound.
    """
    knee = Curve.affine(2 * MS, MS // 5, (1, 8, 64, 4096)).knee()
    flat = Curve((1, 8, 32), (275 * US, 2410 * US, 14459 * US)).knee()

    assert knee.batch == pytest.approx(90, rel=0.03)
    assert not knee.compute_bound
    assert (flat.batch, flat.best, flat.compute_bound) == (1, 1, True)
    assert "compute-bound: a smaller model or more hardware, not a bigger batch" in flat.reason
    assert Curve.affine(2 * MS, MS // 5, (1, 2, 4)).knee().compute_bound is False, "too few sizes to say so"


@pytest.mark.parametrize(
    ("sizes", "tau_ns"), [((), ()), ((1, 2), (5,)), ((2, 1), (5, 6)), ((0, 1), (5, 6)), ((1,), (0,))]
)
def test_what_is_not_a_curve_is_refused(sizes: tuple[int, ...], tau_ns: tuple[int, ...]) -> None:
    """It is a ValueError, from JSON as well."""
    with pytest.raises(ValueError, match=r"a curve needs|must ascend|at least 1 ns"):
        Curve(sizes, tau_ns)
    with pytest.raises(ValueError, match="not a curve"):
        Curve.from_json('{"sizes": 3}')
