"""`batchproof report FOLDER --plots DIR`: the charts of a bench as files, and its page, from what it wrote."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from batchproof.bench.pictures import cannot_draw, left_by, left_by_ab
from batchproof.exit_status import ExitStatus, refuse
from batchproof.reports import ReportError
from batchproof.reports.formats.ab import FILE as AB
from batchproof.reports.formats.bench import FILE
from batchproof.reports.formats.jsonl import ReportFolderError


def write_plots(folders: Sequence[Path], plots: Path) -> ExitStatus:
    """Write the charts of what was measured in each folder; those of several folders into a folder each."""
    benches = [folder for folder in folders if (folder / FILE).is_file() or (folder / AB).is_file()]
    if not benches:
        where = ", ".join(map(str, folders))
        return refuse(f"no {FILE} or {AB} in {where}: --plots draws the folder of bench, tune or ab")
    if why := cannot_draw(plots):
        return refuse(why)
    names = [folder.resolve().name for folder in benches]
    if len(set(names)) != len(names):
        return refuse(f"two of these folders are called {max(names, key=names.count)}: draw them one by one")
    try:
        for folder, name in zip(benches, names, strict=True):
            leaves = left_by if (folder / FILE).is_file() else left_by_ab
            for told in leaves(folder, plots / name if len(benches) > 1 else plots):
                print(told)
    except (ReportError, ReportFolderError) as error:
        return refuse(error, ExitStatus.MISUSE if isinstance(error, ReportError) else ExitStatus.UNAVAILABLE)
    except OSError as error:
        return refuse(f"{error.filename} cannot be written: {error.strerror}", ExitStatus.UNAVAILABLE)
    return ExitStatus.FINE
