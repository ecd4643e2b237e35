"""The reference batcher compared with the batchers that people use, in one run: the same model, the same client, in turn.

Each peer is kept full in a closed loop of 2 x max_batch clients, slice by slice, with all peers in each round, so that a
noisy minute hits everybody. The figure of a peer is the median of its valid slices; a peer whose slices are all invalid has
no figures. The p99 in a closed loop is what a full batcher gives; at a rate that all can hold, the open loop says what a
user would see. Triton is asked over gRPC by the same client, and its device is the witness's sleep.

`batchproof lab peers [--quick] [--json] [--triton]`; about 4 minutes, quick 30 s, on two cores.
"""

from __future__ import annotations

import json
import platform
import statistics
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from batchproof import __version__
from batchproof.bench.peers.adapters import KINDS, Kind
from batchproof.bench.peers.device import Device
from batchproof.bench.peers.reference_speed import PAYLOAD, Row, figures
from batchproof.bench.peers.reference_speed import serve as serve_reference
from batchproof.bench.peers.tables import as_text, comparison_tables
from batchproof.host.clock import HOST_CLOCK
from batchproof.load import schedule
from batchproof.load.runs import closed_loop, open_loop
from batchproof.load.workload import MS, Skipped, Work, serve
from batchproof.reference_batcher.config import BatcherConfig
from batchproof.targets.protocol import TargetError

WAIT_NS = 30_000 * MS
SPIN_NS = MS  # what a peer that would spin at a delay of 0 is given
Submit = Callable[[int], "Future[Any]"]


@dataclass(frozen=True)
class Load:
    """The model and the batch. tau_ns: of a device; 0 and `torch`: a perceptron in torch, one thread."""

    name: str
    tau_ns: int
    max_batch: int
    torch: bool = False

    @property
    def limit(self) -> float | None:
        """Requests a second that the device allows; None if it takes no time, or does not exist."""
        return self.max_batch * 1e9 / self.tau_ns if self.tau_ns else None


LOADS = (
    Load("no-op, batch 64", 0, 64),
    Load("device 1 ms, batch 8", MS, 8),
    Load("device 1 ms, batch 32", MS, 32),
    Load("device 5 ms, batch 32", 5 * MS, 32),
    Load("perceptron in torch, batch 32", 0, 32, torch=True),
)
QUICK_LOADS = (LOADS[0], LOADS[1])


@contextmanager
def reference(load: Load) -> Iterator[Submit]:
    """The reference batcher."""
    module, item = _perceptron() if load.torch else (Device(load.tau_ns), PAYLOAD)
    with serve_reference(module, load.max_batch, threads=int(load.torch)) as batcher:
        yield lambda _: batcher.submit(item)


@contextmanager
def in_process(kind: Kind, load: Load) -> Iterator[Submit]:
    """A peer of this process: greedy, unless it would spin."""
    model, item = _by_items() if load.torch else (Device(load.tau_ns), PAYLOAD)
    peer = kind.open(model, load.max_batch, SPIN_NS if kind.spins else 0)
    try:
        yield lambda _: peer.submit(item)
    finally:
        peer.close()


@contextmanager
def triton(target: Any, load: Load) -> Iterator[Submit]:
    """Triton over gRPC; its device is the witness's sleep."""
    if load.torch:
        raise Skipped("triton: does not serve torch modules here")
    config = BatcherConfig(name="peer", max_batch_size=load.max_batch)
    with serve(target, Work("device", "", base_ns=load.tau_ns), config, wait_ns=WAIT_NS) as served:
        yield served.submit


def _perceptron() -> tuple[Any, Any]:
    try:
        from batchproof.load.models import build
    except ImportError:
        raise Skipped("the module 'torch' is not installed: pip install 'batchproof[reference]'") from None
    module, inputs = build("mlp")
    return module, inputs(1)


def _by_items() -> tuple[Callable[[list[Any]], list[Any]], Any]:
    """The perceptron as a function of a list, as one writes it for these batchers."""
    module, item = _perceptron()
    import torch

    from batchproof.load.models import bound_to

    bound = bound_to(module, 1)

    def call(items: list[Any]) -> list[Any]:
        with torch.inference_mode():
            return list(bound(torch.cat(items)).split(1))

    return call, item


Peers = dict[str, Callable[[Load], Any]]


def in_turn(loads: Sequence[Load], peers: Peers, *, rounds: int, seconds: float, say: Callable[[str], None]) -> list[Row]:
    """Measure all peers on all loads in turn. Return a row for each pair; without figures, it has a reason in `skipped`."""
    rows = []
    for load in loads:
        slices: dict[str, list[Row]] = {name: [] for name in peers}
        skipped: dict[str, str] = {}
        for turn in range(rounds):
            for name, peer in peers.items():
                if name in skipped:
                    continue
                say(f"{load.name}: {name}, {turn + 1} of {rounds}")
                try:
                    slices[name].append(_slice(peer, load, seconds))
                except (Skipped, TargetError) as reason:
                    skipped[name] = str(reason)
        rows += [{"load": load.name, "peer": name, "skipped": why} for name, why in skipped.items()]
        rows += _summed(load, {name: found for name, found in slices.items() if name not in skipped})
    return rows


def _slice(peer: Callable[[Load], Any], load: Load, seconds: float) -> Row:
    with peer(load) as submit:
        submit(0).result(WAIT_NS / 1e9)
        return figures(closed_loop(submit, HOST_CLOCK, 2 * load.max_batch, wait_ns=WAIT_NS, seconds=seconds))


def _summed(load: Load, slices: dict[str, list[Row]]) -> list[Row]:
    """Medians of each peer, and how the first (the reference) compares with it: the median of the rounds' ratios."""
    first = next(iter(slices.values()), [])
    rows = []
    for name, found in slices.items():
        valid = [one for one in found if one["valid"]]
        pairs = [(a, b) for a, b in zip(first, found, strict=True) if a["valid"] and b["valid"]]
        row: Row = {
            "load": load.name,
            "peer": name,
            "slices": len(found),
            "valid_slices": len(valid),
            "valid": bool(valid),
            "reasons": sorted({why for one in found for why in one["reasons"]}),
            "reference_over_it": _median([a["per_s"] / b["per_s"] for a, b in pairs if b["per_s"]]),
            **{key: _median([one[key] for one in valid]) for key in ("per_s", "p50_us", "p99_us")},
            "each_slice": found,
        }
        row["limit_share"] = row["per_s"] / load.limit if load.limit and row["per_s"] else None
        rows.append(row)
    return rows


def _median(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return statistics.median(known) if known else None


def at_a_rate(peers: Peers, load: Load, rate: float, seconds: float, say: Callable[[str], None]) -> list[Row]:
    """Offer the same Poisson schedule to each; latency from the scheduled time."""
    due = schedule.poisson(rate, seconds, 1729)
    rows = []
    for name, peer in peers.items():
        say(f"{load.name} at {rate:g}/s: {name}")
        at = {"load": load.name, "rate_per_s": rate, "peer": name}
        try:
            with peer(load) as submit:
                submit(0).result(WAIT_NS / 1e9)
                rows.append({**at, **figures(open_loop(submit, HOST_CLOCK, due, wait_ns=WAIT_NS, percent=99.0))})
        except (Skipped, TargetError) as reason:
            rows.append({**at, "skipped": str(reason)})
    return rows


def everybody(target: Any = None) -> Peers:
    """Return all peers by name, the reference first; Triton if there is a target for it."""
    peers: Peers = {"batchproof": reference}
    for kind in KINDS:
        peers[kind.name] = lambda load, kind=kind: in_process(kind, load)  # type: ignore[misc]
    if target is not None:
        peers["triton over gRPC"] = lambda load: triton(target, load)
    return peers


def versions() -> dict[str, str]:
    """Return what is compared, with the reasons for what is not there."""
    found = {"python": platform.python_version(), "batchproof": __version__}
    for kind in KINDS:
        try:
            found[kind.name] = kind.version()
        except Skipped as reason:
            found[kind.name] = str(reason)
    return found


def measure_all(*, quick: bool, target: Any = None, say: Callable[[str], None] = lambda _text: None) -> Row:
    """Compare everybody; JSON data."""
    peers, seconds = everybody(target), 0.4 if quick else 2.0
    closed = in_turn(QUICK_LOADS if quick else LOADS, peers, rounds=3 if quick else 5, seconds=seconds, say=say)
    opened = at_a_rate(peers, LOADS[1], 1000.0, 1.0 if quick else 5.0, say)
    return {"versions": versions(), "closed": closed, "open": opened}


def print_comparison(*, quick: bool = False, as_json: bool = False, with_triton: bool = False) -> bool:
    """Compare and print; return whether all figures are valid.

    as_json: all figures, also those of invalid slices. with_triton: the embedded Triton too, over gRPC.
    """
    target = None
    if with_triton:
        from batchproof.targets import resolve

        try:
            target = resolve("triton")
        except TargetError as error:
            print(f"SKIPPED  triton: {error}", file=sys.stderr)
    try:
        found = measure_all(quick=quick, target=target, say=lambda said: print(said, file=sys.stderr))
    finally:
        if target is not None:
            target.close()
    print(json.dumps(found, indent=1) if as_json else as_text(comparison_tables(found)))
    rows = [*found["closed"], *found["open"]]
    for why in sorted({row["skipped"] for row in rows if "skipped" in row}):
        print(f"SKIPPED  {why}", file=sys.stderr)
    invalid = [row for row in rows if not row.get("valid", True)]
    for row in invalid:
        print(f"INVALID  {row['load']}, {row['peer']}: {'; '.join(row['reasons'])}", file=sys.stderr)
    return not invalid
