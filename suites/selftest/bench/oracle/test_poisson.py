"""Poisson probabilities: they are scipy's, in the shapes that the chains need."""

from __future__ import annotations

import numpy as np
import pytest

from batchproof.bench.oracle import poisson


@pytest.mark.parametrize("mean", [0.0, 1e-9, 0.3, 7.0, 3000.0, np.array([[0.0, 1.0], [40.0, 900.0]])])
def test_probabilities_are_scipy_s(mean: float) -> None:
    """The probabilities of this count, at least this count, and at most this count agree, however large the mean is."""
    from scipy import stats

    law, j = stats.poisson(np.asarray(mean)[..., None]), np.arange(12)

    assert np.allclose(poisson.pmf(mean, 12), law.pmf(j), rtol=1e-9, atol=0)
    assert np.allclose(poisson.survival(mean, 12), law.sf(j - 1), rtol=1e-9, atol=0)
    assert np.allclose(poisson.capped(mean, 11), np.where(j == 11, law.sf(10), law.pmf(j)), rtol=1e-9, atol=0)
    assert np.allclose(poisson.capped(mean, 11).sum(axis=-1), 1)
    assert np.all(poisson.capped(mean, 0) == 1)


def test_a_stationary_distribution_stays() -> None:
    """One step of the chain changes nothing in its stationary distribution."""
    chain = np.array([[0.5, 0.5, 0.0], [0.1, 0.6, 0.3], [0.0, 0.2, 0.8]])

    found = poisson.stationary(chain)

    assert np.allclose(found @ chain, found)
    assert found.sum() == pytest.approx(1)
