"""Several models of one work, for a measurement that compares them. They are deployed at once if the target can do that.

A Triton needs 1.5 s for a Python model, and sleeps for most of that time. A model that waits for its turn costs a thousandth
of a processor.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import partial

from batchproof.bench.measurement import Bench
from batchproof.load.workload import Served, Work
from batchproof.reference_batcher.config import BatcherConfig

Serve = Callable[[BatcherConfig], AbstractContextManager[Served]]


@contextmanager
def together(bench: Bench, work: Work, configs: Sequence[BatcherConfig]) -> Iterator[Serve]:
    """Yield `serve(config)`: the work with one of these configurations, for `with`.

    A target with `deploys_at_once` serves all of them from before the first is needed until the end. On any other target,
    with torch models, which need memory, and if two configurations are equal, each is deployed when it is needed. Raises as
    `Bench.serve`.
    """
    at_once = bench.target.deploys_at_once
    alone = bench.target.info.claims.get("side_by_side") is False or len(set(configs)) < len(configs)
    if not at_once or work.model or alone or len(configs) < 2:
        yield partial(bench.serve, work)
        return
    bench.say(f"{work.name}: bringing up {len(configs)} models")
    fleet = _Fleet()
    pool = ThreadPoolExecutor(at_once, thread_name_prefix="batchproof-deploy")
    try:
        coming = [pool.submit(fleet.add, config, partial(bench.serve, work, config)) for config in configs]
        for one in coming:
            one.result()
        yield lambda config: nullcontext(fleet.up[config])
    finally:
        fleet.close()
        pool.shutdown(wait=False, cancel_futures=True)  # a server that hangs must not make an interruption hang


class _Fleet:
    """Models that are up, by configuration."""

    def __init__(self) -> None:
        self.up: dict[BatcherConfig, Served] = {}
        self._lock = threading.Lock()
        self._over = False

    def add(self, config: BatcherConfig, serve: Callable[[], Served]) -> None:
        """Bring one up; it is closed at once if the fleet was closed meanwhile."""
        if self._over:
            return
        served = serve()
        with self._lock:
            if not self._over:
                self.up[config] = served
                return
        served.close()

    def close(self) -> None:
        """Close them all."""
        with self._lock:
            self._over = True
        for served in self.up.values():
            served.close()
