"""How fast the reference batcher is: how near it comes to a device's limit, what a request costs, what latency it adds.

    saturation   closed loop, 2 x max_batch clients, a device that is busy for tau a batch (`Device`): answers a second
                 against the limit max_batch / tau, and against the device as it was: the host wakes it late, which is
                 not the batcher's fault
    overhead     a model that does nothing: time and processor time a request, with clients that send when they are
                 answered (no thread to wake) and with clients that are threads and wait
    added        latency at 500 requests a second, a model that does nothing, less the queue delay
    held         open loop, Poisson, a device with tau = 1 ms: at which shares of the limit p99 stays below 10 tau
    torch        a perceptron in torch, one OpenMP thread on the batcher's own worker, which is asserted

`batchproof lab reference-speed [--quick] [--json]`; about 90 s, quick 15 s, on two cores.
"""

from __future__ import annotations

import json
import sys
import threading
import time
from typing import Any

import numpy as np

from batchproof.bench.peers.device import Device
from batchproof.bench.peers.tables import as_text, speed_tables
from batchproof.host.clock import HOST_CLOCK
from batchproof.load import schedule
from batchproof.load.runs import Run, closed_loop, open_loop
from batchproof.load.workload import MS, Skipped
from batchproof.reference_batcher.config import BatcherConfig
from batchproof.stats import gates
from batchproof.stats.percentile import percentile
from batchproof.targets.reference import ReferenceTarget

WAIT_NS = 30_000 * MS
TAUS_NS, QUICK_TAUS_NS = (MS // 10, MS, 5 * MS), (MS,)
SIZES, QUICK_SIZES = (8, 32, 64), (8, 32)
SHARES, QUICK_SHARES = (0.3, 0.5, 0.7, 0.8, 0.9), (0.5, 0.8)
HELD_TAU_NS, HELD_SIZE, HELD_TAUS = MS, 8, 10
PAYLOAD = np.zeros((1, 8), np.int64)
Row = dict[str, Any]


def serve(model: Any, max_batch: int, delay_ns: int = 0, threads: int = 0) -> Any:
    """Bring a model up on the reference batcher."""
    config = BatcherConfig(max_batch_size=max_batch, max_queue_delay_ns=delay_ns)
    return ReferenceTarget().serve(model, config, threads=threads)


def figures(run: Run) -> Row:
    """Return a run's figures. Percentiles are in us, or None if the run has too few requests for them."""
    p50_ns, p99_ns = run.latency_ns(50), run.latency_ns(99)
    return {
        "requests": run.samples.count,
        "per_s": run.throughput,
        "p50_us": None if p50_ns is None else p50_ns / 1e3,
        "p99_us": None if p99_ns is None else p99_ns / 1e3,
        "valid": run.valid,
        "reasons": list(run.validity.reasons),
    }


def saturation(tau_ns: int, max_batch: int, seconds: float) -> Row:
    """Keep a device full; return the figures, the limit, and what share of it was reached."""
    device = Device(tau_ns)
    with serve(device, max_batch) as batcher:
        run = closed_loop(lambda _: batcher.submit(PAYLOAD), HOST_CLOCK, 2 * max_batch, wait_ns=WAIT_NS, seconds=seconds)
    row = figures(run)
    limit, as_it_was = max_batch * 1e9 / tau_ns, max_batch * 1e9 / device.took_ns()
    return {
        "tau_ns": tau_ns,
        "max_batch": max_batch,
        **row,
        "limit_per_s": limit,
        "share": row["per_s"] / limit,
        "share_of_device": row["per_s"] / as_it_was,
        "took_ns": device.took_ns(),
        "mean_batch": device.rows / device.batches,
    }


def overhead(max_batch: int, seconds: float) -> Row:
    """Return what a request costs with 2 x max_batch clients that send when they are answered, the client's part with it."""
    with serve(Device(0), max_batch) as batcher:
        before_s = time.process_time()
        run = closed_loop(lambda _: batcher.submit(PAYLOAD), HOST_CLOCK, 2 * max_batch, wait_ns=WAIT_NS, seconds=seconds)
        processor_s = time.process_time() - before_s
    row = figures(run)
    each_us = 1e6 / row["per_s"] if row["per_s"] else None
    return {"clients": f"{2 * max_batch} callbacks", "max_batch": max_batch, **row, "each_us": each_us,
            "processor_us": processor_s * 1e6 / max(1, run.samples.count)}  # fmt: skip


def waiting_clients(clients: int, max_batch: int, seconds: float) -> Row:
    """Return what a request costs with clients that are threads, each of which waits for its answer."""
    took_ns: list[list[int]] = [[] for _ in range(clients)]
    with serve(Device(0), max_batch) as batcher:
        start_ns = time.monotonic_ns()
        end_ns = start_ns + round(seconds * 1e9)

        def client(mine: list[int]) -> None:
            while (sent_ns := time.monotonic_ns()) < end_ns:
                batcher.submit(PAYLOAD).result()
                mine.append(time.monotonic_ns() - sent_ns)

        threads = [threading.Thread(target=client, args=(mine,)) for mine in took_ns]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        lasted_ns = time.monotonic_ns() - start_ns
    together = np.array([one for mine in took_ns for one in mine], np.int64)
    return {
        "clients": f"{clients} threads",
        "max_batch": max_batch,
        "requests": len(together),
        "per_s": len(together) * 1e9 / lasted_ns,
        "p50_us": percentile(together, 50) / 1e3,
        "p99_us": percentile(together, 99) / 1e3,
        "each_us": lasted_ns / 1e3 / max(1, len(together)),
    }


def added(delay_ns: int, seconds: float) -> Row:
    """Return the latency that the batcher adds if requests wait for nothing but its queue delay."""
    with serve(Device(0), 8, delay_ns) as batcher:
        run = open_loop(lambda _: batcher.submit(PAYLOAD), HOST_CLOCK, schedule.constant(500, seconds), wait_ns=WAIT_NS)
    row = figures(run)
    less = {name: None if row[name] is None else row[name] - delay_ns / 1e3 for name in ("p50_us", "p99_us")}
    return {"delay_ns": delay_ns, **row, **less}


def held(share: float, seconds: float, seed: int) -> Row:
    """Offer a share of the limit; say whether p99 stays below so many tau, autocorrelation taken into account."""
    device, slo_ns = Device(HELD_TAU_NS), HELD_TAUS * HELD_TAU_NS
    rate = share * HELD_SIZE * 1e9 / HELD_TAU_NS
    due = schedule.poisson(rate, seconds, seed)
    with serve(device, HELD_SIZE) as batcher:
        run = open_loop(lambda _: batcher.submit(PAYLOAD), HOST_CLOCK, due, wait_ns=WAIT_NS, slo_ns=slo_ns)
    verdict = gates.latency_within(run.samples.latency_ns, slo_ns).verdict
    return {"share": share, "rate_per_s": rate, **figures(run), "slo_us": slo_ns / 1e3, "verdict": verdict}


def torch_model(max_batch: int, seconds: float) -> Row:
    """Serve a perceptron with one OpenMP thread; RuntimeError if its worker has more."""
    try:
        import torch

        from batchproof.load.models import build
    except ImportError:
        raise Skipped("the module 'torch' is not installed: pip install 'batchproof[reference]'") from None
    module, inputs = build("mlp")
    seen: set[int] = set()
    hook = module.register_forward_pre_hook(lambda *_: seen.add(torch.get_num_threads()))
    try:
        with serve(module, max_batch, threads=1) as batcher:
            item = inputs(1)
            run = closed_loop(lambda _: batcher.submit(item), HOST_CLOCK, 2 * max_batch, wait_ns=WAIT_NS, seconds=seconds)
    finally:
        hook.remove()
    if seen != {1}:
        raise RuntimeError(f"torch ran with {sorted(seen)} threads on the batcher's worker, told 1")
    return {"max_batch": max_batch, **figures(run), "threads": 1}


def measure_all(*, quick: bool, seed: int = 1729, say: Any = lambda _text: None) -> Row:
    """Measure everything; JSON data."""
    seconds = 0.7 if quick else 3.0
    result: Row = {"saturation": [], "overhead": [], "added": [], "held": [], "torch": []}
    for tau_ns in QUICK_TAUS_NS if quick else TAUS_NS:
        for size in QUICK_SIZES if quick else SIZES:
            say(f"saturation, tau {tau_ns / MS:g} ms, batch {size}")
            result["saturation"].append(saturation(tau_ns, size, seconds))
    for size in (1, 8, 64):
        say(f"overhead, batch {size}")
        result["overhead"].append(overhead(size, seconds))
        result["overhead"].append(waiting_clients(size, size, seconds))
    for delay_ns in (0, MS):
        say(f"added latency, delay {delay_ns / MS:g} ms")
        result["added"].append(added(delay_ns, 2 * seconds))
    for share in QUICK_SHARES if quick else SHARES:
        say(f"p99 at {share:.0%} of the limit")
        result["held"].append(held(share, 2 * seconds, seed))
    for size in (1, 32):
        try:
            say(f"torch, batch {size}")
            result["torch"].append(torch_model(size, seconds))
        except Skipped as reason:
            result["torch"] = [{"skipped": str(reason)}]
    return result


def print_speed(*, quick: bool = False, as_json: bool = False) -> bool:
    """Measure and print; return whether all runs were valid. as_json: all figures, also of invalid runs."""
    found = measure_all(quick=quick, say=lambda said: print(said, file=sys.stderr))
    print(json.dumps(found, indent=1) if as_json else as_text(speed_tables(found)))
    bad = sorted({why for rows in found.values() for row in rows for why in row.get("reasons", [])})
    for why in bad:
        print(f"INVALID  {why}", file=sys.stderr)
    return not bad
