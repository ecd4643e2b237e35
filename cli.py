"""`batchproof`: thin commands over pytest, the catalogue and the reports."""

from __future__ import annotations

import json
from dataclasses import asdict
from enum import Enum
from pathlib import Path
from typing import Annotated, NoReturn
from urllib.parse import quote

import typer

from batchproof import __version__

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    help="The conformance and regression suite for inference batchers.",
)
USAGE_ERROR = 2


class Combinations(str, Enum):
    """As `fixtures.combined.SELECTIONS`."""

    fast = "fast"
    pairs = "pairs"
    triples = "triples"


class Patience(str, Enum):
    """As `fixtures.session.PATIENCE`."""

    quick = "quick"
    normal = "normal"
    thorough = "thorough"


class Base(str, Enum):
    """As `fixtures.image.BASES`."""

    auto = "auto"
    mmdebstrap = "mmdebstrap"
    host = "host"


def main() -> None:
    """Run the command line."""
    app()


@app.callback(invoke_without_command=True)
def _version(version: Annotated[bool, typer.Option("--version", help="Print the version and exit.")] = False) -> None:
    if version:
        typer.echo(f"batchproof {__version__}")
        raise typer.Exit


@app.command()
def check(
    target: Annotated[
        str,
        typer.Option(
            help="reference, triton, triton-docker, litserve, null, grpc://host:port, http://host:port, module:attribute"
        ),
    ] = "reference",
    profile: Annotated[str, typer.Option(help="Only the rules of this profile (CORE, TRITON-DB, ...).")] = "",
    rules: Annotated[str, typer.Option(help="Only these rules: comma-separated ids or patterns.")] = "",
    claims: Annotated[Path | None, typer.Option(help="TOML file of what the target claims.")] = None,
    known: Annotated[Path | None, typer.Option(help="TOML file of known issues, added to those shipped.")] = None,
    seed: Annotated[int, typer.Option(help="Seed of everything random.")] = 1729,
    patience: Annotated[Patience, typer.Option(help="How long to wait, and how often to measure again.")] = Patience.normal,
    combinations: Annotated[
        Combinations, typer.Option(help="Combinations of features: a few, every pair, every triple.")
    ] = Combinations.fast,
    report: Annotated[Path | None, typer.Option(help="Report folder [default: reports/out/TARGET].")] = None,
    image: Annotated[str, typer.Option(help="With --target triton-docker: this image instead of NVIDIA's.")] = "",
    replay: Annotated[Path | None, typer.Option(help="Judge this bundle again, offline; no target.")] = None,
) -> None:
    """Judge a batcher: exit 0 conformant, 1 a MUST failed, 75 one stayed inconclusive, 5 nothing was judged, 2, 4 misuse."""
    if replay is not None:
        from batchproof.fixtures.replay import replay as judge_again

        raise typer.Exit(judge_again(replay))
    from batchproof.fixtures.running import run_suite

    options = {
        "--target": _with_image(target, image) if image else target,
        "--bp-profile": profile,
        "--bp-rules": rules,
        "--bp-claims": claims,
        "--bp-known": known,
        "--bp-seed": seed,
        "--bp-patience": patience.value,
        "--bp-combinations": combinations.value,
        "--bp-report": report,
    }
    raise typer.Exit(run_suite([f"{name}={value}" for name, value in options.items() if value not in (None, "")]))


@app.command()
def diff(
    target: Annotated[list[str], typer.Option(help="Two targets, as for check: --target reference --target triton.")],
    script: Annotated[Path | None, typer.Option(help='A case as JSON: {"config": ..., "script": [...]}.')] = None,
    seed: Annotated[int, typer.Option(help="Without a script: the first seed of the generated cases.")] = 1,
    count: Annotated[int, typer.Option(min=1, help="How many generated cases.")] = 10,
    save: Annotated[Path, typer.Option(help="Folder for the case in which they differ.")] = Path("reports/out/diff"),
) -> None:
    """Run the same cases on two targets and show where they first part: exit 0 the same, 1 different, 2 misuse."""
    from batchproof.fixtures.case import Case, CaseError
    from batchproof.fixtures.difference import compare, seeded

    if len(target) != 2:
        _usage_error(f"diff needs two targets, not {len(target)}: --target reference --target triton")
    try:
        cases = [Case.read(script)] if script else seeded(seed, count)
    except CaseError as error:
        _usage_error(str(error))
    raise typer.Exit(compare(target, cases, save))


@app.command("rules")
def list_rules(
    patterns: Annotated[list[str] | None, typer.Argument(help="Ids or patterns, such as DB-DELAY-*; none: all.")] = None,
    profile: Annotated[str, typer.Option(help="Only this profile.")] = "",
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON, with every field.")] = False,
) -> None:
    """List the catalogue."""
    from batchproof.fixtures.catalogue import SelectionError, select

    try:
        chosen = select(patterns or (), profile)
    except SelectionError as error:
        _usage_error(str(error))
    if as_json:
        typer.echo(json.dumps([asdict(rule) for rule in chosen], indent=2))
        return
    for rule in chosen:
        typer.echo(f"{rule.id:<17} {rule.level:<6} {rule.profile:<13} {rule.evidence:<12} {rule.title}")


@app.command()
def lint(configs: Annotated[list[Path], typer.Argument(help="config.pbtxt files.")]) -> None:
    """Check config.pbtxt files: exit 0 when no MUST rule is broken, else 1."""
    from batchproof.fixtures.linting import lint_files

    raise typer.Exit(lint_files(configs))


@app.command()
def mutants(
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    markdown: Annotated[bool, typer.Option("--markdown", help="Print docs/mutants.md (or docs/strength.md).")] = False,
    strength: Annotated[bool, typer.Option("--strength", help="How many random schedules it takes instead.")] = False,
) -> None:
    """Run every rule on every mutant and print the matrix: exit 1 if a kill set is not exact."""
    form = "json" if as_json else "markdown" if markdown else "text"
    if strength:
        from batchproof.fixtures.strength import print_strength

        raise typer.Exit(print_strength(form))
    from batchproof.fixtures.matrix import print_matrix

    raise typer.Exit(print_matrix(form))


@app.command()
def report(folders: Annotated[list[Path], typer.Argument(help="Report folders, or a folder of such.")]) -> None:
    """Print several targets' reports side by side, as Markdown: exit 1 if one of them is not conformant."""
    from batchproof.reports.documents import combine
    from batchproof.reports.reading import FILE, ReportError, read

    found = [inner for folder in folders for inner in (folder, *sorted(folder.glob("*"))) if (inner / FILE).is_file()]
    if not found:
        _usage_error(f"no {FILE} in {', '.join(map(str, folders))}")
    try:
        typer.echo(combine(found))
        footers = [read(one).footer for one in found]
        raise typer.Exit(int(any(footer is None or footer["exit_status"] for footer in footers)))
    except ReportError as error:
        _usage_error(str(error))


@app.command()
def witness(folder: Annotated[Path, typer.Argument(help="An empty or new folder.")]) -> None:
    """Write a Triton model repository with the witness, for servers that load no models on demand."""
    from batchproof.fixtures.repository import RepositoryError, write

    try:
        names = write(folder)
    except RepositoryError as error:
        _usage_error(str(error))
    typer.echo(f"{len(names)} models in {folder}: start tritonserver with --model-repository={folder}")
    typer.echo("then: batchproof check --target grpc://HOST:PORT")


images = typer.Typer(no_args_is_help=True, help="Images for --target triton-docker.")
app.add_typer(images, name="image")


@images.callback()
def _images() -> None:
    """Keep `build` a command of its own."""


@images.command("build")
def build_image(
    tag: Annotated[str, typer.Option(help="Name of the image.")] = "batchproof-triton:2.51.0",
    base: Annotated[Base, typer.Option(help="Root file system: Debian's, or this machine's Python.")] = Base.auto,
) -> None:
    """Make a CPU-only Triton image from the embedded server, without any registry."""
    from batchproof.fixtures.image import print_build

    raise typer.Exit(print_build(tag, base.value))


def _with_image(target: str, image: str) -> str:
    """Return the target's word with this image among its options."""
    word, _, query = target.partition("?")
    if word != "triton-docker":
        _usage_error(f"--image goes with --target triton-docker, not with --target {target}")
    if any(option.startswith("image=") for option in query.split("&")):
        _usage_error(f"name the image once: by --image or in --target {target}")
    return f"{word}?" + "&".join(filter(None, [f"image={quote(image, safe='/:@')}", query]))


def _usage_error(message: str) -> NoReturn:
    typer.echo(f"batchproof: {message}", err=True)
    raise typer.Exit(USAGE_ERROR)
