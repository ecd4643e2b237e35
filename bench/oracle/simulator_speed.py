"""How fast the simulator is: `batchproof lab simulator-speed` prints requests per second of one core."""

from __future__ import annotations

import time

import numpy as np

from batchproof.reference_batcher.config import DELAY, BatcherConfig, QueuePolicy
from batchproof.reference_batcher.simulator import has_closed_form, simulate, simulate_closed

AIM = 200_000
MS = 1_000_000
LATE = QueuePolicy(queue_timeout_ns=20 * MS, timeout_action=DELAY)
# name, configuration, offered load as a share of capacity
CASES = (
    ("one at a time", BatcherConfig(max_batch_size=1), 0.8),
    ("M 8", BatcherConfig(max_batch_size=8), 0.8),
    ("M 8, 1 ms", BatcherConfig(max_batch_size=8, max_queue_delay_ns=MS), 0.8),
    ("M 32, 4 instances", BatcherConfig(max_batch_size=32, instances=4), 0.8),
    ("M 128, 50 ms, mostly idle", BatcherConfig(max_batch_size=128, max_queue_delay_ns=50 * MS), 0.3),
    ("preferred sizes", BatcherConfig(max_batch_size=32, preferred_batch_size=(4, 8, 16), max_queue_delay_ns=2 * MS), 0.8),
    ("3 priority levels", BatcherConfig(max_batch_size=32, priority_levels=3, default_priority_level=2), 0.8),
    (
        "levels, timeouts",
        BatcherConfig(max_batch_size=32, priority_levels=2, default_priority_level=1, priority_queue_policy=((2, LATE),)),
        1.2,
    ),
    ("overload, bounded queue", BatcherConfig(max_batch_size=32, max_queue_size=128), 1.5),
    ("overload, timeouts", BatcherConfig(max_batch_size=32, queue_timeout_ns=20 * MS), 1.5),
)


def speed(config: BatcherConfig, load: float, requests: int, *, quick: bool, mixed: bool = False) -> float:
    """Return simulated requests per second of processor time; the best of 3, as other processes only take time away.

    mixed: requests of 1 to 4 rows, and of any level.
    """
    tau_ns = [2 * MS + MS // 5 * rows for rows in range(config.max_batch_size + 1)]
    generator = np.random.default_rng(1729)
    rate = load * config.instances * config.max_batch_size / tau_ns[-1] / (2.5 if mixed else 1)
    due_ns = np.cumsum(generator.exponential(1 / rate, requests)).astype(np.int64)
    most = max(1, config.priority_levels)
    priorities = generator.integers(1, most + 1, requests).tolist() if most > 1 else None
    rows = generator.integers(1, 5, requests).tolist() if mixed else None
    times = []
    for _ in range(3):
        begun = time.process_time()
        simulate(config, due_ns, tau_ns, rows=rows, priorities=priorities, quick=quick)
        times.append(time.process_time() - begun)
    return requests / min(times)


def print_table(requests: int = 200_000) -> None:
    """Print a Markdown table; requests: in each simulation."""
    print(f"simulated requests per second of one core ({requests} requests, best of 3; aim {AIM:,})")
    print("\n| configuration | load | batch at once | through the core |\n|---|---|---|---|")
    for name, config, load in CASES:
        quick = f"{speed(config, load, requests, quick=True):,.0f}" if has_closed_form(config) else "-"
        print(f"| {name} | {load} | {quick} | {speed(config, load, requests, quick=False):,.0f} |")
    mixed = BatcherConfig(max_batch_size=32, max_queue_delay_ns=2 * MS)
    print(f"| 1 to 4 rows a request, 2 ms | 0.8 | - | {speed(mixed, 0.8, requests, quick=False, mixed=True):,.0f} |")
    begun = time.process_time()
    simulate_closed(BatcherConfig(max_batch_size=32), 64, requests, [MS + rows for rows in range(33)])
    print(f"| closed loop, M 32, 64 clients | - | - | {requests / (time.process_time() - begun):,.0f} |")
