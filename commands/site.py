"""`batchproof site`: a static site of many reports."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from markupsafe import Markup

from batchproof.commands.output import whole
from batchproof.commands.report import found_in
from batchproof.exit_status import ExitStatus, refuse
from batchproof.fixtures.judging.catalogue import rules, stamp
from batchproof.reports import Report, ReportError, read
from batchproof.reports.site.entries import Entry, entries
from batchproof.reports.site.pages import INDEX, files
from batchproof.reports.site.texts import to_html
from batchproof.reports.stacks import MixedError
from batchproof.reports.wording import count, line

TEXTS = Path(__file__).parents[1] / "docs" / "stacks"  # of the checkout; an installation has none
LARGEST = 1_000_000  # bytes of a text


class NotASiteError(Exception):
    """The folder holds something that is not ours to overwrite; the message says what to do."""


@dataclass(frozen=True)
class SiteOptions:
    """What the command line asks for. texts: a folder with NAME.md for each stack. texts_at: the address of that folder."""

    folders: Sequence[Path]
    out: Path
    title: str = "What these batchers keep"
    texts: Path | None = None
    texts_at: str = ""


def build(options: SiteOptions) -> ExitStatus:
    """Write the site. MISUSE if a report cannot be read, if catalogues are mixed, or if the folder is not a site's."""
    try:
        folders = {folder.resolve(): folder for folder in found_in(options.folders)}
        found = entries([read(folder) for folder in folders.values()])
        _prepare(options.out)
    except (ReportError, MixedError, NotASiteError) as error:
        return refuse(line(error))
    except OSError as error:
        return refuse(_lost(options.out, error), ExitStatus.UNAVAILABLE)
    made = files(found, title=options.title, rules=_catalogue(found[0].report), text_of=_texts(options))
    pages = 0
    try:
        for path, text in made:
            pages += path.endswith(".html")
            place = options.out / path
            place.parent.mkdir(parents=True, exist_ok=True)
            with whole(place) as file:
                file.write(text)
    except OSError as error:
        return refuse(_lost(options.out, error), ExitStatus.UNAVAILABLE)
    print(f"{count(len(found), 'report')}, {count(pages, 'page')}: {options.out / 'index.html'}")
    return ExitStatus.FINE


def _prepare(out: Path) -> None:
    """Make the folder, or remove the files of the site that is in it, and mark it as ours."""
    out.mkdir(parents=True, exist_ok=True)
    marker = out / INDEX
    if not marker.is_file() and any(out.iterdir()):
        raise NotASiteError(f"{out} contains something other than a site of reports: choose an empty folder for --out")
    for path in _written(marker):
        (out / path).unlink(missing_ok=True)
    with whole(marker) as file:
        file.write(json.dumps({"format": 1, "files": [], "unfinished": True}) + "\n")


def _written(marker: Path) -> Iterator[str]:
    """Yield the files that a site's index lists, as far as they are in its folder."""
    if not marker.is_file():
        return
    try:
        listed = json.loads(marker.read_text(encoding="utf-8"))["files"]
        paths = [PurePosixPath(one) for one in listed]
    except (ValueError, KeyError, TypeError, RecursionError):
        raise NotASiteError(f"{marker} is not the index of a site of reports: choose another folder for --out") from None
    yield from (str(one) for one in paths if not one.is_absolute() and ".." not in one.parts)


def _catalogue(report: Report) -> Mapping[str, Mapping[str, Any]]:
    """Return what our catalogue says of each rule, if it is the one that the reports were judged by."""
    if report.header.get("catalogue") != stamp():
        return {}
    return {
        one.id: {"intent": one.intent, "source": one.source, "basis": one.evidence, "level": one.level, "title": one.title}
        for one in rules().values()
    }


def _texts(options: SiteOptions) -> Callable[[Entry], Markup]:
    folder = options.texts or TEXTS

    def text_of(entry: Entry) -> Markup:
        """Return the page of the stack; of `batched-aio`, that of `batched`."""
        name = str(entry.target["name"])
        for one in (name, name.rpartition("-")[0]):
            path = folder / f"{one}.md"
            if one and PurePosixPath(one).name == one and path.is_file() and path.stat().st_size <= LARGEST:
                at = f"{options.texts_at.rstrip('/')}/{path.name}" if options.texts_at else ""
                return to_html(path.read_text(encoding="utf-8", errors="replace"), at)
        return Markup("")

    return text_of


def _lost(out: Path, error: OSError) -> str:
    return f"the site cannot be written to {out}: {error.strerror}; choose another --out"
