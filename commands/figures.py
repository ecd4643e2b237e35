"""`batchproof figures`: the registry as the page docs/figures.md, or the figures of a folder."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path

from batchproof.exit_status import ExitStatus, refuse
from batchproof.reports import Figure, ReportError, measured
from batchproof.reports.figure_names import Declared, declared
from batchproof.reports.wording import count, line, table

HEAD = """\
# Figures

`batchproof figures` prints this page.
A figure is a number that Batchproof has measured, with an id that stays: comparison, history and pages work on figures.

- In the brackets of an id are the conditions that tell its siblings apart: `open.p99_ns[work=accelerator,load=0.6,size=16,delay=2ms]`. `work` is the model under load, `load` a share of the capacity, `size` the max_batch_size, `rows` the rows of a batch, and `delay` the queue delay. Of an engine, `load` is a share of its saturation, and `client` one of two.
- `low` and `high` bound the true value, each with 99 % confidence; `null` means that there is no bound. They describe one run. How much a figure varies from run to run, no single run can show: see [tracking.md](tracking.md#one-run-knows-little).
- `n` is the number of independent observations. `valid: false` says that it is not a result: the run was INVALID, or the batcher gave wrong answers meanwhile. Such a figure is never compared.
- A ratio has the unit `1`.

A name that was published keeps its unit, its direction, its conditions and its meaning.
They are in the lines of `bench.jsonl` and `report.jsonl` under `figures`; in Python, `batchproof.reports.figures_of(folder)` returns them, and `batchproof figures FOLDER` prints them.
Names in bold decide in a [comparison](tracking.md#compare).
"""  # noqa: E501 - a paragraph of Markdown is one line


def print_figures(folders: Sequence[Path], *, as_json: bool) -> ExitStatus:
    """Print docs/figures.md, or the figures of these folders; MISUSE if one of them cannot be read."""
    if not folders:
        print(json.dumps([vars(one) for one in declared().values()], indent=2) if as_json else markdown())
        return ExitStatus.FINE
    try:
        found = [(str(folder), measured(folder)) for folder in folders]
    except ReportError as error:
        return refuse(line(error))
    if as_json:
        print(json.dumps({folder: [figure.facts() for figure in one.figures] for folder, one in found}, indent=2))
        return ExitStatus.FINE
    for folder, one in found:
        cut = " (truncated: the run never got to its end)" if one.truncated else ""
        print(f"{line(folder)}: {count(len(one.figures), 'figure')}{cut}")
        for figure in one.figures:
            print(f"  {in_words(figure)}")
    return ExitStatus.FINE


def in_words(one: Figure) -> str:
    """Return a figure in one line: its value with its interval."""
    bounds = "" if one.low is None and one.high is None else f" ({_bound(one.low)} to {_bound(one.high)})"
    unit = "" if one.unit == "1" else f" {one.unit}"
    return f"{one.id} = {one.value:.6g}{unit}{bounds}, n={one.n}{'' if one.valid else ', not a result'}"


def markdown() -> str:
    """Return the page: a table for each measurement."""
    groups = groupby(declared().values(), key=lambda one: one.by)
    return "\n\n".join([HEAD.rstrip(), *(part for by, names in groups for part in _section(by, list(names)))])


def _section(by: str, names: Sequence[Declared]) -> Iterator[str]:
    yield f"## {by[0].upper()}{by[1:]}"
    rows = [
        (f"**`{one.name}`**" if one.decides else f"`{one.name}`", ", ".join(one.conditions), one.unit, one.better, one.says)
        for one in names
    ]
    yield table(("name", "conditions", "unit", "better", "what it is"), rows)


def _bound(value: float | None) -> str:
    return "?" if value is None else f"{value:.6g}"
