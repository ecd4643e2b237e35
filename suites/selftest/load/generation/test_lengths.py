"""Lengths of prompts and texts: a spec makes the same ones again, within its bounds."""

from __future__ import annotations

import numpy as np
import pytest

from batchproof.load.generation.lengths import Lengths, parse
from batchproof.load.schedule import ScheduleError


@pytest.mark.parametrize("spec", ["fixed:tokens=64", "lognormal:mean=64,sigma=0.8", "lognormal:mean=64,sigma=0.8,most=256"])
def test_a_spec_says_itself(spec: str) -> None:
    """What is read says the same line, and the same seed draws the same lengths."""
    found = parse(spec)

    assert found.spec == spec
    assert np.array_equal(found.drawn(50, 3), parse(spec).drawn(50, 3))
    assert found.drawn(5, 3).dtype == np.int64


def test_fixed_lengths_are_all_alike() -> None:
    """Another upper bound cuts them."""
    assert Lengths(9).drawn(3, 1).tolist() == [9, 9, 9]
    assert Lengths(9).drawn(2, 1, most=4).tolist() == [4, 4]


def test_lognormal_lengths_have_the_mean_and_the_spread() -> None:
    """The mean is that of the distribution, not of its logarithm; the bound cuts both ends."""
    drawn = Lengths(100, 0.5).drawn(100_000, 7)

    assert drawn.mean() == pytest.approx(100, rel=0.01)
    assert np.log(drawn).std() == pytest.approx(0.5, rel=0.02)
    cut = Lengths(100, 2.0, 150).drawn(10_000, 7)
    assert (cut.min(), cut.max()) == (1, 150)


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ("normal:mean=3", "unknown lengths 'normal:mean=3'"),
        ("fixed:mean=3", "fixed takes tokens, once each"),
        ("fixed:tokens=3,tokens=4", "fixed takes tokens, once each"),
        ("fixed", "fixed needs tokens"),
        ("lognormal:mean=3", "lognormal needs sigma"),
        ("fixed:tokens=many", "tokens is a number of tokens, not 'many'"),
        ("fixed:tokens=nan", "a length is a finite number"),
        ("fixed:tokens=0", "lengths need 'mean' and 'most' from 1"),
        ("lognormal:mean=8,sigma=9", "'sigma' from 0 to 4"),
    ],
)
def test_a_wrong_spec_is_refused(spec: str, said: str) -> None:
    """The message says what is wrong."""
    with pytest.raises(ScheduleError, match=said):
        parse(spec)
