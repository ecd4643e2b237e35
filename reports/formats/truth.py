"""A table of truth (docs/stacks/truth/NAME.toml): what independent evidence says about a stack, rule by rule."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from batchproof.host.plain_files import read_plain_text
from batchproof.reports.formats.schemas import flaw
from batchproof.reports.wording import line

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

NAME = "truth"
UNCLAIMED = "unclaimed"


class TruthError(Exception):
    """This is not a table of truth; the message names the file, the entry and the reason."""


@dataclass(frozen=True)
class Truth:
    """One entry: whether a stack keeps a rule, and how that is known. The fields are those of the schema."""

    rule: str
    holds: bool | str
    versions: str
    evidence: tuple[str, ...]
    says: str
    occurs: str = "always"

    def contradicts(self, verdict: str) -> bool:
        """Return whether a verdict cannot be right if this entry is. What was not judged contradicts nothing."""
        if verdict == "PASS":
            return self.holds is False and self.occurs == "always"
        return verdict in ("FAIL", "KNOWN") and self.holds is not False

    def agrees(self, verdict: str) -> bool:
        """Return whether a verdict says the same as this entry. A race that does not occur agrees."""
        if self.holds == UNCLAIMED:
            return not self.contradicts(verdict)
        return verdict in ("PASS", "FAIL", "KNOWN") and not self.contradicts(verdict)


def read(path: Path) -> tuple[Truth, ...]:
    """Read a table; TruthError says what is wrong with it."""
    table = _table(path)
    if wrong := flaw(NAME, "table", table):
        raise TruthError(f"{path}: {wrong}")
    return tuple(_entry(f"{path}: entry {number}", entry) for number, entry in enumerate(table["truth"], 1))


def _entry(where: str, entry: Mapping[str, Any]) -> Truth:
    if isinstance(entry.get("evidence"), str):  # a single piece of evidence may stand without brackets
        entry = {**entry, "evidence": [entry["evidence"]]}
    if wrong := flaw(NAME, "entry", entry):
        raise TruthError(f"{where} ({line(entry.get('rule', 'no rule'))}): {wrong}")
    return Truth(**{**entry, "evidence": tuple(entry["evidence"])})


def _table(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(read_plain_text(path))
    except OSError as error:
        raise TruthError(f"cannot read {path}: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise TruthError(f"{path} is not TOML: {error}") from None
