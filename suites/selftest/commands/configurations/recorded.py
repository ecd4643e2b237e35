"""Configurations of our own making that a Triton was seen to load or to refuse, and its words."""

from __future__ import annotations

import json
from dataclasses import dataclass
from importlib.resources import files

from batchproof.commands.configurations.mutation import Span, applied, as_bytes

FOLDER = files("batchproof.suites.selftest.commands.configurations")


@dataclass(frozen=True)
class Recorded:
    """A base of this folder with some spans replaced; accepted, refused or ended, and the words of the server.

    explained: why the linter says something else, if it does.
    """

    base: str
    spans: tuple[Span, ...]
    server: str
    words: str
    explained: str = ""

    @property
    def config(self) -> bytes:
        """The config.pbtxt."""
        return as_bytes(applied((FOLDER / self.base).read_text(encoding="utf-8"), self.spans))

    @property
    def model(self) -> str:
        """The folder of the model."""
        return self.base.removesuffix(".pbtxt")

    def __str__(self) -> str:
        """Return what was changed, in one line."""
        changes = "; ".join(f"{span.put!r} for {span.cut} characters at {span.at}" for span in self.spans)
        return f"{self.base}: {changes}"


def recorded() -> list[Recorded]:
    """Return all records."""
    lines = (FOLDER / "recorded.jsonl").read_text(encoding="utf-8").splitlines()
    return [Recorded(**{**data, "spans": tuple(Span(*span) for span in data["spans"])}) for data in map(json.loads, lines)]
