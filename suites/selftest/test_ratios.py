"""The arithmetic of the performance rules: intervals that are as sure as they say, and trends."""

from __future__ import annotations

import math

import numpy as np
import pytest

from batchproof.fixtures.checkers.ratios import Ratio, ratio, t_99, trend
from batchproof.fixtures.verdicts import Verdict

RUNS = 4000
GATE = 1.05


@pytest.mark.parametrize("noise", [0.002, 0.05, 0.3], ids=["quiet", "usual", "loud"])
@pytest.mark.parametrize("rounds", [4, 6, 9])
def test_one_alarm_in_a_hundred_at_the_gate(noise: float, rounds: int) -> None:
    """A true ratio that is exactly at the gate is called FAIL, and PASS, in one run of a hundred each."""
    noisy = np.random.default_rng(1729).normal(math.log(GATE), noise, (RUNS, rounds))

    verdicts = [ratio(np.exp(logs).tolist()).at_least(GATE) for logs in noisy]

    for word in (Verdict.FAIL, Verdict.PASS):
        assert 0.005 < verdicts.count(word) / RUNS < 0.017  # 4 standard deviations of 1 % of 4000 runs


def test_power_is_as_documented() -> None:
    """With 9 rounds of 5 % noise, a ratio that is 10 % below the gate fails in 99 runs of 100 or more."""
    noisy = np.random.default_rng(7).normal(math.log(GATE * 0.9), 0.05, (1000, 9))

    assert sum(ratio(np.exp(logs).tolist()).at_least(GATE) is Verdict.FAIL for logs in noisy) >= 980


@pytest.mark.parametrize("decline", [1.0, 0.8], ids=["none", "at the gate"])
def test_a_trend_alarms_as_rarely(decline: float) -> None:
    """Rates that decline to exactly the gate are called FAIL in one run of a hundred, and steady ones practically never."""
    rng = np.random.default_rng(3)
    line = math.log(decline) / 6 * np.arange(9)

    found = [
        trend(list(enumerate(np.exp(line + rng.normal(0, 0.03, 9)).tolist())), 6.0).at_least(0.8).name for _ in range(2000)
    ]

    assert found.count("FAIL") / 2000 < (0.017 if decline < 1 else 0.001)
    assert found.count("PASS") / 2000 > (0.003 if decline < 1 else 0.99)


def test_a_stalled_host_explains_three_times_its_share() -> None:
    """A FAIL needs the gate missed by more than three times the share of the time by which the host was late."""
    assert [Ratio(0.7, 0.7, 0.7, late).at_least(0.8) for late in (0.0, 0.04, 0.05)] == [
        Verdict.FAIL, Verdict.FAIL, Verdict.INCONCLUSIVE]
    assert [Ratio(1.4, 1.4, 1.4, late).at_most(1.2) for late in (0.0, 0.05, 0.06)] == [
        Verdict.FAIL, Verdict.FAIL, Verdict.INCONCLUSIVE]


def test_the_quantiles_are_students() -> None:
    """The table is Student's t at 99 %, and beyond its end stays on the safe side."""
    stats = pytest.importorskip("scipy.stats", reason="the extra `bench` (scipy) is not installed")

    assert [round(float(stats.t.ppf(0.99, free)), 3) for free in range(1, 21)] == [t_99(free) for free in range(1, 21)]
    assert t_99(100) == t_99(20)
