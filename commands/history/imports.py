"""`batchproof history import`: runs that other tools measured, and exports of other histories."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from batchproof.commands.history.add import keep
from batchproof.commands.history.options import Measured, date, ends, with_commit
from batchproof.exit_status import ExitStatus, refuse
from batchproof.host.fingerprint import fingerprint
from batchproof.reports.formats.jsonl import host_facts
from batchproof.reports.history import Commit, Run
from batchproof.reports.history.imports import exported, found_in
from batchproof.reports.history.imports.source import Found, Source
from batchproof.reports.history.run import hosted


@dataclass(frozen=True)
class Unsaid:
    """What counts where a file does not say it. here: on this host. when: a date; empty: when the file was written."""

    target: str = ""
    version: str = ""
    when: str = ""
    here: bool = False


@ends
def import_all(files: Sequence[Path], store: str, unsaid: Unsaid, measured: Measured) -> ExitStatus:
    """Add the runs in each file. All of them are read before the first is added."""
    runs: list[Run] = []
    cut: list[str] = []
    when = date("--when", unsaid.when)
    commit: Commit | None = None
    for number, source in enumerate(map(Source.of, files)):
        if exported.fits(source):
            more, truncated = exported.read(source)
            runs += more
            if truncated:
                cut.append(f"{source.path}: the export is truncated: {len(more)} whole runs were added; export it again")
            continue
        commit = commit if number and commit else measured.commit()
        for one in found_in(source):
            run = _run(one, source, unsaid, when)
            runs.append(with_commit(run, commit, named=bool(measured.name)))
    if runs:
        keep(runs, store)
    for text in cut:
        refuse(text)
    return ExitStatus.MISUSE if cut else ExitStatus.FINE


def _run(found: Found, source: Source, unsaid: Unsaid, when: int | None) -> Run:
    here = {**host_facts(), **fingerprint()} if unsaid.here and not found.host else {}
    host, software = hosted(found.host or here)
    known = found.when if found.when is not None else when
    return Run(
        when=source.modified if known is None else known,
        kind="imported",
        origin=found.origin,
        target=found.target or unsaid.target,
        version=found.version or unsaid.version,
        form=found.form,
        host=host,
        figures=found.figures,
        commit=found.commit,
        about={"file": source.path.name, **software},
    )
