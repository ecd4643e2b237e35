"""Benches by hand, for the tests of charts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from batchproof.load.samples import Samples
from batchproof.reports import BenchReport, read_bench
from batchproof.reports.formats.bench import BenchWriter

if TYPE_CHECKING:
    from pathlib import Path

HOSTILE = "<script>alert(1)</script>\"'&]]> $x^2$ \x1b[31m\u202e %s {} ../../etc"
MS = 1_000_000
NONE_LEFT = {"ns": None, "low_ns": None, "high_ns": None, "n": 3, "why": "3 requests, a bound needs 459"}


def written(folder: Path, *measurements: dict[str, Any], target: str = "reference", slo_ns: int = 100 * MS) -> BenchReport:
    """Write a complete bench with these measurements, and read it."""
    folder.mkdir(parents=True, exist_ok=True)
    writer = BenchWriter(folder)
    about = {"name": target, "version": "1", "reached": target, "contact": "", "sight": "in-process", "claims": {}}
    names = [one["measurement"] for one in measurements]
    writer.header(
        target=about,
        measurements=names,
        works=["w"],
        quick=True,
        seed=1,
        slo_ns=slo_ns,
        price=None,
        command="batchproof bench",
    )
    for one in measurements:
        writer.measurement(one["measurement"], {key: value for key, value in one.items() if key != "measurement"})
    writer.footer(0, complete=True, reason="")
    return read_bench(folder)


def line(name: str, word: str = "measured", **facts: Any) -> dict[str, Any]:
    """Return a measurement of this name."""
    plain = {
        "question": "how fast",
        "word": word,
        "seconds": 1.0,
        "valid": word == "measured",
        "reasons": [],
        "verdict": "",
        "headline": "so fast",
        "tables": [],
    }
    return {"measurement": name, **plain, **facts}


def static(*points: tuple[int, int], name: str = "w", wide: bool = False) -> dict[str, Any]:
    """Return the measurement `static` of one work: (rows, tau in ms) each, within 10 %."""
    timed = [
        {
            "rows": rows,
            "n": 9,
            "tau_ns": ms * MS,
            "tau_low_ns": ms * MS * 9 // 10,
            "tau_high_ns": ms * MS * 11 // 10,
            "mean_ns": ms * MS,
            "through_ns": ms * MS,
            "rows_per_s": rows * 1e3 / ms,
            "wide": wide,
        }
        for rows, ms in points
    ]
    knee = {
        "batch": 4,
        "best": 8,
        "limit": 100.0,
        "share": 0.9,
        "ceiling": 3.0,
        "compute_bound": False,
        "reason": "the reason",
    }
    fit = {"base_ns": MS, "row_ns": MS, "worst_residual": 0.0}
    work = {"reasons": [], "says": "says", "model": "a model", "points": timed, "left_out": [], "fit": fit, "knee": knee}
    return line("static", works={name: work}, skipped={})


def row(
    config: tuple[int, int], *, valid: bool = True, samples: str = "", why: str = "the host stalled", **more: Any
) -> dict[str, Any]:
    """Return a run of a sweep: (size, delay in ms), 100 answers a second."""
    latency = {which: {"ns": 20 * MS, "low_ns": 18 * MS, "high_ns": None, "n": 500} for which in ("p50", "p90", "p99")}
    seen = {"throughput": 100.0, "latency": {**latency, "p99_9": NONE_LEFT}}
    told = {"predicted": {"throughput": 110.0, "p50_ns": 19 * MS, "p99_ns": 21 * MS}}
    about = {
        "config": {"max_batch_size": config[0], "max_queue_delay_ns": config[1] * MS},
        "valid": valid,
        "oracle": told,
        "reasons": [] if valid else [why],
        "duration_ns": 1000 * MS,
        "samples": samples,
    }
    return {**about, **more, **(seen if valid else {"discarded": seen})}


def sweep(
    closed: list[dict[str, Any]], opened: list[dict[str, Any]], *, name: str = "w", best: tuple[int, int] = (4, 0)
) -> dict[str, Any]:
    """Return the measurement `sweep` of one work."""
    config = {"max_batch_size": best[0], "max_queue_delay_ns": best[1] * MS}
    return line("sweep", works={name: {"best": config, "says": "the best", "closed": closed, "open": opened}}, skipped={})


def overload(*rows: tuple[str, float, bool], why: str = "the host stalled") -> dict[str, Any]:
    """Return the measurement `overload`: (limit, load, valid) each, and an INVALID spike."""
    loads = [
        {
            "limit": limit,
            "load": load,
            "valid": valid,
            "reasons": [] if valid else [why],
            "goodput": 50.0,
            "offered": 100.0,
            "answered_p99_ns": 30 * MS,
            "samples": "",
        }
        for limit, load, valid in rows
    ]
    spike = {"limit": "no limit", "valid": False, "reasons": [why], "samples": ""}
    return line("overload", capacity=100.0, slo_ns=50 * MS, clients=8, rows=loads, spikes=[spike], skipped=[])


def keep(
    folder: Path, name: str, *, requests: int = 800, every_ns: int = MS, takes_ns: int = 20 * MS, refused: int = 0
) -> str:
    """Write samples of an even load into a report folder; return their path within it. The last `refused` are refused."""
    due = np.arange(requests, dtype=np.int64) * every_ns
    outcome = np.zeros(requests, dtype=np.uint8)
    outcome[requests - refused :] = 1
    (folder / "samples").mkdir(parents=True, exist_ok=True)
    Samples(due, due + 1000, due + takes_ns, outcome, np.zeros(requests, dtype=np.int32)).save(
        folder / "samples" / f"{name}.npz"
    )
    return f"samples/{name}.npz"
