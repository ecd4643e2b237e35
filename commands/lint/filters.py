"""What `lint` leaves out: by rule, by a comment in the file, and by a baseline of what was known before."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from pathlib import Path

from batchproof.commands.output import whole
from batchproof.fixtures.judging.catalogue import rules, select
from batchproof.fixtures.judging.checkers.config import CHECKS, DIRECTORY, PARSE, TEMPLATE, Problem
from batchproof.fixtures.judging.checkers.config import MANY as COUNTED
from batchproof.host.plain_files import read_plain_text

PROFILE = "CONFIG"
FORMAT = 1
FIRST_YEAR, MONTHS = 23, 12
TWICE = 31  # months from the start of 2023 to 25.07, which is 2.59 like 25.06
MANY = 20  # findings of one rule in one file, after which only their number is said
LONGEST = 300  # characters of a message
FEW, LONGEST_ID = 5, 60
_LIKE_AN_ID = re.compile(r"[*?]|^[A-Z]{2,}[-_]|^[A-Za-z]+-[A-Za-z]+-\d")
_REMARK = re.compile(r"batchproof:\s*ignore\s+([\w*?,\s-]+)")


class FilterError(ValueError):
    """An option or a baseline that cannot be understood."""


@dataclass(frozen=True)
class Finding:
    """One problem of one file."""

    path: str
    problem: Problem

    @property
    def key(self) -> tuple[str, str, str]:
        """What is the same tomorrow, even if lines have moved."""
        return self.path, self.problem.rule, self.problem.message


def chosen_rules(wanted: str, ignored: str) -> frozenset[str]:
    """Return the ids of the rules to report. Without `wanted` these are all but the MAY rules; SelectionError for a typo."""
    linted = {PARSE, TEMPLATE, DIRECTORY, *CHECKS}
    for option, value in (("--rules", wanted), ("--ignore", ignored)):
        if value and not _patterns(value):
            raise FilterError(f"{option} {value!r} names no rule: `batchproof rules 'CFG-*'` lists them")
    if wanted:
        chosen = {rule.id for rule in select(_patterns(wanted), PROFILE)} & linted
    else:
        chosen = {id_ for id_ in linted if rules()[id_].level != "MAY"}
    return frozenset(chosen - ({rule.id for rule in select(_patterns(ignored), PROFILE)} if ignored else set()))


def kept(path: str, problems: Iterable[Problem], chosen: frozenset[str], remarks: Sequence[str]) -> list[Finding]:
    """Return what is left after `# batchproof: ignore ID` in the file, in the order of its lines, shortened and bounded."""
    patterns = _ignored(remarks)
    found: list[Finding] = []
    counts: Counter[str] = Counter()
    for problem in sorted(problems, key=lambda one: (one.line, one.column)):
        if problem.rule not in chosen or any(fnmatchcase(problem.rule, pattern) for pattern in patterns):
            continue
        counts[problem.rule] += 1
        if counts[problem.rule] <= MANY:
            found.append(Finding(path, _shortened(problem)))
    for rule, count in counts.items():
        if count > MANY:
            least = "at least " * (count >= COUNTED)
            found.append(Finding(path, Problem(rule, f"and {least}{count - MANY} more of this rule")))
    return found


def strangers(remarks: Sequence[str]) -> list[str]:
    """Return what `# batchproof: ignore` names in a file and no rule has, the first few. A reason may follow the ids."""
    known = [rule.id for rule in rules().values() if rule.profile == PROFILE]
    found = [one for one in _ignored(remarks) if not any(fnmatchcase(id_, one) for id_ in known)]
    return [one if len(one) <= LONGEST_ID else f"{one[:LONGEST_ID]}..." for one in found[:FEW]]


def _ignored(remarks: Sequence[str]) -> list[str]:
    """Return the ids and patterns that the comments of a file name, each once: the first word of a list, and any like it."""
    found: dict[str, None] = {}
    for remark in remarks:
        for match in _REMARK.finditer(remark):
            first, *others = _patterns(match[1]) or [""]
            found |= dict.fromkeys([first, *filter(_LIKE_AN_ID.search, others)])
    return [one for one in found if one]


def release_of(version: str) -> tuple[int, int] | None:
    """Return (2, 51) for 2.51.0, or for 24.10, the name of its container; None for an empty text; FilterError for others."""
    if not version:
        return None
    found = re.fullmatch(r"(\d{1,2})\.(\d{1,2})(?:\.\d+)?", version)
    if found and found[1] == "2":
        return 2, int(found[2])
    if found and int(found[1]) >= FIRST_YEAR and 1 <= int(found[2]) <= MONTHS:
        months = (int(found[1]) - FIRST_YEAR) * MONTHS + int(found[2])
        # One release a month since 23.01, which is 2.30; there were two containers of 2.59.
        return 2, 29 + months - (months >= TWICE)
    raise FilterError(f"'{version}' is not a release of Triton: write for instance 2.51.0, or 24.10")


def _shortened(problem: Problem) -> Problem:
    message = problem.message
    if len(message) <= LONGEST:
        return problem
    return replace(problem, message=f"{message[:LONGEST]}... ({len(message)} characters)")


def _patterns(text: str) -> list[str]:
    return [pattern for pattern in re.split(r"[,\s]+", text) if pattern]


class Baseline:
    """What was found before: a finding that is in it is not reported again, as often as it was found then."""

    def __init__(self, known: Iterable[tuple[str, str, str]] = ()) -> None:
        self._left = Counter(known)

    def __contains__(self, finding: Finding) -> bool:
        """Return whether the finding was known, and forget it once."""
        if self._left[finding.key] <= 0:
            return False
        self._left[finding.key] -= 1
        return True

    @property
    def gone(self) -> int:
        """How many entries were not found any more."""
        return sum(count for count in self._left.values() if count > 0)


def read_baseline(path: Path) -> Baseline:
    """Read what `write_baseline` wrote; FilterError if it is not that."""
    try:
        data = json.loads(read_plain_text(path))
        if data["format"] != FORMAT:
            raise FilterError(f"the baseline {path} has format {data['format']}, and this version reads {FORMAT}")
        return Baseline((str(one["path"]), str(one["rule"]), str(one["message"])) for one in data["findings"])
    except OSError as error:
        raise FilterError(f"cannot read the baseline {path}: {error.strerror}") from None
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        if isinstance(error, FilterError):
            raise
        raise FilterError(f"{path} is not a baseline: write it again with --write-baseline") from None


def write_baseline(path: Path, findings: Iterable[Finding]) -> None:
    """Write all findings; FilterError if that is not possible."""
    entries = [dict(zip(("path", "rule", "message"), finding.key, strict=True)) for finding in findings]
    try:
        with whole(path) as file:
            file.write(json.dumps({"format": FORMAT, "findings": entries}, indent=1) + "\n")
    except OSError as error:
        raise FilterError(f"cannot write the baseline {path}: {error.strerror}") from None
