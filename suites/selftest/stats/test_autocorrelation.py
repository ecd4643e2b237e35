"""The integrated autocorrelation time, compared with its closed form."""

from __future__ import annotations

import numpy as np

from batchproof.stats.autocorrelation import integrated_time


def test_the_integrated_time_of_an_autoregression_is_its_closed_form():
    """It is at least one, even if the series shows no correlation."""
    from scipy import signal

    series = signal.lfilter([1], [1, -0.8], np.random.default_rng(3).standard_normal(200_000))
    assert abs(integrated_time(series) / 9 - 1) < 0.15  # (1 + 0.8) / (1 - 0.8)
    assert integrated_time(np.ones(100)) == integrated_time(np.ones(1)) == 1
    assert integrated_time(np.arange(1000) % 2) == 1
