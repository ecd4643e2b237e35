"""The verb itself: read, judge, filter, print, and say with the exit status what came of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console

from batchproof import __version__
from batchproof.commands.lint import formats
from batchproof.commands.lint.files import Source, sources
from batchproof.commands.lint.filters import (
    Baseline,
    FilterError,
    Finding,
    chosen_rules,
    kept,
    read_baseline,
    release_of,
    strangers,
    write_baseline,
)
from batchproof.exit_status import ExitStatus, refuse
from batchproof.fixtures.judging.catalogue import SelectionError
from batchproof.fixtures.judging.checkers.config import INVALID, judge


@dataclass(frozen=True)
class LintOptions:
    """What the command line asks for."""

    names: Sequence[str]
    form: str = "text"
    strict: bool = False
    rules: str = ""
    ignore: str = ""
    baseline: Path | None = None
    write_baseline: Path | None = None
    triton_version: str = ""


def lint(options: LintOptions) -> ExitStatus:
    """Judge the files and print what is wrong with them.

    What the server refuses is FAILED, with `strict` every finding is. If something could not be read, it is MISUSE, but the
    rest is judged and printed all the same.
    """
    try:
        chosen = chosen_rules(options.rules, options.ignore)
        release = release_of(options.triton_version)
        baseline = read_baseline(options.baseline) if options.baseline else Baseline()
    except (SelectionError, FilterError) as error:
        return refuse(error)
    outcome, everything = _judged(options, chosen, release, baseline)
    _print_end(options, outcome)
    if options.write_baseline:
        try:
            write_baseline(options.write_baseline, everything)
        except FilterError as error:
            return refuse(error, ExitStatus.UNAVAILABLE)
    if outcome.unreadable:
        return ExitStatus.MISUSE
    failed = any(options.strict or finding.problem.kind == INVALID for finding in outcome.findings)
    return ExitStatus.FAILED if failed and not options.write_baseline else ExitStatus.FINE


def _judged(
    options: LintOptions, chosen: frozenset[str], release: tuple[int, int] | None, baseline: Baseline
) -> tuple[formats.Outcome, list[Finding]]:
    """Judge one file after another, print each at once where the format has lines, and return all that was found."""
    console = Console(highlight=False, soft_wrap=True)
    findings: list[Finding] = []
    everything: list[Finding] = []
    unreadable: list[Source] = []
    files = 0
    for source in sources(options.names, release):
        if source.why:
            unreadable.append(source)
            refuse(f"cannot read {formats.visible(source.path)}: {source.why}")
            if options.form == "github":
                print(formats.github_unreadable(source))
            continue
        files += 1
        judged = judge(source.text, release, source.folder, source.beside, source.called)
        for one in strangers(judged.remarks):
            words = f"a comment ignores {formats.visible(one)}, and no rule has this name: `batchproof rules 'CFG-*'`"
            refuse(f"{formats.visible(source.path)}: {words}")
        found = kept(source.path, judged.problems, chosen, judged.remarks)
        everything += found
        new = [finding for finding in found if finding not in baseline]
        findings += new
        for finding in new:
            if options.form == "text":
                for line in formats.text_lines(finding):
                    console.print(line)
            elif options.form == "github":
                print(formats.github_line(finding))
    known = len(everything) - len(findings)
    return formats.Outcome(files, findings, unreadable, known, baseline.gone if options.baseline else 0), everything


def _print_end(options: LintOptions, outcome: formats.Outcome) -> None:
    if options.form == "json":
        print(formats.json_document(outcome))
    elif options.form == "sarif":
        print(formats.sarif_document(outcome, __version__))
    else:
        print(formats.summary(outcome))
