"""Runs made by hand, for the tests of what compares, keeps and draws figures."""

import json

from batchproof.reports import measured
from batchproof.reports.figure_names import figure

TARGET = {"name": "x", "version": "1", "reached": "x", "contact": "", "sight": "wire", "claims": {}}
HOST = {"python": "3.11.7", "kernel": "6.8", "machine": "x86_64", "cpus": 2, "awake": False, "cpu": "A", "cores": 2,
        "memory": "16 GiB", "numpy": "1.26.4"}
HEAD = {"type": "header", "format": 1, "batchproof": "2026.11.0", "started": "2026-11-21T13:00:00Z", "host": HOST,
        "target": TARGET, "measurements": ["a", "b"], "works": ["accelerator"], "quick": True, "seed": 1, "slo_ns": 0,
        "price": None, "command": "batchproof bench --target x"}
END = {"type": "footer", "ended": "2026-11-21T13:01:00Z", "exit_status": 0, "complete": True, "reason": "",
       "names": ["a", "b"]}


def line(name, *figures, **more):
    """Return the line of a measurement; a figure may be given as JSON data."""
    facts = [one if isinstance(one, dict) else one.facts() for one in figures]
    about = {"type": "measurement", "measurement": name, "question": "why?", "word": "measured", "seconds": 1.0}
    about |= {"valid": True, "reasons": [], "verdict": "", "headline": "fine", "tables": [], "figures": facts}
    return about | more


def bench_of(folder, *lines):
    """Write a bench of these lines, and return its folder."""
    folder.mkdir(exist_ok=True, parents=True)
    text = "".join(json.dumps(one) + "\n" for one in lines)
    (folder / "bench.jsonl").write_text(text, encoding="utf-8")
    return folder


def yardstick(compute_ns=1e6, handover_ns=1e4, spread=1.01, when="before"):
    """Return the line of a yardstick whose bounds are so many times away from its values."""
    values = ("host.compute_ns", compute_ns), ("host.handover_ns", handover_ns)
    found = [figure(name, ns, low=ns / spread, high=ns * spread, n=50, when=when) for name, ns in values]
    return {"type": "yardstick", "when": when, "figures": [one.facts() for one in found]}


def best(per_s, spread=1.01, *, valid=True):
    """Return the rate of the best configuration of a sweep; spread: how far its bounds are; 0: it has none."""
    bounds = {"low": per_s / spread, "high": per_s * spread} if spread else {}
    return figure("sweep.best_rows_per_s", per_s, **bounds, n=8, valid=valid, work="accelerator")


def p99(ns, spread=1.01, load=0.6):
    """Return a p99 under an open loop."""
    bounds = {"low": ns / spread, "high": ns * spread} if spread else {}
    return figure("open.p99_ns", ns, **bounds, n=500, work="accelerator", load=load, size=16, delay="0ms")


def run_of(folder, *figures, host=HOST, stick=None, **header):
    """Write a complete bench of these figures, and read it."""
    lines = [HEAD | {"host": host} | header, stick or yardstick(), line("a", *figures), line("b"), END]
    return measured(bench_of(folder, *lines))
