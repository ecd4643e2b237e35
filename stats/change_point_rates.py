"""How often the search for change points is wrong: on series without a change, and with one that is known."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from batchproof.stats.change_points import change_points

RUNS, STEP_AT = 60, 40  # runs of a series, and the first of them after the change
NEAR = 3  # runs: a change point this near to the change has found it
STEPS = (0.02, 0.03, 0.05, 0.10)
OUTLIERS, OUTLYING, DRIFT = 0.05, 0.15, 0.6
Floats = NDArray[np.float64]


def steady(random: np.random.Generator, spread: float) -> Floats:
    """Return independent normal noise around 1."""
    return 1 + spread * random.standard_normal(RUNS)


def outlying(random: np.random.Generator, spread: float) -> Floats:
    """Return normal noise in which every twentieth run on average is slower, by 15 % on average."""
    slower = np.where(random.random(RUNS) < OUTLIERS, random.exponential(OUTLYING, RUNS), 0.0)
    return steady(random, spread) * (1 - np.minimum(slower, 0.9))


def drifting(random: np.random.Generator, spread: float) -> Floats:
    """Return noise that remembers: each run is as far off as 0.6 of the one before says (an AR(1) process)."""
    noise = random.standard_normal(RUNS)
    for at in range(1, RUNS):
        noise[at] = DRIFT * noise[at - 1] + np.sqrt(1 - DRIFT**2) * noise[at]
    return 1 + spread * noise


NOISES: MappingProxyType[str, Callable[[np.random.Generator, float], Floats]] = MappingProxyType(
    {"independent": steady, "with outliers": outlying, "drifting": drifting}
)


@dataclass(frozen=True)
class Rates:
    """What was found in many series. false: the share of those without a change in which one was found.

    found: the share of those with a change of each size in which it was found near its place. runs: how many runs after the
    change of 5 % the median series needed until it was found; None if it never was.
    """

    noise: str
    series: int
    false: float
    found: tuple[float, ...]
    runs: int | None


def rates(noise: str, series: int, *, spread: float, least_change: float, seed: int) -> Rates:
    """Return the rates for one kind of noise; spread: the standard deviation of a run, as a share."""
    random = np.random.default_rng(seed)
    made = [NOISES[noise](random, spread) for _ in range(series)]
    false = sum(bool(_places(one, least_change)) for one in made) / series
    found = tuple(sum(_near(_places(_slower(one, step), least_change)) for one in made) / series for step in STEPS)
    delays = sorted(_delay(_slower(one, 0.05), least_change) for one in made)
    median = delays[len(delays) // 2]
    return Rates(noise, series, false, found, median if median <= RUNS - STEP_AT else None)


def print_table(series: int, *, spread: float, least_change: float, seed: int) -> None:
    """Print the rates for every kind of noise."""
    steps = "".join(f"{-100 * step:>9.0f} %" for step in STEPS)
    print(f"{series} series of {RUNS} runs, standard deviation {100 * spread:g} %, a change before run {STEP_AT + 1}")
    print(f"{'noise':<16}{'false alarm':>12}{steps}   runs until -5 % is found")
    for noise in NOISES:
        one = rates(noise, series, spread=spread, least_change=least_change, seed=seed)
        found = "".join(f"{100 * share:>9.1f} %" for share in one.found)
        print(f"{noise:<16}{100 * one.false:>10.1f} %{found}   {'never' if one.runs is None else one.runs}")


def _slower(series: Floats, step: float) -> Floats:
    return np.where(np.arange(RUNS) < STEP_AT, series, series * (1 - step))


def _places(series: Floats, least_change: float) -> list[int]:
    return [one.at for one in change_points(series.tolist(), least_change=least_change)]


def _near(places: list[int]) -> bool:
    return any(abs(at - STEP_AT) <= NEAR for at in places)


def _delay(series: Floats, least_change: float) -> int:
    """Return how many runs after the change it is found; more than there are if it is not."""
    after = range(1, RUNS - STEP_AT + 1)
    return next((one for one in after if _near(_places(series[: STEP_AT + one], least_change))), RUNS)
