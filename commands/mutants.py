"""The rule x mutant matrix: every rule run on every mutant, in virtual time, through the same suite that judges servers."""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from multiprocessing import get_context
from typing import Any

from batchproof.exit_status import ExitStatus, refuse
from batchproof.fixtures.judging.catalogue import SelectionError, rules, select
from batchproof.fixtures.judging.drives import IN_A_DRIVE
from batchproof.fixtures.judging.verdicts import Verdict
from batchproof.fixtures.run import Unjudged, results_of
from batchproof.host.guard import end_with
from batchproof.reference_batcher.mutants import Mutant, mutants

FEW = 4  # with fewer mutants, starting processes takes longer than it saves
ORIGINALS = {"dynamic": "virtual", "continuous": "continuous"}  # the target that has no wrong line
BAD = (str(Verdict.FAIL), str(Verdict.ERROR), str(Verdict.INCONCLUSIVE))


@dataclass(frozen=True)
class Row:
    """One mutant: the rules that failed on it, what each of them said, and what was declared."""

    mutant: str
    what: str
    killed_by: tuple[str, ...]
    declared: tuple[str, ...]
    said: Mapping[str, str]
    message: str

    @property
    def problem(self) -> str:
        """How this row differs from the declaration, or ""."""
        if set(self.killed_by) != set(self.declared):
            return f"killed by {', '.join(self.killed_by) or 'none'}, declared {', '.join(self.declared) or 'none'}"
        if self.declared and self.message not in self.said[self.declared[0]]:
            return f"{self.declared[0]} said '{self.said[self.declared[0]]}', not '{self.message}'"
        return ""


def rows(watch: Callable[[str], object] = str, only: str = "") -> tuple[Row, ...]:
    """Judge every mutant, with a process for each processor.

    watch: called with a mutant's name when it is done. only: the rules to judge by, separated by commas; all if it is empty.
    SelectionError if no rule has such a name.
    """
    about = select(only.split(",")) if only else []
    row = partial(_row, only=",".join(rule.id for rule in about))
    every = [one for one in mutants().values() if not only or one.discipline in {rule.discipline for rule in about}]
    if len(every) < FEW:
        return tuple(_watched(map(row, every), watch))
    with pool() as workers:
        return tuple(_watched(workers.map(row, every), watch))


def pool(processes: int | None = None) -> ProcessPoolExecutor:
    """Return a pool of so many processes, or of one for each processor. They end with this process, however it ends.

    They are killed, because a process that is judging takes SIGTERM for a request to end that run, and not itself.
    """
    mine, count = (os.getpid(), signal.SIGKILL), processes or os.cpu_count()
    return ProcessPoolExecutor(count, mp_context=get_context("spawn"), initializer=end_with, initargs=mine)


def _watched(table: Iterable[Row], watch: Callable[[str], object]) -> Iterator[Row]:
    for row in table:
        watch(row.mutant)
        yield row


def _row(mutant: Mutant, only: str) -> Row:
    said = judged(f"mutant:{mutant.name}", only)
    declared = tuple(rule for rule in mutant.kills if not only or rule in only.split(","))
    message = mutant.message if declared[:1] == mutant.kills[:1] else ""
    return Row(mutant.name, mutant.what, tuple(said), declared, said, message)


def judged(target: str, only: str = "") -> dict[str, str]:
    """Return the rules that did not pass on a simulated target, each with what it said.

    only: the rules to judge, separated by commas; all if it is empty. Unjudged if there is no whole report of it.
    """
    return said(found(target, only))


def found(target: str, only: str = "") -> tuple[Mapping[str, Any], ...]:
    """Return the results of `judged` as the report has them, those that passed too."""
    return results_of(target, "--bp-patience=quick", f"--bp-rules={only}")


def said(results: Iterable[Mapping[str, Any]]) -> dict[str, str]:
    """Return the rules that did not pass, each with what it said.

    What was found in a drive of another rule is left out: it depends on which rules were judged.
    """
    bad = (one for one in results if one["verdict"] in BAD and IN_A_DRIVE not in one["actual"])
    return {one["rule"]: f"{one['expected']} | {one['actual']} | {one['reason']}" for one in bad}


def print_matrix(form: str, only: str = "") -> ExitStatus:
    """Print the matrix. It is FINE if every kill set is exact and the original passes everything, else FAILED.

    UNAVAILABLE if the reports that it is made from cannot be written.
    only: the rules to judge by; a kill set is then compared as far as they go.
    """
    try:
        table = rows(lambda name: print(f"{name} ...", file=sys.stderr) if sys.stderr.isatty() else None, only)
        kinds = dict.fromkeys(mutants()[row.mutant].discipline for row in table) or ["dynamic"]
        original = {rule: words for kind in kinds for rule, words in judged(ORIGINALS[kind], only).items()}
    except SelectionError as error:
        return refuse(error)
    except Unjudged as why:
        return refuse(why, ExitStatus.UNAVAILABLE)
    if form == "json":
        print(json.dumps([{**vars(row), "problem": row.problem} for row in table], indent=2))
    else:
        print(markdown(table) if form == "markdown" else _text(table))
    for row in table:
        if row.problem:
            print(f"NOT AS DECLARED  {row.mutant}: {row.problem}", file=sys.stderr)
    for rule, said in original.items():
        print(f"the original fails {rule}: {said}", file=sys.stderr)
    return ExitStatus.FAILED if original or any(row.problem for row in table) else ExitStatus.FINE


def markdown(table: Sequence[Row]) -> str:
    """Return docs/mutants.md: one line for each mutant, then one line for each rule."""
    killers = {rule: [row.mutant for row in table if rule in row.killed_by] for rule in rules()}
    lines = [
        "# Mutants",
        "",
        "`batchproof mutants --markdown` prints this page.",
        "A mutant is the reference batcher with one wrong line, and every rule judges it.",
        "A kill set is exact: these rules fail on the mutant, and no others do.",
        "The rules about config.pbtxt have mutants of their own, in `suites/config/mutants.toml`.",
        "`batchproof mutants --wrong-lines core,request_queue` judges small changes that nobody chose, but a program made,",
        "and shows which of them no rule notices; `check --target mutant:core#17` judges one of them.",
        "",
        "| mutant | what is wrong with it | killed by |",
        "|---|---|---|",
        *(f"| {row.mutant} | {row.what} | {', '.join(row.killed_by)} |" for row in table),
        "",
        "| rule | mutants that it kills |",
        "|---|---|",
        *(f"| {rule} | {', '.join(names)} |" for rule, names in killers.items() if names),
    ]
    return "\n".join(lines)


def _text(table: Sequence[Row]) -> str:
    wide = max(len(row.mutant) for row in table)
    lines = [f"{row.mutant:<{wide}}  {', '.join(row.killed_by) or 'SURVIVES'}" for row in table]
    killed = {rule for row in table for rule in row.killed_by}
    return "\n".join([*lines, "", f"{len(table)} mutants, killed by {len(killed)} rules"])
