"""Commands that measure: bench, tune, ab, and those of the laboratory."""

from __future__ import annotations

from enum import Enum
from pathlib import Path
from typing import Annotated

import typer

from batchproof.cli import app
from batchproof.cli.options import TARGETS, Awake, Image, NamesTargets, Seed, Target, Workers, WorkersFrom, end, with_image
from batchproof.commands.lab import lab
from batchproof.exit_status import help_text

app.add_typer(lab, name="lab")


LENGTHS = "fixed:tokens=64, or lognormal:mean=64,sigma=0.6,most=192"


class AbFormat(str, Enum):
    """The same words as `bench.ab.options.FORMS`, which would be slow to import here."""

    text = "text"
    markdown = "markdown"
    json = "json"


@app.command(cls=NamesTargets, epilog=help_text("bench"))
def bench(
    target: Target = "reference",
    quick: Annotated[bool, typer.Option("--quick", help="Short runs: under 2 minutes for one model.")] = False,
    work: Annotated[
        str, typer.Option(help="The model under load: accelerator, mlp, text, image or all; in an engine accelerator, bare.")
    ] = "accelerator",
    only: Annotated[str, typer.Option(help="Only these measurements, separated by commas: static, naive, ...")] = "",
    slo_p99_ms: Annotated[float, typer.Option(min=0, help="The p99 objective, for measurements that need one.")] = 0.0,
    price_per_hour: Annotated[float, typer.Option(min=0, help="What an hour of the target's machine costs.")] = 0.0,
    currency: Annotated[str, typer.Option(help="The currency of that price.")] = "EUR",
    report: Annotated[Path | None, typer.Option(help="Report folder [default: reports/out/bench-TARGET].")] = None,
    plots: Annotated[Path | None, typer.Option(help="Also write the charts as PNG and SVG files, into this folder.")] = None,
    image: Image = "",
    workers: Workers = 0,
    workers_from: WorkersFrom = "",
    prompts: Annotated[str, typer.Option(help=f"Tokens of an engine's prompts: {LENGTHS}.")] = "",
    texts: Annotated[str, typer.Option(help="Tokens of an engine's texts, in the same form.")] = "",
    arrivals: Annotated[str, typer.Option(help="How an engine's requests arrive: poisson or constant.")] = "",
    trace: Annotated[Path | None, typer.Option(help="An engine's requests, in the columns of the Azure LLM traces.")] = None,
    ttft_slo_ms: Annotated[float, typer.Option(min=0, help="An engine's objective: the first token within this.")] = 0.0,
    itl_slo_ms: Annotated[float, typer.Option(min=0, help="An engine's objective: no gap in a text above this.")] = 0.0,
    _awake: Awake = False,
    seed: Seed = 1729,
) -> None:
    """Measure how fast a batcher is, and compare it with the thresholds of the measurements."""
    from batchproof.commands.bench import Options, TextOptions, Wanted
    from batchproof.commands.bench import bench as measure

    asked = (quick, work, only, slo_p99_ms, price_per_hour, currency, report, seed)
    of_texts = TextOptions(prompts, texts, arrivals, trace, ttft_slo_ms, itl_slo_ms)
    crew = Wanted(workers, workers_from)
    end(measure(Options(with_image(target, image), *asked, crew=crew, plots=plots, texts=of_texts)))


@app.command("load-worker", epilog=help_text("load-worker"))
def load_worker(
    master: Annotated[str, typer.Option(help="HOST:PORT where a bench with --workers-from waits.")],
    name: Annotated[str, typer.Option(help="This worker's name in the bench [default: this machine's name].")] = "",
    patience_s: Annotated[float, typer.Option(min=1, help="How long to look for the master.")] = 600.0,
) -> None:
    """Send a share of the load of a bench on another machine."""
    from batchproof.commands.load_worker import load_worker as serve

    end(serve(master, name, patience_s))


@app.command(cls=NamesTargets, epilog=help_text("tune"))
def tune(
    target: Target = "reference",
    slo_p99_ms: Annotated[float, typer.Option(help="The p99 that users are promised.")] = 100.0,
    budget_ms: Annotated[
        float, typer.Option(help="How much of that p99 to reserve for the network and other queues.")
    ] = 10.0,
    traffic: Annotated[str, typer.Option(help="poisson, bursty, on_off:peak=5, gamma:shape=0.1, a trace file.")] = "poisson",
    rate: Annotated[
        float, typer.Option(help="Requests/s to serve.", show_default="as many as possible; for a trace, its own rate")
    ] = 0.0,
    work: Annotated[str, typer.Option(help="The model under load: accelerator, mlp, text or image.")] = "accelerator",
    max_batch: Annotated[str, typer.Option(help="Batch sizes to try [default: 4,8,16,32,64,128].")] = "",
    max_delay_ms: Annotated[str, typer.Option(help="Queue delays to try [default: 0,1,2,5,10].")] = "",
    instances: Annotated[int, typer.Option(help="Instances of the model.")] = 1,
    seconds: Annotated[float, typer.Option(help="The longest verification of one rate.", show_default="60, quick 15")] = 0.0,
    quick: Annotated[bool, typer.Option("--quick", help="Shorter runs, fewer candidates.")] = False,
    out: Annotated[Path, typer.Option(help="Where to write the configuration; for an engine: engine.json.")] = Path(
        "config.pbtxt"
    ),
    report: Annotated[Path | None, typer.Option(help="Report folder [default: reports/out/tune-TARGET].")] = None,
    image: Image = "",
    prompts: Annotated[str, typer.Option(help=f"Tokens of an engine's prompts: {LENGTHS}.")] = "",
    texts: Annotated[str, typer.Option(help="Tokens of an engine's texts, in the same form.")] = "",
    arrivals: Annotated[str, typer.Option(help="How an engine's requests arrive: poisson or constant.")] = "",
    trace: Annotated[Path | None, typer.Option(help="An engine's requests, in the columns of the Azure LLM traces.")] = None,
    ttft_slo_ms: Annotated[float, typer.Option(min=0, help="An engine's objective: the first token within this.")] = 0.0,
    itl_slo_ms: Annotated[float, typer.Option(min=0, help="An engine's objective: no gap in a text above this.")] = 0.0,
    max_seqs: Annotated[str, typer.Option(help="Sequence limits of an engine to try [default: 4,8,16,32].")] = "",
    token_budgets: Annotated[str, typer.Option(help="Token budgets of an engine to try [default: 64,128,256,512].")] = "",
    _awake: Awake = False,
    seed: Seed = 1729,
) -> None:
    """Find the configuration that serves the most requests while the p99 stays under the objective minus the budget."""
    from batchproof.commands.tune import EngineTuneOptions, TextOptions, TuneOptions
    from batchproof.commands.tune import tune as search

    asked = (slo_p99_ms, budget_ms, traffic, rate, work, max_batch, max_delay_ms, instances, seconds, quick)
    of_texts = TextOptions(prompts, texts, arrivals, trace, ttft_slo_ms, itl_slo_ms)
    engine = EngineTuneOptions(of_texts, max_seqs, token_budgets)
    end(search(TuneOptions(with_image(target, image), *asked, out, report, seed, engine)))


@app.command(cls=NamesTargets, epilog=help_text("ab"))
def ab(
    base: Annotated[str, typer.Option(help=f"The base: {TARGETS} [default: the same as --new, or reference].")] = "",
    new: Annotated[str, typer.Option(help="The new side [default: the same as --base].")] = "",
    fail_if_slower: Annotated[str, typer.Option(help="Sides that differ by less than this count as SAME.")] = "5%",
    base_config: Annotated[Path | None, typer.Option(help="The base's config.pbtxt.")] = None,
    new_config: Annotated[Path | None, typer.Option(help="The new side's config.pbtxt.")] = None,
    base_instances: Annotated[int | None, typer.Option(min=1, help="Instances of the base's model [default: 1].")] = None,
    new_instances: Annotated[int | None, typer.Option(min=1, help="Instances of the new side's model [default: 1].")] = None,
    base_python: Annotated[str, typer.Option(help="The base's interpreter, with Batchproof in it.")] = "",
    new_python: Annotated[str, typer.Option(help="The new side's interpreter, with Batchproof in it.")] = "",
    base_rev: Annotated[str, typer.Option(help="A git revision of this folder's repository for the base.")] = "",
    new_rev: Annotated[str, typer.Option(help="The same for the new side [default: the files as they are].")] = "",
    setup: Annotated[str, typer.Option(help="A command to run first in each revision's checkout.")] = "",
    load: Annotated[float, typer.Option(help="Also compare latency, at this share of the base's capacity.")] = 0.0,
    seconds: Annotated[float, typer.Option(help="The longest time to measure; it ends once everything is decided.")] = 60.0,
    work: Annotated[str, typer.Option(help="The model under load: device, accelerator, mlp, text or image.")] = "device",
    form: Annotated[AbFormat, typer.Option("--format", help="What to print on standard output.")] = AbFormat.text,
    report: Annotated[Path | None, typer.Option(help="Report folder [default: reports/out/ab].")] = None,
    workers: Workers = 0,
    workers_from: WorkersFrom = "",
    _awake: Awake = False,
    seed: Seed = 1729,
) -> None:
    """Compare two targets side by side, block by block, and say whether the new one is slower."""
    from batchproof.commands.ab import AbOptions, Crewed, Wanted
    from batchproof.commands.ab import ab as compare

    sides = (
        Wanted(base, base_config, base_instances or 0, base_python, base_rev),
        Wanted(new, new_config, new_instances or 0, new_python, new_rev),
    )
    end(
        compare(
            fail_if_slower,
            AbOptions(
                *sides,
                seconds=seconds,
                load=load,
                work=work,
                setup=setup,
                report=report,
                seed=seed,
                form=form.value,
                crew=Crewed(workers, workers_from),
            ),
        )
    )
