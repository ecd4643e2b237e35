"""`batchproof lab`: the programs that check the instruments: oracle, load generator, simulator, host.

Each verb prints what it measures.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from enum import Enum
from pathlib import Path
from typing import Annotated, NoReturn

import typer

from batchproof.exit_status import ExitStatus, help_text, refuse

STATUSES = help_text("lab")

lab = typer.Typer(no_args_is_help=True, help="Check the instruments: oracle, load generator, simulator, host.")


class Receiver(str, Enum):
    """The names in `load.punctuality.TARGETS`, or both."""

    null = "null"
    reference = "reference"
    both = "both"


Seed = Annotated[int, typer.Option(min=0, help="Seed of everything random.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print all figures as JSON, invalid ones too.")]


@lab.command(epilog=STATUSES)
def theory(
    requests: Annotated[int, typer.Option(min=2000, help="Requests in each of the 20 simulations of a point.")] = 50_000,
    seed: Seed = 1729,
) -> None:
    """Compare the simulator with exact queueing theory."""
    with _one_message():
        from batchproof.bench.oracle.theory_validation import print_table

        wrong = print_table(requests, seed)
    raise typer.Exit(ExitStatus.FAILED if wrong else ExitStatus.FINE)


@lab.command(epilog=STATUSES)
def oracle(
    target: Annotated[str, typer.Option(help="The target, as for check.")] = "reference",
    base_ms: Annotated[float, typer.Option(min=0, max=60_000, help="How long a batch without rows takes, in ms.")] = 20.0,
    row_ms: Annotated[float, typer.Option(min=0.001, max=60_000, help="How much each row in it adds, in ms.")] = 2.0,
    seconds: Annotated[float, typer.Option(min=0.1, max=3600, help="How long each run is, in s.")] = 20.0,
    seed: Seed = 1729,
) -> None:
    """Compare a target with what the simulator predicts for it."""
    with _one_message():
        from batchproof.bench.oracle.target_validation import print_table

        verdicts = print_table(target, base_ms=base_ms, row_ms=row_ms, seconds=seconds, seed=seed)
    raise typer.Exit(_status_of(verdicts))


@lab.command(epilog=STATUSES)
def punctuality(
    rate: Annotated[float, typer.Option(min=0.001, max=1e7, help="Requests per second.")] = 20_000.0,
    seconds: Annotated[float, typer.Option(min=0.01, max=3600, help="How long each run is, in s.")] = 5.0,
    busy: Annotated[int, typer.Option(min=0, help="Threads of pure Python that compute at the same time.")] = 0,
    apart: Annotated[bool, typer.Option("--apart", help="Run the generator in its own process.")] = False,
    target: Annotated[Receiver, typer.Option(help="What receives the load.")] = Receiver.both,
    seed: Seed = 1,
) -> None:
    """Measure how late the load generator sends on this machine."""
    with _one_message():
        from batchproof.load.punctuality import TARGETS, print_lag

        names = tuple(TARGETS) if target is Receiver.both else (target.value,)
        valid = print_lag(names, rate=rate, seconds=seconds, seed=seed, threads=busy, apart=apart)
    raise typer.Exit(ExitStatus.FINE if valid else ExitStatus.INCONCLUSIVE)


@lab.command("punctual-rate", epilog=STATUSES)
def punctual_rate(
    target: Annotated[str, typer.Option(help="null, which answers at once, or a target as for check.")] = "null",
    lag_ms: Annotated[float, typer.Option(min=0.01, max=1000, help="What the p99 of the send lag may be, in ms.")] = 1.0,
    seconds: Annotated[float, typer.Option(min=0.5, max=600, help="How long each run is, in s.")] = 2.0,
    seed: Seed = 1,
) -> None:
    """Find how many requests per second this machine sends on time."""
    with _one_message():
        from batchproof.load.punctual_rate import print_rate

        found = print_rate(target, limit_ms=lag_ms, seconds=seconds, seed=seed)
    raise typer.Exit(ExitStatus.FINE if found else ExitStatus.INCONCLUSIVE)


@lab.command(epilog=STATUSES)
def peers(
    quick: Annotated[bool, typer.Option("--quick", help="30 s instead of 4 minutes.")] = False,
    as_json: AsJson = False,
    triton: Annotated[bool, typer.Option("--triton", help="Add the embedded Triton, over gRPC.")] = False,
) -> None:
    """Compare the reference batcher with other batching libraries."""
    with _one_message():
        from batchproof.bench.peers.comparison import print_comparison

        valid = print_comparison(quick=quick, as_json=as_json, with_triton=triton)
    raise typer.Exit(ExitStatus.FINE if valid else ExitStatus.INCONCLUSIVE)


@lab.command("acceptor-speed", epilog=STATUSES)
def acceptor_speed() -> None:
    """Measure how many requests the acceptor judges in a second."""
    from batchproof.commands.acceptor_speed import print_table

    raise typer.Exit(ExitStatus.FINE if print_table() else ExitStatus.FAILED)


@lab.command("adapter-lines", epilog=STATUSES)
def adapter_lines() -> None:
    """Count the lines of code of the adapters that come with Batchproof."""
    from batchproof.commands.adapter.lines import print_rows

    print_rows()


@lab.command("reference-speed", epilog=STATUSES)
def reference_speed(
    quick: Annotated[bool, typer.Option("--quick", help="15 s instead of 90 s.")] = False, as_json: AsJson = False
) -> None:
    """Measure how fast the reference batcher is."""
    with _one_message():
        from batchproof.bench.peers.reference_speed import print_speed

        valid = print_speed(quick=quick, as_json=as_json)
    raise typer.Exit(ExitStatus.FINE if valid else ExitStatus.INCONCLUSIVE)


@lab.command("second-opinions", epilog=STATUSES)
def second_opinions(
    target: Annotated[
        str, typer.Option(help="triton (the embedded one), grpc://host:port, or a server of texts: openai:http://host:port.")
    ] = "triton",
    quick: Annotated[bool, typer.Option("--quick", help="2 rounds of 5 s instead of 5 of 8 s.")] = False,
    rounds: Annotated[int, typer.Option(min=0, help="How many rounds [default: 5, with --quick 2].")] = 0,
    seconds: Annotated[
        float, typer.Option(min=0, max=3600, help="How long each run is, in s [default: 8, with --quick 5].")
    ] = 0.0,
    json_file: Annotated[Path | None, typer.Option("--json", help="Write all figures to this file.")] = None,
    guidellm: Annotated[str, typer.Option(help="With openai:...: the program [default: on the PATH].")] = "",
    tokenizer: Annotated[str, typer.Option(help="With openai:...: of the model [default: the model's name].")] = "",
) -> None:
    """Compare our load generator with others."""
    if target.startswith("openai:"):
        _of_texts(target, guidellm, tokenizer, rounds or (2 if quick else 5), seconds or (5.0 if quick else 8.0), json_file)
    with _one_message():
        from batchproof.load.second_opinion.rounds import print_agreement

        verdicts = print_agreement(target, quick=quick, rounds=rounds, seconds=seconds, json_file=json_file)
    raise typer.Exit(_status_of(verdicts))


def _of_texts(target: str, program: str, tokenizer: str, rounds: int, seconds: float, json_file: Path | None) -> NoReturn:
    """Compare our load of texts with guidellm's, and end."""
    from batchproof.load.second_opinion.opinion import ToolMissing

    with _one_message():
        from batchproof.load.second_opinion.texts import agreement

        try:
            found = agreement(target, program, tokenizer, rounds, seconds)
        except ToolMissing as missing:
            _refuse(str(missing), ExitStatus.MISUSE)
        if json_file is not None:
            json_file.write_text(json.dumps(found.facts(), indent=1), encoding="utf-8")
    print("\n".join(found.lines()))
    raise typer.Exit(_status_of({found.verdict}))


@lab.command(epilog=STATUSES)
def spread(
    workers: Annotated[int, typer.Option(min=1, max=64, help="Workers, each in its own network namespace.")] = 4,
    delay_ms: Annotated[float, typer.Option(min=0, max=1000, help="The one-way delay to each, in ms.")] = 5.0,
    rate: Annotated[float, typer.Option(min=1, max=1e5, help="Requests per second, of all workers together.")] = 100.0,
    seconds: Annotated[float, typer.Option(min=5, max=600, help="How long each run is, in s.")] = 20.0,
    rounds: Annotated[int, typer.Option(min=1, max=100, help="How often both are measured.")] = 5,
    json_file: Annotated[Path | None, typer.Option("--json", help="Write all figures to this file.")] = None,
    seed: Seed = 1,
) -> None:
    """Compare the load from several distant workers on an embedded Triton with the same load from one machine."""
    with _one_message():
        from batchproof.load.spread.lab.comparison import Order
        from batchproof.load.spread.lab.in_a_network import print_comparison
        from batchproof.load.spread.lab.network import NoNetwork

        into = str(json_file.absolute()) if json_file else ""
        order = Order((), round(delay_ms * 1e6), rate, seconds, rounds, seed, into)
        try:
            status = print_comparison(order, workers)
        except NoNetwork as why:
            _refuse(f"skipped: {why}", ExitStatus.NOTHING)
    raise typer.Exit(status)


@lab.command("history-speed", epilog=STATUSES)
def history_speed(
    store: Annotated[str, typer.Option(help="A new history, as for `history`.")],
    runs: Annotated[int, typer.Option(min=10, max=10_000_000, help="How many runs it has.")] = 100_000,
    figures: Annotated[int, typer.Option(min=1, max=1000, help="How many figures each of them has.")] = 50,
) -> None:
    """Make a large history, and measure how long its queries take."""
    from batchproof.reports.history import HistoryError, HistoryUnavailable

    with _one_message():
        try:
            from batchproof.reports.history.speed import print_table

            print_table(store, runs, figures)
        except HistoryUnavailable as why:
            _refuse(str(why), ExitStatus.UNAVAILABLE)
        except HistoryError as why:
            _refuse(str(why), ExitStatus.MISUSE)


@lab.command("simulator-speed", epilog=STATUSES)
def simulator_speed(
    requests: Annotated[int, typer.Option(min=1, max=10_000_000, help="Requests in each simulation.")] = 200_000,
) -> None:
    """Measure how many requests per second the simulator processes on one core."""
    with _one_message():
        from batchproof.bench.oracle.simulator_speed import print_table

        print_table(requests)


@lab.command("change-points", epilog=STATUSES)
def change_points(
    series: Annotated[int, typer.Option(min=1, max=100_000, help="How many series of each kind.")] = 500,
    spread: Annotated[float, typer.Option(min=0, max=1, help="Standard deviation of a run, as a fraction.")] = 0.02,
    min_change: Annotated[float, typer.Option(min=0, max=1, help="As for `history changes`.")] = 0.02,
    seed: Seed = 1729,
) -> None:
    """Measure how often `history changes` is wrong, on series whose changes are known."""
    from batchproof.stats.change_points import OtavaMissing

    with _one_message():
        from batchproof.stats.change_point_rates import print_table

        try:
            print_table(series, spread=spread, least_change=min_change, seed=seed)
        except OtavaMissing as missing:
            _refuse(str(missing), ExitStatus.MISUSE)


@lab.command("compare-rates", epilog=STATUSES)
def compare_rates(
    base: Annotated[Path, typer.Argument(help="A folder of report folders: runs of one target.")],
    new: Annotated[
        Path | None, typer.Argument(help="Runs with a known difference [default: compare the base's with each other].")
    ] = None,
    each: Annotated[int, typer.Option(min=1, help="Runs per side.")] = 1,
    fail_if_slower: Annotated[str, typer.Option(help="The margin, as for compare.")] = "5%",
    figures: Annotated[str, typer.Option(help="Only these figures, as for compare.")] = "",
) -> None:
    """Count how `batchproof compare` answers for stored runs: how often it is wrong on this machine."""
    with _one_message():
        from batchproof.commands.compare_rates import print_rates

        status = print_rates(base, new, each, fail_if_slower, figures)
    raise typer.Exit(status)


@lab.command("compare-power", epilog=STATUSES)
def compare_power(
    slower: Annotated[str, typer.Option(help="By how much the new side is slower.")] = "5%",
    fail_if_slower: Annotated[str, typer.Option(help="The margin, as for compare.")] = "5%",
    run_spread: Annotated[str, typer.Option(help="What is assumed of one run per side, as for compare.")] = "2%",
    comparisons: Annotated[int, typer.Option(min=1, max=100_000, help="Comparisons for each number.")] = 1000,
    seed: Seed = 1729,
) -> None:
    """Simulate how often `batchproof compare` finds a slow-down, and how often it is wrong, by runs and their spread."""
    with _one_message():
        from batchproof.commands.compare_power import print_power

        status = print_power(slower, fail_if_slower, run_spread, comparisons, seed)
    raise typer.Exit(status)


@lab.command(epilog=STATUSES)
def configurations(
    folder: Annotated[Path, typer.Argument(exists=True, file_okay=False, help="Where the config.pbtxt files are.")],
    mutants: Annotated[int, typer.Option(min=0, max=100_000, help="Judge this many mutants of each file instead.")] = 0,
    seed: Seed = 1729,
    write: Annotated[
        Path | None, typer.Option(dir_okay=False, help="Write every verdict to this file, as lines of JSON.")
    ] = None,
) -> None:
    """Compare `batchproof lint` with what an embedded Triton does with each configuration below a folder."""
    with _one_message():
        from batchproof.commands.configurations import agreement

        files = list(agreement.configurations(folder))
        if not files:
            _refuse(f"there is no file with .pbtxt in its name below {folder}", ExitStatus.MISUSE)
        servers = agreement.Servers()
        try:
            judging = agreement.judge_mutants(servers, files, mutants, seed) if mutants else agreement.judge(servers, files)
            judged = list(judging)
        finally:
            servers.close()
    print(agreement.table(judged))
    if found := agreement.disagreements(judged):
        print(f"\n{found}")
    if write is not None:
        agreement.write(judged, write)
    raise typer.Exit(ExitStatus.FAILED if found else ExitStatus.FINE)


@lab.command(epilog=STATUSES)
def gates(
    folder: Annotated[Path, typer.Argument(file_okay=False, help="Where the decisions are kept; more are added to it.")],
    target: Annotated[str, typer.Option(help="reference, triton, or both, separated by a comma.")] = "reference",
    percent: Annotated[str, typer.Option(help="By how much the new side is slower; 0: not at all (A/A).")] = "0,5",
    decisions: Annotated[int, typer.Option(min=0, help="How many to reach, of each; 0: only print the tables.")] = 0,
    busy: Annotated[int, typer.Option(min=0, max=64, help="Processes that compute at the same time.")] = 0,
    margin: Annotated[
        float, typer.Option(min=0.001, max=0.5, help="The margin, like `ab --fail-if-slower`, as a fraction.")
    ] = 0.05,
    seconds: Annotated[float, typer.Option(min=1, max=3600, help="How long each may measure.")] = 60.0,
) -> None:
    """Repeat comparisons whose answer is known, and count how often `ab` and other rules are wrong."""
    with _one_message():
        from batchproof.bench.ab.gates.lab import print_gates
        from batchproof.bench.ab.gates.trials import Setting

        setting = Setting(busy, margin, seconds)
        try:
            percents = [float(one) for one in percent.split(",")]
            print_gates(target.split(","), percents, setting, decisions, folder)
        except ValueError as wrong:
            _refuse(str(wrong), ExitStatus.MISUSE)


@lab.command(context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False})
def awake(command: Annotated[list[str], typer.Argument(help="The command and its arguments.")]) -> None:
    """Run a command while a virtual machine's processors are kept awake, and exit with its status."""
    from batchproof.host.awake import CannotKeepAwake, run_awake

    try:
        raise typer.Exit(run_awake(command))
    except OSError as error:
        _refuse(f"cannot run {command[0]}: {error.strerror}", ExitStatus.MISUSE)
    except CannotKeepAwake as why:
        _refuse(str(why), ExitStatus.MISUSE)


def _status_of(verdicts: set[str]) -> ExitStatus:
    """One FAIL decides. Otherwise one PASS is enough, because an INCONCLUSIVE may be due to the host."""
    return ExitStatus.FAILED if "FAIL" in verdicts else ExitStatus.FINE if "PASS" in verdicts else ExitStatus.INCONCLUSIVE


@contextmanager
def _one_message() -> Iterator[None]:
    """Turn an error into one line and an exit status. SIGTERM acts like Ctrl-C, so that everything is closed."""
    from batchproof.host.interruption import listen_to_sigterm
    from batchproof.load.schedule import ScheduleError
    from batchproof.targets.protocol import Misuse, TargetError, Unsupported

    listen_to_sigterm()
    try:
        yield
    except Misuse as error:
        _refuse(str(error), ExitStatus.MISUSE)
    except TargetError as error:
        _refuse(str(error), ExitStatus.UNAVAILABLE)
    except Unsupported as lack:
        _refuse(f"the target does not support {lack.capability}", ExitStatus.NOTHING)
    except (ScheduleError, OSError) as error:
        _refuse(str(error), ExitStatus.MISUSE)
    except KeyboardInterrupt:
        _refuse("interrupted", ExitStatus.INTERRUPTED)


def _refuse(message: str, status: ExitStatus) -> NoReturn:
    sys.stdout.flush()
    raise typer.Exit(refuse(message, status))
