"""MLPerf LoadGen: `mlperf_log_summary.txt` (written by mlcommons-loadgen 6.0.17).

https://github.com/mlcommons/inference/blob/master/loadgen/README.md. A result that LoadGen calls INVALID is kept as INVALID.
"""

from __future__ import annotations

import re

from batchproof.reports.history.imports.source import Figures, Found, NotImported, Source

NAME = "MLPerf LoadGen"
TITLE = "MLPerf Results Summary"
RATES = ("Completed samples per second", "Samples per second", "QPS w/o loadgen overhead", "Scheduled samples per second")


def fits(source: Source) -> bool:
    """Return whether a file is of this kind."""
    return TITLE in source.text[:1000]


def read(source: Source) -> list[Found]:
    """Return the run in a file; NotImported if it ends early, or is about accuracy."""
    said = {key.strip(): value.strip() for line in source.text.splitlines() for key, _, value in [line.partition(":")]}
    if said.get("Mode", "PerformanceOnly") != "PerformanceOnly":
        raise NotImported(f"{source.path}: its mode is {said['Mode']}, and only PerformanceOnly measures speed")
    if "Result is" not in said or "Scenario" not in said:
        raise NotImported(f"{source.path}: it ends before LoadGen's verdict")
    scenario, valid = said["Scenario"], said["Result is"] == "VALID"
    where: dict[str, object] = {"scenario": scenario}
    if scenario == "Server":  # its latencies are those at this load
        where["target_qps"] = said.get("target_qps", "")
    figures = Figures("loadgen")
    rate = next((said[name] for name in RATES if name in said), None)
    figures.add("samples_per_s", rate, "samples/s", "higher", where, valid=valid)
    figures.add("mean_ns", said.get("Mean latency (ns)"), "ns", "lower", where, valid=valid)
    for key, value in said.items():
        if match := re.fullmatch(r"(\d+\.\d+) percentile latency \(ns\)", key):
            name = f"p{float(match[1]):g}_ns".replace(".", "_")
            figures.add(name, value, "ns", "lower", where, valid=valid)
    return [Found(NAME, NAME, figures.all(), target=said.get("SUT name", ""))]
