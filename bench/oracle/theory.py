"""Closed forms for a batcher under Poisson arrivals, and for a closed loop. Rates are per second, times in ns (floats).

What has no closed form, or one that is solved faster as a chain, is in `chains`. Every formula here was derived again and is
held against the simulator by `batchproof lab theory` and by the selftests.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal, localcontext
from math import ceil

from batchproof.bench.oracle.poisson import survival

S = 1e9  # ns in a second


class Unstable(ValueError):
    """More arrives than can be served, so no steady state exists, and every mean is infinite."""


def md1_mean_ns(rate: float, service_ns: float) -> float:
    """Return the mean latency of one request at a time (M/D/1): s + rho s / (2 (1 - rho)) (Pollaczek, Khinchine)."""
    rho = stable(rate * service_ns / S)
    return service_ns + rho * service_ns / (2 * (1 - rho))


def md1_waits_at_most(rate: float, service_ns: float, wait_ns: float) -> float:
    """Return the share of requests that wait for at most `wait_ns` before their service starts (Erlang 1909).

    (1 - rho) sum_{k <= t/s} (lambda (k s - t))^k / k! exp(-lambda (k s - t)): the signs alternate and the terms grow as
    exp(lambda t), so it is summed with that many digits to spare.
    """
    rho = stable(rate * service_ns / S)
    if wait_ns < 0:
        return 0.0
    with localcontext() as context:
        context.prec = 40 + ceil(2 * rate * wait_ns / S)
        lam, each, wait = Decimal(rate) / Decimal(S), Decimal(service_ns), Decimal(wait_ns)
        total, factorial = Decimal(0), Decimal(1)
        for k in range(int(wait // each) + 1):
            factorial *= max(k, 1)
            x = lam * (k * each - wait)
            total += (x**k if k else Decimal(1)) / factorial * (-x).exp()
        return float((1 - Decimal(rho)) * total)


def md1_percentile_ns(rate: float, service_ns: float, percent: float) -> float:
    """Return a percentile of the latency of one request at a time, to within 1 ns.

    It is the service time itself as long as so many find the server idle: latency has an atom there.
    """
    low, high = 0.0, service_ns
    share = percent / 100
    if md1_waits_at_most(rate, service_ns, 0) >= share:
        return service_ns
    while md1_waits_at_most(rate, service_ns, high) < share:
        low, high = high, 2 * high
    while high - low > 0.5:
        middle = (low + high) / 2
        low, high = (low, middle) if md1_waits_at_most(rate, service_ns, middle) >= share else (middle, high)
    return service_ns + high


def greedy_bound_ns(rate: float, base_ns: float, row_ns: float) -> float:
    """Return an upper bound of the mean latency of a greedy batcher without a size limit and tau(b) = base + row b.

    Inoue, "Queueing Analysis of GPU-Based Inference Servers with Dynamic Batching", Performance Evaluation 2021
    (arXiv 1912.06322): the smaller of phi_0, tight at low load, and phi_1, tight at high load. It bounds nothing where
    batches have a maximum size.
    """
    lam = rate / S
    x = stable(lam * row_ns)
    few = (row_ns + base_ns) / (2 * (1 - x)) * (1 + 2 * lam * base_ns + (1 - lam * base_ns) / (1 + x))
    many = 1.5 * base_ns / (1 - x) + row_ns / 2 * (x + 2) / (1 - x * x)
    return min(few, many)


def greedy_mean_ns(rate: float, base_ns: float, row_ns: float, mean_batch: float) -> float:
    """Return the exact mean latency of that batcher from its mean batch size alone (same source).

    The mean batch can be measured; `chains.unlimited` computes it.
    """
    lam = rate / S
    x = stable(lam * row_ns)
    square = mean_batch * (1 + 2 * lam * x * base_ns) + (lam * base_ns) ** 2
    square /= 1 - x * x
    work = row_ns * square + base_ns * mean_batch
    times = row_ns**2 * square + 2 * row_ns * base_ns * mean_batch + base_ns**2
    return (work + lam / 2 * times) / mean_batch


def greedy_law_ns(rate: float, sizes: Sequence[int], tau_ns: Sequence[float]) -> float:
    """Return the mean latency that a greedy, unlimited batcher must have, from the batches it formed, whatever its tau.

    E[W] = (E[B tau(B)] + lambda E[tau(B)^2] / 2) / E[B]; sizes: rows of each batch; tau_ns: indexed by rows.
    """
    each = [tau_ns[size] for size in sizes]
    work = sum(size * tau for size, tau in zip(sizes, each, strict=True))
    return (work + rate / S / 2 * sum(tau * tau for tau in each)) / sum(sizes)


@dataclass(frozen=True)
class Window:
    """A batcher whose instances are never busy. mean_wait_ns: before the batch leaves. full: share that leave full."""

    mean_batch: float
    mean_wait_ns: float
    full: float


def window(rate: float, max_batch: int, delay_ns: float) -> Window:
    """Return what the queue delay alone does: the first request opens a window, which ends after the delay or when full.

    With N ~ Poisson(lambda D): E[B] = 1 + sum_{j<M} P(N >= j); E[wait] = 1/lambda sum_{j<M} j P(N >= j) / E[B].
    """
    reach = survival(rate * delay_ns / S, max_batch)  # P(N >= j), j = 0 .. M-1
    mean = 1 + float(reach[1:].sum())
    waits = sum(j * float(reach[j]) for j in range(1, max_batch))
    return Window(mean, waits * S / rate / mean, float(reach[max_batch - 1]))


def closed_loop(clients: int, base_ns: float, row_ns: float, max_batch: int) -> float:
    """Return requests per second of `clients` that send again at once; greedy, one instance, tau(b) = base + row b.

    Two cohorts alternate, k in the model and N - k in the queue: X = N / (2 base + row N) whatever k is, as long as both
    fit into a batch (2 <= N <= 2 M). From 2 M clients on every batch is full, X = M / tau(M): fewer than twice the largest
    batch cannot load one instance. The mean latency is N / X (Little), exactly.
    """
    if clients == 1:
        return S / (base_ns + row_ns)
    cohort = min(clients, 2 * max_batch)
    return S * cohort / (2 * base_ns + row_ns * cohort)


def stable(load: float) -> float:
    """Return the load; Unstable if it is 1 or more."""
    if load >= 1:
        raise Unstable(f"load {load:.3f}: more arrives than can be served")
    return load
