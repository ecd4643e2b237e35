"""Report folders as runs: what a bench, a search or a check measured, under which conditions, on which host."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from batchproof.reports.history.run import Commit, Run, hosted, seconds_of
from batchproof.reports.measured import measured


class NoFigures(Exception):
    """A folder whose report has nothing to keep; the message says why."""


def run_of(folder: Path, commit: Commit | None = None) -> Run:
    """Return the run in a folder. ReportError if it cannot be read, NoFigures if it has no figures."""
    found = measured(folder)
    header, checks = found.header, "rules" in found.header
    if not found.figures:
        why = "a check has figures if it judges rules about speed (PERF-*)" if checks else "nothing in it was measured"
        raise NoFigures(f"{found.where}: there are no figures in it: {why}")
    host, software = hosted(found.host)
    about = {"command": header.get("command", ""), **software}
    if found.truncated:
        about["truncated"] = "the report lacks its footer"
    elif found.missing:
        about["missing"] = f"it ended early, without {', '.join(found.missing)}"
    return Run(
        when=seconds_of(header["started"]),
        kind="check" if checks else "bench",
        origin=f"batchproof {header['batchproof']}",
        target=header["target"]["name"],
        version=header["target"]["version"],
        form="check" if checks else _bench_form(header),
        host=host,
        figures=found.figures,
        commit=commit,
        about=about,
    )


def _bench_form(header: Mapping[str, Any]) -> str:
    """Return what two benches must share to be compared: the form, the objective and the price. The seed may differ."""
    words = header["command"].split()
    verb = words[1] if len(words) > 1 else "bench"
    parts = [verb, "quick" if header["quick"] else "full"]
    if header["slo_ns"]:
        parts.append(f"slo={header['slo_ns'] / 1e6:g}ms")
    if price := header["price"]:
        parts.append(f"price={price['per_hour']:g}{price['currency']}")
    return " ".join(parts)
