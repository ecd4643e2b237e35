"""`batchproof report FOLDER --plots DIR`: the charts of a bench as files, and its page, from what it wrote."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from batchproof.bench.pictures import cannot_draw, left_by
from batchproof.exit_status import ExitStatus, refuse
from batchproof.reports import ReportError
from batchproof.reports.formats.bench import FILE
from batchproof.reports.formats.jsonl import ReportFolderError


def write_plots(folders: Sequence[Path], plots: Path) -> ExitStatus:
    """Write the charts of the bench or tune in each folder; those of several folders into a folder each."""
    benches = [folder for folder in folders if (folder / FILE).is_file()]
    if not benches:
        return refuse(f"no {FILE} in {', '.join(map(str, folders))}: --plots draws the folder of a bench or of tune")
    if why := cannot_draw(plots):
        return refuse(why)
    names = [folder.resolve().name for folder in benches]
    if len(set(names)) != len(names):
        return refuse(f"two of these folders are called {max(names, key=names.count)}: draw them one by one")
    try:
        for folder, name in zip(benches, names, strict=True):
            for told in left_by(folder, plots / name if len(benches) > 1 else plots):
                print(told)
    except (ReportError, ReportFolderError) as error:
        return refuse(error, ExitStatus.MISUSE if isinstance(error, ReportError) else ExitStatus.UNAVAILABLE)
    except OSError as error:
        return refuse(f"{error.filename} cannot be written: {error.strerror}", ExitStatus.UNAVAILABLE)
    return ExitStatus.FINE
