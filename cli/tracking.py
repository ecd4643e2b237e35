"""Commands about measured numbers: figures, compare."""

from __future__ import annotations

from enum import Enum
from pathlib import Path
from typing import Annotated

import typer

from batchproof.cli import app
from batchproof.cli.options import end, misuse
from batchproof.exit_status import help_text


@app.command(epilog=help_text("figures"))
def figures(
    folders: Annotated[
        list[Path] | None, typer.Argument(help="Report folders of bench, tune or check [default: none].")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Print the figures of report folders; without a folder, list every figure that there is, as Markdown."""
    from batchproof.commands.figures import print_figures

    end(print_figures(folders or (), as_json=as_json))


class CompareFormat(str, Enum):
    """How `compare` prints what it finds."""

    text = "text"
    json = "json"
    markdown = "markdown"


@app.command(epilog=help_text("compare"))
def compare(
    runs: Annotated[
        list[str] | None, typer.Argument(help="BASE and NEW: report folders, folders of several, or history:12.")
    ] = None,
    base: Annotated[list[str] | None, typer.Option(help="A run of the base. May be repeated.")] = None,
    new: Annotated[list[str] | None, typer.Option(help="A new run. May be repeated.")] = None,
    fail_if_slower: Annotated[str, typer.Option(help="A change that is proved to be smaller counts as none.")] = "5%",
    run_spread: Annotated[
        str, typer.Option(help="The standard deviation of equal runs, assumed if each side has only one.")
    ] = "2%",
    figures: Annotated[
        str,
        typer.Option(help="Only these figures: ids or patterns such as 'sweep.*', separated by commas. All of them decide."),
    ] = "",
    correct: Annotated[
        bool,
        typer.Option("--correct", help="Compare different machines: what the machines may explain widens the intervals."),
    ] = False,
    form: Annotated[CompareFormat, typer.Option("--format", help="What to print.")] = CompareFormat.text,
    everything: Annotated[bool, typer.Option("--all", help="Print figures without a change, too.")] = False,
    store: Annotated[
        str, typer.Option(envvar="BATCHPROOF_HISTORY", help="The history of runs that are named history:NUMBER.")
    ] = "reports/history.sqlite",
) -> None:
    """Compare runs of bench, tune or check with those of a base, figure by figure. It fails if one is SLOWER."""
    from batchproof.commands.compare import CompareOptions
    from batchproof.commands.compare import compare as judge

    named = list(runs or ())
    if named and (len(named) != 2 or base or new):
        misuse("give two folders, BASE and NEW; or, for several runs a side, --base FOLDER and --new FOLDER, each repeated")
    sides = ([named[0]], [named[1]]) if named else (base or [], new or [])
    if not all(sides):
        misuse("two sides are compared: give BASE and NEW, or --base FOLDER and --new FOLDER")
    end(judge(CompareOptions(*sides, fail_if_slower, run_spread, figures, correct, form.value, everything, store)))
