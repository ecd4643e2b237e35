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
from batchproof.commands.lab import lab

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    help="The conformance and regression suite for inference batchers.",
)
USAGE_ERROR = 2


class Combinations(str, Enum):
    """As `fixtures.combinations.SELECTIONS`."""

    fast = "fast"
    pairs = "pairs"
    triples = "triples"


class Patience(str, Enum):
    """As `fixtures.judging.session.PATIENCE`."""

    quick = "quick"
    normal = "normal"
    thorough = "thorough"


class Base(str, Enum):
    """As `targets.triton.image.BASES`."""

    auto = "auto"
    mmdebstrap = "mmdebstrap"
    host = "host"


def main() -> None:
    """Run the command line."""
    app()


Image = Annotated[str, typer.Option(help="With --target triton-docker: this image instead of NVIDIA's.")]


@app.callback(invoke_without_command=True)
def _version(version: Annotated[bool, typer.Option("--version", help="Print the version and exit.")] = False) -> None:
    if version:
        typer.echo(f"batchproof {__version__}")
        raise typer.Exit


def _keep_awake(context: typer.Context, asked: bool) -> bool:
    if asked:
        from batchproof.host.awake import Unable, awake

        try:
            context.with_resource(awake())
        except Unable as why:
            _usage_error(str(why))
    return asked


Awake = Annotated[bool, typer.Option("--awake", help="Keep a virtual machine's processors awake.", callback=_keep_awake)]


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
    image: Image = "",
    _awake: Awake = False,
    replay: Annotated[Path | None, typer.Option(help="Judge this bundle again, offline; no target.")] = None,
) -> None:
    """Judge a batcher: exit 0 conformant, 1 a MUST failed, 75 one stayed inconclusive, 5 nothing was judged, 2, 4 misuse."""
    if replay is not None:
        from batchproof.commands.replay import replay as judge_again

        raise typer.Exit(judge_again(replay))
    from batchproof.fixtures.run import run_suite

    options = {
        "--target": _with_image(target, image),
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
def bench(
    target: Annotated[str, typer.Option(help="As for check.")] = "reference",
    quick: Annotated[bool, typer.Option("--quick", help="Short runs: under 2 minutes for one work.")] = False,
    work: Annotated[str, typer.Option(help="Under load: accelerator, mlp, text, image, or all.")] = "accelerator",
    only: Annotated[str, typer.Option(help="Only these measurements, by comma: static, naive, sweep, ...")] = "",
    slo_p99_ms: Annotated[float, typer.Option(min=0, help="The p99 to hold, where a measurement asks for one.")] = 0.0,
    price_per_hour: Annotated[float, typer.Option(min=0, help="What the target's machine costs an hour.")] = 0.0,
    currency: Annotated[str, typer.Option(help="Of the price.")] = "EUR",
    report: Annotated[Path | None, typer.Option(help="Report folder [default: reports/out/bench-TARGET].")] = None,
    image: Image = "",
    _awake: Awake = False,
    seed: Annotated[int, typer.Option(help="Seed of everything random.")] = 1729,
) -> None:
    """Measure a batcher: exit 0 done, 1 a gate failed, 75 one is INCONCLUSIVE or INVALID, 5 none measured, 2, 4 misuse."""
    from batchproof.bench.run import Options, run

    asked = (quick, work, only, slo_p99_ms, price_per_hour, currency, report, seed)
    raise typer.Exit(run(Options(_with_image(target, image), *asked)))


@app.command()
def tune(
    target: Annotated[str, typer.Option(help="As for check.")] = "reference",
    slo_p99_ms: Annotated[float, typer.Option(help="The p99 that users are promised.")] = 100.0,
    budget_ms: Annotated[float, typer.Option(help="What of it the network and other queues may take.")] = 10.0,
    traffic: Annotated[str, typer.Option(help="poisson, bursty, on_off:peak=5, gamma:shape=0.1, a trace file.")] = "poisson",
    rate: Annotated[float, typer.Option(help="Requests/s to hold [default: the most that holds; a trace: its own].")] = 0.0,
    work: Annotated[str, typer.Option(help="Under load: accelerator, mlp, text or image.")] = "accelerator",
    max_batch: Annotated[str, typer.Option(help="Batch sizes to try [default: 4,8,16,32,64,128].")] = "",
    max_delay_ms: Annotated[str, typer.Option(help="Queue delays to try [default: 0,1,2,5,10].")] = "",
    instances: Annotated[int, typer.Option(help="Instances of the model.")] = 1,
    seconds: Annotated[float, typer.Option(help="The longest verification of one rate [default: 60, quick 15].")] = 0.0,
    quick: Annotated[bool, typer.Option("--quick", help="Shorter runs, fewer candidates.")] = False,
    out: Annotated[Path, typer.Option(help="Where the configuration goes.")] = Path("config.pbtxt"),
    report: Annotated[Path | None, typer.Option(help="Report folder [default: reports/out/tune-TARGET].")] = None,
    image: Image = "",
    _awake: Awake = False,
    seed: Annotated[int, typer.Option(help="Seed of everything random.")] = 1729,
) -> None:
    """Find what serves most with p99 under SLO minus budget: exit 0 found, 1 none holds it, 75 INCONCLUSIVE, 2, 4 misuse."""
    from batchproof.bench.tune.command import TuneOptions, run_tune

    asked = (slo_p99_ms, budget_ms, traffic, rate, work, max_batch, max_delay_ms, instances, seconds, quick)
    raise typer.Exit(run_tune(TuneOptions(_with_image(target, image), *asked, out, report, seed)))


@app.command()
def diff(
    target: Annotated[list[str], typer.Option(help="Two targets, as for check: --target reference --target triton.")],
    script: Annotated[Path | None, typer.Option(help='A case as JSON: {"config": ..., "script": [...]}.')] = None,
    seed: Annotated[int, typer.Option(help="Without a script: the first seed of the generated cases.")] = 1,
    count: Annotated[int, typer.Option(min=1, help="How many generated cases.")] = 10,
    save: Annotated[Path, typer.Option(help="Folder for the case in which they differ.")] = Path("reports/out/diff"),
) -> None:
    """Run the same cases on two targets and show where they first part: exit 0 the same, 1 different, 2 misuse."""
    from batchproof.commands.diff import compare, seeded
    from batchproof.fixtures.driving.case import Case, CaseError

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
    from batchproof.fixtures.judging.catalogue import SelectionError, select

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
    from batchproof.commands.lint import lint_files

    raise typer.Exit(lint_files(configs))


@app.command()
def mutants(
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    markdown: Annotated[bool, typer.Option("--markdown", help="Print the page in docs/ that holds this.")] = False,
    strength: Annotated[bool, typer.Option("--strength", help="How many random schedules it takes instead.")] = False,
) -> None:
    """Run every rule on every mutant and print the matrix: exit 1 if a kill set is not exact."""
    form = "json" if as_json else "markdown" if markdown else "text"
    if strength:
        from batchproof.commands.strength import print_strength

        raise typer.Exit(print_strength(form))
    from batchproof.commands.mutants import print_matrix

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
    from batchproof.commands.witness import RepositoryError, write

    try:
        names = write(folder)
    except RepositoryError as error:
        _usage_error(str(error))
    typer.echo(f"{len(names)} models in {folder}: start tritonserver with --model-repository={folder}")
    typer.echo("then: batchproof check --target grpc://HOST:PORT")


app.add_typer(lab, name="lab")
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
    from batchproof.targets.triton.image import print_build

    raise typer.Exit(print_build(tag, base.value))


def _with_image(target: str, image: str) -> str:
    """Return the target's word with this image among its options."""
    if not image:
        return target
    word, _, query = target.partition("?")
    if word != "triton-docker":
        _usage_error(f"--image goes with --target triton-docker, not with --target {target}")
    if any(option.startswith("image=") for option in query.split("&")):
        _usage_error(f"name the image once: by --image or in --target {target}")
    return f"{word}?" + "&".join(filter(None, [f"image={quote(image, safe='/:@')}", query]))


def _usage_error(message: str) -> NoReturn:
    typer.echo(f"batchproof: {message}", err=True)
    raise typer.Exit(USAGE_ERROR)
