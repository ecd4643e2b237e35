"""The measurements of engines as tables: one function for each."""

from __future__ import annotations

from batchproof.bench.each_work import Works
from batchproof.bench.engines.calibration import Saturation
from batchproof.bench.engines.clients import Clients
from batchproof.bench.engines.latency import Latency, Loaded, quantile, times
from batchproof.bench.engines.prefill import Prefill
from batchproof.bench.engines.surge import Surge
from batchproof.bench.tables.table import Cell, Table, in_short_ms, percent

TIMES = {"ttft": "TTFT", "itl": "ITL", "e2e": "end to end"}
LATENCY = ("load", "requests/s", "valid", "tokens/s", "goodput /s", "objective kept %")


def saturation(found: Works[Saturation]) -> tuple[Table, ...]:
    """Return a row for each work."""
    heads = ("work", "valid", "tokens/s", "requests/s", "limit tokens/s", "of the limit %", "overhead ms", "one client /s")
    rows = [
        [
            name,
            one.valid,
            round(one.run.tokens_per_s, 1),
            round(one.run.requests_per_s, 2),
            None if one.limit is None else round(one.limit, 1),
            percent(one.of_limit),
            in_short_ms(one.overhead_ns),
            round(one.lone.tokens_per_s, 1),
        ]
        for name, one in found.works.items()
    ]
    config = next(iter(found.works.values())).config
    note = f"At most {config.max_num_seqs} rows and {config.max_num_batched_tokens} tokens per iteration."
    note += " No scheduler can exceed the limit on this device."
    note += " The overhead is the time of an iteration with all rows beyond the device's own."
    return (Table("Saturation", heads, rows, note),)


def latency(found: Works[Latency]) -> tuple[Table, ...]:
    """Return two tables for each work: the results of each load, and percentiles of each time alongside the simulation."""
    return tuple(table for name, one in found.works.items() for table in (_loads(name, one), _times(name, one)))


def prefill(found: Works[Prefill]) -> tuple[Table, ...]:
    """Return a row for each side."""
    heads = ("work", "short requests", "valid", "ITL p50 ms", "ITL p90 ms", "ITL p99 ms", "simulated p99 ms")
    rows: list[list[Cell]] = []
    for name, one in found.works.items():
        for side, seen in one.sides.items():
            ms = [in_short_ms(quantile(seen.gap_ns, part)) for part in (50.0, 90.0, 99.0)]
            rows.append([name, side, seen.run.valid, *ms, in_short_ms(seen.simulated_p99_ns)])
    first = next(iter(found.works.values()))
    return (Table(f"Beside prompts of {first.tokens} tokens, with a budget of {first.budget}", heads, rows),)


def surge(found: Works[Surge]) -> tuple[Table, ...]:
    """Return a row for each load, and one for the surge."""
    heads = ("work", "load", "requests/s", "valid", "goodput /s", "tokens/s", "TTFT p50 ms")
    rows: list[list[Cell]] = []
    back: list[list[Cell]] = []
    for name, one in found.works.items():
        for row in one.rows:
            ttft = in_short_ms(quantile(row.run.samples.ttft_ns, 50))
            known = [round(row.goodput, 2), round(row.run.tokens_per_s, 1), ttft]
            rows.append([name, row.load, round(row.rate, 2), row.run.valid, *known])
        seen = one.recovery
        times_ns = (seen.before_ns, seen.during_ns, seen.recovery_ns, seen.expected_ns)
        back.append([name, seen.run.valid, *map(in_short_ms, times_ns)])
    after = ("work", "valid", "TTFT p50 before ms", "during ms", "recovery ms", "backlog served ms")
    return (Table("Offered load against saturation", heads, rows), Table("After a surge", after, back))


def clients(found: Works[Clients]) -> tuple[Table, ...]:
    """Return a row for each client."""
    heads = ("work", "client", "requests/s", "valid", "tokens in time %", "objective kept %", "TTFT p50 ms")
    rows: list[list[Cell]] = []
    for name, one in found.works.items():
        for who, seen in one.shares.items():
            known = [percent(seen.served), percent(seen.within), in_short_ms(seen.ttft_p50_ns)]
            rows.append([name, who, round(seen.rate, 2), one.valid, *known])
    return (Table("Two clients", heads, rows),)


def _loads(name: str, one: Latency) -> Table:
    rows: list[list[Cell]] = []
    for row in one.rows:
        known = [row.run.tokens_per_s, row.run.goodput(row.objective)]
        rows.append([row.load, round(row.rate, 2), row.run.valid, *(round(one, 2) for one in known), percent(row.within)])
    return Table(f"{name}: shares of the saturation", LATENCY, rows, f"The objective: {one.objective}.")


def _times(name: str, one: Latency) -> Table:
    heads = ("load", "time", "p50 ms", "p90 ms", "p99 ms", "mean / simulated")
    rows = [row for load in one.rows for row in _of_load(load)]
    note = "Simulated: the reference scheduler on the same arrivals; its iterations take as long as those of the run."
    slow = [f"{row.oracle.slowness:.2f} at {row.load:g}" for row in one.rows if row.oracle and row.oracle.slowness]
    note += f" The mean iteration over what the saturated loops let expect: {', '.join(slow)}." if slow else ""
    return Table(f"{name}: times", heads, rows, note)


def _of_load(row: Loaded) -> list[list[Cell]]:
    ratios = row.oracle.ratios if row.oracle else {}
    found: list[list[Cell]] = []
    for key, percentiles in times(row.run.samples).items():
        ratio = round(ratios[key], 3) if key in ratios else None
        found.append([row.load, TIMES[key], *map(in_short_ms, percentiles.values()), ratio])
    return found
