"""`batchproof history`: runs over time, kept in a file or a database."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from batchproof.cli import app
from batchproof.cli.options import end
from batchproof.exit_status import help_text

STATUSES = help_text("history")
history = typer.Typer(no_args_is_help=True, help="Keep runs with their figures, commits and hosts: see docs/tracking.md.")
app.add_typer(history, name="history")

Store = Annotated[str, typer.Option(envvar="BATCHPROOF_HISTORY", help="The history: a file, or postgresql://host/database.")]
STORE = "reports/history.sqlite"  # the same as `reports.history.DEFAULT`, which would be slow to import here
Repo = Annotated[Path, typer.Option(help="The checkout whose commit was measured.", file_okay=False)]
CommitName = Annotated[str, typer.Option(help="The commit that was measured, if it is not checked out.")]
Branch = Annotated[str, typer.Option(help="Its branch, if it is not checked out.")]
Dirty = Annotated[bool, typer.Option("--dirty", help="There were changes that are not in the commit.")]
NoCommit = Annotated[bool, typer.Option("--no-commit", help="Keep no commit.")]
OfTarget = Annotated[str, typer.Option("--target", help="Only runs of this target.")]
OfBranch = Annotated[str, typer.Option("--branch", help="Only runs of this branch.")]
OfHost = Annotated[str, typer.Option("--host", help="Only runs of this host, by the beginning of its fingerprint.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]


@history.command(epilog=STATUSES)
def add(
    folders: Annotated[list[Path], typer.Argument(help="Report folders of bench or check.")],
    store: Store = STORE,
    repo: Repo = Path(),
    commit: CommitName = "",
    branch: Branch = "",
    dirty: Dirty = False,
    no_commit: NoCommit = False,
) -> None:
    """Add the runs in report folders. A run that is added twice is stored once."""
    from batchproof.commands.history.add import add_folders
    from batchproof.commands.history.options import Measured

    end(add_folders(folders, store, Measured(repo, commit, branch, dirty, no_commit)))


@history.command("import", epilog=STATUSES)
def import_files(
    files: Annotated[list[Path], typer.Argument(help="Files that other tools wrote, or exports of a history.")],
    store: Store = STORE,
    target: Annotated[str, typer.Option(help="What was measured, if the file does not say.")] = "",
    target_version: Annotated[str, typer.Option(help="Its version, if the file does not say.")] = "",
    here: Annotated[bool, typer.Option("--here", help="It was measured on this host, if the file does not say.")] = False,
    when: Annotated[str, typer.Option(help="When it was measured, if the file does not say.")] = "",
    repo: Repo = Path(),
    commit: CommitName = "",
    branch: Branch = "",
    dirty: Dirty = False,
    no_commit: NoCommit = False,
) -> None:
    """Add what was measured by pytest-benchmark, Google Benchmark, perf_analyzer, LoadGen, Locust, GenAI-Perf or AIPerf."""
    from batchproof.commands.history.imports import Unsaid, import_all
    from batchproof.commands.history.options import Measured

    unsaid = Unsaid(target, target_version, when, here)
    end(import_all(files, store, unsaid, Measured(repo, commit, branch, dirty, no_commit)))


@history.command("list", epilog=STATUSES)
def list_runs(
    store: Store = STORE,
    last: Annotated[int, typer.Option(min=0, help="How many of the newest; 0: all.")] = 20,
    target: OfTarget = "",
    branch: OfBranch = "",
    host: OfHost = "",
    as_json: AsJson = False,
) -> None:
    """List runs."""
    from batchproof.commands.history.show import list_runs as show

    end(show(store, last=last, target=target, branch=branch, host=host, as_json=as_json))


@history.command(epilog=STATUSES)
def show(
    run: Annotated[int, typer.Argument(help="The number of a run.")],
    store: Store = STORE,
    as_json: AsJson = False,
) -> None:
    """Show one run with its figures."""
    from batchproof.commands.history.show import show_run

    end(show_run(run, store, as_json=as_json))


@history.command(epilog=STATUSES)
def changes(
    store: Store = STORE,
    figure: Annotated[str, typer.Option(help="Only these figures: an id, or a pattern such as sweep.*.")] = "",
    target: OfTarget = "",
    branch: OfBranch = "",
    host: OfHost = "",
    last: Annotated[int, typer.Option(min=1, help="How many of the newest runs of each series.")] = 500,
    min_change: Annotated[float, typer.Option(min=0, max=10, help="Leave out smaller changes; 0.02 is 2 %.")] = 0.02,
    fail_within: Annotated[
        int, typer.Option(min=0, help="Exit with status 1 if a figure became worse within its last N runs.")
    ] = 0,
    repo: Repo = Path(),
    as_json: AsJson = False,
) -> None:
    """Show where figures changed, by how much, and which commits may have done it."""
    from batchproof.commands.history.changes import print_changes
    from batchproof.commands.history.options import Asked

    asked = Asked(figure, target, branch, host, last, min_change, repo)
    end(print_changes(store, asked, within=fail_within, as_json=as_json))


@history.command(epilog=STATUSES)
def page(
    store: Store = STORE,
    out: Annotated[Path, typer.Option(dir_okay=False, help="Where to write the page.")] = Path("reports/history.html"),
    figure: Annotated[str, typer.Option(help="Only these figures: an id, or a pattern such as sweep.*.")] = "",
    target: OfTarget = "",
    branch: OfBranch = "",
    host: OfHost = "",
    last: Annotated[int, typer.Option(min=0, help="How many of the newest runs of each series; 0: all.")] = 200,
    min_change: Annotated[float, typer.Option(min=0, max=10, help="Leave out smaller changes; 0.02 is 2 %.")] = 0.02,
    repo: Repo = Path(),
) -> None:
    """Write a page with every figure over its runs, its change points marked."""
    from batchproof.commands.history.options import Asked
    from batchproof.commands.history.page import write_page

    end(write_page(store, Asked(figure, target, branch, host, last, min_change, repo), out))


@history.command(epilog=STATUSES)
def prune(
    store: Store = STORE,
    run: Annotated[list[int] | None, typer.Option(help="The number of a run; may be given several times.")] = None,
    before: Annotated[str, typer.Option(help="Runs of commits before this date.")] = "",
    target: OfTarget = "",
    branch: OfBranch = "",
    keep: Annotated[int, typer.Option(min=0, help="Keep this many of the newest runs.")] = 0,
    yes: Annotated[bool, typer.Option("--yes", help="Remove them, instead of only counting them.")] = False,
) -> None:
    """Remove runs that meet all conditions."""
    from batchproof.commands.history.prune import Pruning, prune_runs

    end(prune_runs(store, Pruning(run or (), before, target, branch, keep), yes=yes))


@history.command(epilog=STATUSES)
def export(
    store: Store = STORE,
    out: Annotated[Path | None, typer.Option(dir_okay=False, help="Write to this file [default: standard output].")] = None,
    as_csv: Annotated[bool, typer.Option("--csv", help="Write a CSV line for each figure, for spreadsheets.")] = False,
    target: OfTarget = "",
    branch: OfBranch = "",
    host: OfHost = "",
) -> None:
    """Write runs as lines of JSON, which `import` reads, too."""
    from batchproof.commands.history.export import export_runs

    end(export_runs(store, out, as_csv=as_csv, target=target, branch=branch, host=host))


@history.command(epilog=STATUSES)
def upgrade(store: Store = STORE) -> None:
    """Bring a history that an older version wrote up to date."""
    from batchproof.commands.history.upgrade import upgrade_store

    end(upgrade_store(store))
