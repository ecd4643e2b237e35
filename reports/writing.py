"""Writes `report.jsonl` line by line while the run goes on, and a replay bundle for each rule that failed."""

from __future__ import annotations

import json
import os
import platform
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from batchproof import __version__

FORMAT = 1


class ReportFolderError(Exception):
    """The report cannot be written there."""


@contextmanager
def prepared(folder: Path, what: str) -> Iterator[None]:
    """What the body cannot do to the folder is a ReportFolderError. what: is to be written there, `report` or `bench`."""
    try:
        yield
    except OSError as error:
        raise ReportFolderError(f"cannot write a {what} into {folder}: {error.strerror}; choose another --report") from None


class Lines:
    """A file of JSON lines: a header, whatever is written, a footer. Without a footer it is truncated.

    plain: returns what JSON can hold for a value that it cannot. awake: the host's processors are kept awake.
    """

    def __init__(self, path: Path, version: int, plain: Callable[[Any], Any] = str, *, awake: bool = False) -> None:
        self._file = path.open("w", encoding="utf-8", buffering=1)
        self._version, self._plain, self._awake = version, plain, awake

    def header(self, **fields: Any) -> None:
        """Write the first line."""
        host = _host(self._awake)
        self.write(type="header", format=self._version, batchproof=__version__, started=_now(), host=host, **fields)

    def write(self, **fields: Any) -> None:
        """Write one line."""
        self._file.write(json.dumps(fields, default=self._plain) + "\n")

    def footer(self, exit_status: int, *, complete: bool, reason: str, **fields: Any) -> None:
        """Write the last line."""
        self.write(type="footer", ended=_now(), exit_status=exit_status, complete=complete, reason=reason, **fields)
        self.close()

    def close(self) -> None:
        """End, without a footer if none was written. Safe to call twice."""
        self._file.close()


class Recorder:
    """Owns the report folder of one run."""

    def __init__(self, folder: Path, *, awake: bool = False) -> None:
        self.folder = folder
        self.counts: Counter[str] = Counter()
        with prepared(folder, "report"):
            (folder / "bundles").mkdir(parents=True, exist_ok=True)
            for old in (folder / "bundles").glob("*.zip"):
                old.unlink()
            self._lines = Lines(folder / "report.jsonl", FORMAT, awake=awake)

    def header(self, **fields: Any) -> None:
        """Write the first line."""
        self._lines.header(**fields)

    def attempt(self, **fields: Any) -> None:
        """Write one attempt at a rule."""
        self._lines.write(type="attempt", **fields)

    def result(self, **fields: Any) -> None:
        """Write how a rule ended."""
        self.counts[fields["verdict"]] += 1
        self._lines.write(type="result", **fields)

    def footer(self, exit_status: int, complete: bool, reason: str) -> None:
        """Write the last line: without it the report is truncated."""
        self._lines.footer(exit_status, complete=complete, reason=reason, counts=dict(self.counts))

    def bundle(self, rule: str, seed: int, content: dict[str, Any], failure: str) -> str:
        """Write what `check --replay` needs to judge again; return its path within the report folder."""
        name = f"bundles/{rule.lower()}-{seed}.zip"
        with zipfile.ZipFile(self.folder / name, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr(
                "bundle.json", json.dumps({"format": FORMAT, "batchproof": __version__, "rule": rule, **content})
            )
            archive.writestr("failure.txt", failure)
        return name

    def keep(self, name: str, text: str) -> None:
        """Write a text beside the report; nothing, and no file of an earlier run, if it is empty."""
        (self.folder / name).unlink(missing_ok=True)
        if text:
            (self.folder / name).write_text(text, encoding="utf-8")


def _now() -> str:
    """Return the time in UTC, ISO 8601."""
    return datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


def _host(awake: bool) -> dict[str, Any]:
    """Return what a reader needs to know of the machine; no name of it, no user."""
    return {
        "python": platform.python_version(),
        "kernel": platform.release(),
        "machine": platform.machine(),
        "cpus": os.cpu_count(),
        "awake": awake,
    }
