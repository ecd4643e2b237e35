"""Commands that judge, and that show judgements: check, hunt, diff, rules, lint, explain, report, summary, matrix, ..."""

from __future__ import annotations

from enum import Enum
from pathlib import Path
from typing import Annotated

import typer

from batchproof.cli import app
from batchproof.cli.options import (
    TARGETS,
    Awake,
    Combinations,
    Image,
    NamesTargets,
    Patience,
    Seed,
    Target,
    end,
    given,
    misuse,
    with_image,
)
from batchproof.exit_status import help_text


class CheckFormat(str, Enum):
    """How `check` prints what it finds."""

    text = "text"
    github = "github"
    sarif = "sarif"


@app.command(cls=NamesTargets, epilog=help_text("check"))
def check(
    context: typer.Context,
    target: Target = "reference",
    profile: Annotated[str, typer.Option(help="Judge only the rules of this profile (CORE, TRITON-DB, ...).")] = "",
    rules: Annotated[
        list[str] | None, typer.Option(help="Judge only these rules: ids or patterns, separated by commas. May be repeated.")
    ] = None,
    claims: Annotated[Path | None, typer.Option(help="TOML file that says what the target claims.")] = None,
    known: Annotated[Path | None, typer.Option(help="TOML file of known issues, in addition to those shipped.")] = None,
    seed: Seed = 1729,
    patience: Annotated[Patience, typer.Option(help="How long to wait, and how often to judge again.")] = Patience.normal,
    combinations: Annotated[
        Combinations, typer.Option(help="Combinations of features: a few, every pair, or every triple.")
    ] = Combinations.fast,
    report: Annotated[Path | None, typer.Option(help="Report folder [default: reports/out/TARGET].")] = None,
    image: Image = "",
    _awake: Awake = False,
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Print a line for every rule.")] = False,
    replay: Annotated[Path | None, typer.Option(help="Judge this replay bundle again, offline, without a target.")] = None,
    form: Annotated[
        CheckFormat, typer.Option("--format", help="Text; the same with annotations for GitHub; or a SARIF log.")
    ] = CheckFormat.text,
) -> None:
    """Judge a batcher by the rules, and write a report."""
    if replay is not None:
        if form is not CheckFormat.text:
            misuse("--replay prints text: leave --format out")
        if others := given(context, besides="replay"):
            misuse(f"--replay judges what the bundle holds: leave {' and '.join(others)} out")
        from batchproof.commands.replay import replay as judge_again

        end(judge_again(replay))
    from batchproof.commands.check import CheckOptions
    from batchproof.commands.check import check as judge

    chosen = (profile, ",".join(rules or ()), claims, known, seed, patience.value, combinations.value)
    end(judge(CheckOptions(with_image(target, image), *chosen, report, verbose, form.value)))


@app.command(cls=NamesTargets, epilog=help_text("hunt"))
def hunt(
    target: Target = "reference",
    minutes: Annotated[float, typer.Option(min=0.01, max=10_000, help="How long to hunt.")] = 5.0,
    campaigns: Annotated[
        int, typer.Option(min=0, help="Stop after this many campaigns instead; 0: when the time is over.")
    ] = 0,
    seed: Seed = 1729,
    corpus: Annotated[
        Path | None, typer.Option(help="Folder for the corpus and the findings [default: reports/out/hunt-TARGET].")
    ] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Continue with the existing corpus.")] = False,
    first: Annotated[bool, typer.Option("--first", help="Stop at the first counterexample.")] = False,
    simulated: Annotated[
        bool, typer.Option("--simulated", help="Hunt in simulated time: the same as --target virtual.")
    ] = False,
    claims: Annotated[Path | None, typer.Option(help="TOML file that says what the target claims.")] = None,
    sequences: Annotated[bool, typer.Option("--sequences", help="Hunt a batcher of sequences.")] = False,
    image: Image = "",
    _awake: Awake = False,
) -> None:
    """Drive random configurations and traffic over everything that a batcher claims, and judge every decision."""
    from batchproof.commands.hunt.command import HuntOptions, hunt_on

    if simulated and target not in ("reference", "virtual") and not target.startswith("mutant:"):
        misuse(f"only the reference batcher and its mutants run in simulated time, not {target}: leave --simulated out")
    spec = "virtual" if simulated and target == "reference" else with_image(target, image)
    end(hunt_on(HuntOptions(spec, minutes, campaigns, seed, corpus, resume, first, claims, sequences)))


@app.command(cls=NamesTargets, epilog=help_text("diff"))
def diff(
    target: Annotated[list[str], typer.Option(help=f"Give it twice: {TARGETS}.")],
    script: Annotated[Path | None, typer.Option(help='A case as JSON: {"config": ..., "script": [...]}.')] = None,
    seed: Annotated[int, typer.Option(help="Without --script: the first seed of the generated cases.")] = 1,
    count: Annotated[int, typer.Option(min=1, help="Without --script: how many cases to generate.")] = 10,
    save: Annotated[Path, typer.Option(help="Folder for the case in which the targets differ.")] = Path("reports/out/diff"),
    sequences: Annotated[bool, typer.Option("--sequences", help="Without --script: generate cases of sequences.")] = False,
) -> None:
    """Run the same cases on two targets, and show where they first differ."""
    from batchproof.commands.diff import diff as compare

    end(compare(target, script, seed, count, save, sequences=sequences))


@app.command("rules", epilog=help_text("rules"))
def list_rules(
    patterns: Annotated[list[str] | None, typer.Argument(help="Ids or patterns, such as DB-DELAY-* [default: all].")] = None,
    profile: Annotated[str, typer.Option(help="List only the rules of this profile.")] = "",
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON, with every field.")] = False,
    claims: Annotated[bool, typer.Option("--claims", help="Instead, list what a target can claim, as Markdown.")] = False,
) -> None:
    """List the rules."""
    if claims:
        if patterns or profile or as_json:
            misuse("--claims lists every claim: it takes no pattern, no --profile and no --json")
        from batchproof.commands.claims import print_claims

        end(print_claims())
    from batchproof.commands.rules import print_rules

    end(print_rules(patterns or (), profile, as_json=as_json))


class LintFormat(str, Enum):
    """How `lint` prints what it finds."""

    text = "text"
    json = "json"
    sarif = "sarif"
    github = "github"


@app.command(epilog=help_text("lint"))
def lint(
    configs: Annotated[
        list[str],
        typer.Argument(help="config.pbtxt files, folders, patterns such as 'models/**/*.pbtxt', or - for standard input."),
    ],
    strict: Annotated[
        bool, typer.Option("--strict", help="Also fail for values that have no effect or are known to surprise.")
    ] = False,
    form: Annotated[LintFormat, typer.Option("--format", help="What to print.")] = LintFormat.text,
    rules: Annotated[str, typer.Option(help="Report only these rules: ids or patterns, separated by commas.")] = "",
    ignore: Annotated[str, typer.Option(help="Leave out these rules: ids or patterns, separated by commas.")] = "",
    baseline: Annotated[Path | None, typer.Option(help="Do not report what this file lists.")] = None,
    write_baseline: Annotated[
        Path | None, typer.Option(help="Write what is found now to this file, and do not fail.")
    ] = None,
    triton_version: Annotated[
        str, typer.Option(help="Refuse fields that this release does not know, for example 2.51.0 or 24.10.")
    ] = "",
) -> None:
    """Check config.pbtxt files without a server. It fails if Triton would refuse one of them."""
    from batchproof.commands.lint.command import LintOptions
    from batchproof.commands.lint.command import lint as judge

    end(judge(LintOptions(configs, form.value, strict, rules, ignore, baseline, write_baseline, triton_version)))


@app.command(epilog=help_text("explain"))
def explain(
    configs: Annotated[list[str], typer.Argument(help="config.pbtxt files, folders, patterns, or - for standard input.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Say in plain words what Triton will do with a configuration, without a server."""
    from batchproof.commands.explain.command import explain as in_words

    end(in_words(configs, as_json=as_json))


@app.command(epilog=help_text("mutants"))
def mutants(
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    markdown: Annotated[bool, typer.Option("--markdown", help="Print the matrix as the page docs/mutants.md.")] = False,
    rules: Annotated[str, typer.Option(help="Judge by these rules only: ids or patterns, separated by commas.")] = "",
    strength: Annotated[
        bool, typer.Option("--strength", help="Instead, count the schedules and campaigns that notice each mutant.")
    ] = False,
    wrong_lines: Annotated[
        str,
        typer.Option(help="Instead, judge small changes to these modules of the reference batcher, like core,oldest, "
                          "that a program makes, and show which of them no rule notices."),
    ] = "",
    sample: Annotated[int, typer.Option(min=1, help="With --wrong-lines: judge this many of them, chosen at random.")] = 20,
    seed: Annotated[int, typer.Option(min=0, help="With --wrong-lines: the seed of that choice.")] = 1729,
) -> None:
    """Judge every mutant by every rule and print the matrix. It fails if a kill set is not exact."""
    if as_json and markdown:
        misuse("choose one of --json and --markdown")
    if rules and (strength or markdown):
        misuse("--rules judges by some rules: docs/mutants.md and --strength are about all of them")
    form = "json" if as_json else "markdown" if markdown else "text"
    if wrong_lines:
        if rules or strength or markdown:
            misuse("--wrong-lines goes with --sample, --seed and --json only")
        from batchproof.commands.wrong_lines import print_survey

        end(print_survey([name.strip() for name in wrong_lines.split(",")], sample, seed, as_json=as_json))
    if strength:
        from batchproof.commands.strength import print_strength

        end(print_strength(form))
    from batchproof.commands.mutants import print_matrix

    end(print_matrix(form, rules))


OPEN = "Or 'open' and one report folder, to see it in a browser; without a folder, the newest one below reports/out."


@app.command(epilog=help_text("report"))
def report(
    folders: Annotated[list[Path], typer.Argument(help=f"Report folders, or folders that contain them. {OPEN}")],
    plots: Annotated[
        Path | None, typer.Option(help="Write the charts of bench, tune or ab into this folder, and report.html again.")
    ] = None,
) -> None:
    """Print the reports of several targets side by side, as Markdown. It fails if one target is not conformant."""
    from batchproof.commands.report import open_report, print_reports

    if plots is not None:
        from batchproof.commands.plots import write_plots

        end(write_plots(folders, plots))
    end(open_report(folders[1:]) if folders[0] == Path("open") else print_reports(folders))


@app.command(epilog=help_text("summary"))
def summary(
    new: Annotated[Path, typer.Argument(help="A report folder.")],
    base: Annotated[Path | None, typer.Option(help="The report folder to compare it with.")] = None,
    fail_if_worse: Annotated[
        bool, typer.Option("--fail-if-worse", help="Fail if a MUST rule newly fails, or is no longer judged.")
    ] = False,
) -> None:
    """Print what changed against a base, for a pull request: five lines and a table, as Markdown."""
    if fail_if_worse and base is None:
        misuse("--fail-if-worse compares with a base: add --base FOLDER")
    from batchproof.commands.summary import summarise

    end(summarise(new, base, gate=fail_if_worse))


@app.command(epilog=help_text("matrix"))
def matrix(
    folders: Annotated[list[Path], typer.Argument(help="Report folders, or folders that contain report folders.")],
    areas: Annotated[str, typer.Option(help="Only these areas: names or patterns such as DB-*, separated by commas.")] = "",
    rules: Annotated[bool, typer.Option("--rules", help="A row for each rule instead of a column for each area.")] = False,
    markdown: Annotated[bool, typer.Option("--markdown", help="Print Markdown.")] = False,
) -> None:
    """Print how many rules of each area each stack keeps. The reports must come from one catalogue of rules."""
    from batchproof.commands.matrix import print_matrix

    if areas and rules:
        misuse("--areas chooses columns, and with --rules there are none: leave one of the two out")
    end(print_matrix(folders, areas.split(",") if areas else (), rules=rules, as_markdown=markdown))


@app.command(epilog=help_text("site"))
def site(
    folders: Annotated[list[Path], typer.Argument(help="Report folders, or folders that contain report folders.")],
    out: Annotated[Path, typer.Option(help="An empty folder, or the folder of an older site.")] = Path("reports/out/site"),
    title: Annotated[str, typer.Option(help="The heading of its first page.")] = "What these batchers keep",
    texts: Annotated[
        Path | None, typer.Option(help="Folder with a page NAME.md about each stack [default: docs/stacks of the checkout].")
    ] = None,
    texts_at: Annotated[str, typer.Option(help="The web address of that folder, to which relative links lead.")] = "",
) -> None:
    """Write a static website of reports: a page for each stack and each rule, and badges. They must share one catalogue."""
    from batchproof.commands.site import SiteOptions, build

    end(build(SiteOptions(folders, out, title, texts, texts_at)))


@app.command(epilog=help_text("truth"))
def truth(
    folders: Annotated[list[Path], typer.Argument(help="Report folders, or folders that contain report folders.")],
    tables: Annotated[
        Path | None, typer.Option(help="Folder with the tables of truth [default: docs/stacks/truth of the checkout].")
    ] = None,
) -> None:
    """Compare reports with what independent evidence says about their stacks. It fails if a verdict contradicts it."""
    from batchproof.commands.truth import print_truth

    end(print_truth(folders, tables))
