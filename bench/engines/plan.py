"""The measurements of engines with continuous batching, in the order in which they run."""

from __future__ import annotations

from batchproof.bench.engines import clients, figures, latency, prefill, saturation, surge, tables
from batchproof.bench.plan import Measurement

MEASUREMENTS = (
    Measurement(
        "saturation",
        "the highest throughput, against what a device of this speed allows",
        12,
        20,
        saturation.measure,
        tables.saturation,
        figures=figures.saturation,
    ),
    Measurement(
        "latency",
        "TTFT, time between tokens and end to end at 0.3 to 0.9 of saturation, alongside the simulated reference",
        20,
        60,
        latency.measure,
        tables.latency,
        figures=figures.latency,
    ),
    Measurement(
        "prefill",
        "how long prompts delay the texts that are being generated",
        18,
        45,
        prefill.measure,
        tables.prefill,
        figures=figures.prefill,
    ),
    Measurement(
        "surge",
        "goodput at 0.5 to 2 times the saturation, and recovery",
        15,
        60,
        surge.measure,
        tables.surge,
        figures=figures.surge,
    ),
    Measurement(
        "clients",
        "what a light client gets alongside one that asks for too much",
        10,
        30,
        clients.measure,
        tables.clients,
        figures=figures.clients,
    ),
)
