"""Batch queues solved exactly, as Markov chains from one launch of a batch to the next. Rates per second, times in ns.

Queues have no end; the chains have one, so far out that less than 1e-13 of the probability lies behind it (see `_reach`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from batchproof.bench.oracle.poisson import Floats, capped, stationary, survival
from batchproof.bench.oracle.theory import S, greedy_mean_ns, stable

LEGENDRE: Callable[[int], tuple[Floats, Floats]] = np.polynomial.legendre.leggauss
NODES, WEIGHTS = LEGENDRE(64)
TAIL = 1e-13
MOST_STATES = 3000


@dataclass(frozen=True)
class Steady:
    """Steady state of one instance under Poisson arrivals: latency and rows of a batch, on average; both are exact."""

    mean_ns: float
    mean_batch: float


def bulk(rate: float, tau_ns: Sequence[float], max_batch: int, least: int = 1) -> Steady:
    """Return the steady state of M/D_b^{a,M}/1: an idle instance takes all that wait, at least `least`, at most M.

    tau_ns: indexed by rows, 0 to M. The chain of the queue left behind (X' = (X - M)+ + Poisson(lambda tau(b(X)))), as in
    Bailey 1954 and Neuts 1967; the mean latency is the mean number in the system over a cycle, by Little.
    least = 1: greedy, which is Triton's rule without a delay. least = M: full batches only.
    """
    lam = rate / S
    states = _reach(lam, tau_ns, max_batch)
    queue = np.arange(states)
    batch = np.clip(queue, least, max_batch)
    tau = np.asarray(tau_ns, dtype=np.float64)[batch]
    chain = np.zeros((states, states))
    for i in range(states):
        left = max(i - max_batch, 0)
        chain[i, left:] = capped(lam * tau[i], states - left - 1)
    p = stationary(chain)
    idle = np.maximum(least - queue, 0) / lam
    filling = np.array([sum(range(i, least)) for i in range(states)]) / lam
    cycle = float(p @ (idle + tau))
    inside = float(p @ (filling + np.maximum(queue, least) * tau + lam * tau**2 / 2))
    return Steady(inside / (lam * cycle), lam * cycle)


def unlimited(rate: float, base_ns: float, row_ns: float) -> Steady:
    """Return the steady state of a greedy batcher without a size limit, tau(b) = base + row b (see `greedy_mean_ns`).

    The chain of batch sizes: B' = max(1, Poisson(lambda tau(B))).
    """
    lam = rate / S
    x = stable(lam * row_ns)
    mean = (lam * base_ns + 1) / (1 - x)
    states = int(mean + 12 * np.sqrt(mean / (1 - x * x)) + 60)
    chain = capped(lam * (base_ns + row_ns * np.arange(1, states + 1)), states)
    chain[:, 1] += chain[:, 0]
    p = stationary(chain[:, 1:])
    batch = float(p @ np.arange(1, states + 1))
    return Steady(greedy_mean_ns(rate, base_ns, row_ns, batch), batch)


def delayed(rate: float, tau_ns: Sequence[float], max_batch: int, delay_ns: float) -> Steady:
    """Return the steady state of Triton's rule: at most M rows, the delay counted from the arrival of the oldest.

    ValueError if the delay is longer than tau(M): then those who were left behind by a full batch may have to wait again,
    and the chain needs their ages.

    State at a launch: (batch, left behind); somebody is left behind only by a full batch, and the next completion finds
    the oldest of them too old to wait. With nobody left, n arrivals during tau(b): none opens a window of D later on;
    n >= M leave at once; else the oldest has age y (density n y^(n-1) / tau^n), and if that is below D all wait for D - y
    more, or until they are M. The integral over y is Gauss-Legendre with 64 nodes.
    """
    if not 0 <= delay_ns <= tau_ns[max_batch]:
        raise ValueError(f"exact only for delays up to tau({max_batch}) = {tau_ns[max_batch]} ns, not {delay_ns}")
    lam, size = rate / S, max_batch
    left = _reach(lam, tau_ns, size)
    states = size + left  # b - 1: a batch of b = 1 .. M and nobody left; M - 1 + l: a full one and l left
    chain, idle, inside = np.zeros((states, states)), np.zeros(states), np.zeros(states)
    opened = _window(lam, size, 1, np.array([delay_ns]), np.ones(1))
    young: dict[float, list[_Window]] = {}
    for b in range(1, size + 1):
        tau = float(tau_ns[b])
        longest = min(float(delay_ns), tau)
        if longest not in young:
            young[longest] = [_young(lam, size, n, longest, delay_ns) for n in range(1, size)]
        arrivals = capped(lam * tau, size + left)
        row = chain[b - 1]
        row[size - 1 :] += arrivals[size:]
        row[:size] += arrivals[0] * opened.sizes
        idle[b - 1] = arrivals[0] * (1 / lam + opened.length)
        inside[b - 1] = arrivals[0] * opened.area
        for n, one in enumerate(young[longest], start=1):
            share = arrivals[n] * (longest / tau) ** n
            row[:size] += share * one.sizes
            row[n - 1] += arrivals[n] - share
            idle[b - 1] += share * one.length
            inside[b - 1] += share * one.area
    for behind in range(1, left + 1):
        chain[size - 1 + behind, behind - 1 :] = capped(lam * tau_ns[size], states - behind)
    p = stationary(chain)
    batch = np.minimum(np.arange(1, states + 1), size)
    tau_of = np.asarray(tau_ns, dtype=np.float64)[batch]
    inside += np.arange(1, states + 1) * tau_of + lam * tau_of**2 / 2
    return Steady(float(p @ inside) / (lam * float(p @ (idle + tau_of))), float(p @ batch))


@dataclass(frozen=True)
class _Window:
    """Waiting for company: rows at launch (float64 [M], from 1), mean time, and mean number waiting times time."""

    sizes: Floats
    length: float
    area: float


def _young(lam: float, size: int, waiting: int, longest_ns: float, delay_ns: float) -> _Window:
    """The window of `waiting` requests, all younger than `longest_ns`, averaged over the age of the oldest of them."""
    share = (NODES + 1) / 2
    return _window(lam, size, waiting, delay_ns - longest_ns * share, WEIGHTS / 2 * waiting * share ** (waiting - 1))


def _window(lam: float, size: int, waiting: int, lengths_ns: Floats, weights: Floats) -> _Window:
    """A window of one of `lengths_ns` [k] with `weights` [k] that `waiting` requests are in from the start."""
    missing = size - waiting
    joined = weights @ capped(lam * lengths_ns, missing)
    reach = weights @ survival(lam * lengths_ns, missing + 1)[:, 1:]
    sizes = np.zeros(size)
    sizes[waiting - 1 :] = joined
    return _Window(sizes, float(reach.sum()) / lam, float(reach @ (waiting + np.arange(missing))) / lam)


def _reach(lam: float, tau_ns: Sequence[float], max_batch: int) -> int:
    """Return how long a queue is worth a state of its own.

    Far out p_i falls as z^-i with z > 1 the root of z^M = exp(lambda tau(M) (z - 1)).
    """
    load = lam * tau_ns[max_batch]
    stable(load / max_batch)
    low = max_batch / load
    high = 2 * low + 2
    while max_batch * np.log(high) > load * (high - 1):
        high *= 2
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if max_batch * np.log(middle) > load * (middle - 1) else (low, middle)
    states = 2 * max_batch + 20 + int(-np.log(TAIL) / np.log(low))
    if states > MOST_STATES:
        raise ValueError(f"{states} states: too near capacity to be solved as a chain")
    return states
