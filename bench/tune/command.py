"""What `batchproof tune` does: from options to an objective, to a measurement, to the answer in words and as a file."""

from __future__ import annotations

import shlex
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rich.box import SIMPLE
from rich.console import Console
from rich.table import Table
from rich.text import Text

from batchproof.bench.calibration import Calibrate
from batchproof.bench.engines.tuning.command import ENGINE_OPTIONS, EngineTuneOptions, engine_measurement, written
from batchproof.bench.engines.tuning.tables import tables as engine_tables
from batchproof.bench.engines.tuning.tuning import Aims, EngineTuning
from batchproof.bench.figures.tune import figures
from batchproof.bench.fit import BATCHES
from batchproof.bench.kinds import KINDS, Kind
from batchproof.bench.measurement import Bench
from batchproof.bench.options import ENGINES, Options, Usage
from batchproof.bench.plan import Measurement
from batchproof.bench.result import Result
from batchproof.bench.run import Judges, run
from batchproof.bench.tables.table import Table as Shown
from batchproof.bench.tune.search import Goal, Traffic
from batchproof.bench.tune.tables import tables
from batchproof.bench.tune.tune import Tuning
from batchproof.bench.tune.tune import measure as measure_tuning
from batchproof.bench.tune.verification import Objective
from batchproof.exit_status import ExitStatus, refuse
from batchproof.host.awake import kept_awake
from batchproof.load.schedule import ScheduleError
from batchproof.load.workload import MS, WORKS
from batchproof.targets.protocol import Misuse

TRIED_S = 0.1  # how much of a pattern is made to see whether it can be played


@dataclass(frozen=True)
class TuneOptions:
    """The options of the command line. Empty or 0: the default of `Objective`, or of --quick."""

    target: str = "reference"
    slo_p99_ms: float = 100.0
    budget_ms: float = 10.0
    traffic: str = "poisson"
    rate: float = 0.0
    work: str = "accelerator"
    max_batch: str = ""
    max_delay_ms: str = ""
    instances: int = 1
    seconds: float = 0.0
    quick: bool = False
    out: Path = Path("config.pbtxt")
    report: Path | None = None
    seed: int = 1729
    engine: EngineTuneOptions = field(default_factory=EngineTuneOptions)

    def suits(self, kind: Kind) -> str:
        """Return why an option makes no sense for this kind of target; empty if all do."""
        if kind is not KINDS["continuous"]:
            given = list(self.engine.words())
            return f"{', '.join(given)}: only engines with continuous batching are tuned for texts" if given else ""
        plain = TuneOptions()
        named = ("slo_p99_ms", "budget_ms", "traffic", "rate", "max_batch", "max_delay_ms", "instances")
        given = ["--" + name.replace("_", "-") for name in named if getattr(self, name) != getattr(plain, name)]
        return f"{', '.join(given)}: that is not for {kind.what}: {ENGINE_OPTIONS} are" if given else ""

    def objective(self) -> Objective:
        """Return the work, the traffic and the goal to tune for; Usage says what is wrong with the options."""
        budget_ns = round((self.slo_p99_ms - self.budget_ms) * MS)
        if budget_ns <= 0:
            why = f"--budget-ms {self.budget_ms:g} leaves nothing of --slo-p99-ms {self.slo_p99_ms:g} for the batcher"
            raise Usage(why)
        if self.work not in {**WORKS, **KINDS["continuous"].works}:
            raise Usage(f"--work {self.work}: choose from {', '.join(WORKS)}; for an engine, {ENGINES}")
        if self.rate < 0 or self.seconds < 0 or self.budget_ms < 0 or self.instances < 1:
            raise Usage("--rate, --seconds and --budget-ms must not be negative, and --instances must be at least 1")
        traffic = Traffic(self.traffic)
        try:
            rate = self.rate or traffic.own_rate or 0.0
            traffic.at(rate or 1000.0, TRIED_S, self.seed)
        except ScheduleError as wrong:
            raise Usage(f"--traffic {self.traffic}: {wrong}") from None
        more: dict[str, Any] = {"candidates": 2, "seconds": 15.0, "simulated_s": 6.0} if self.quick else {}
        more |= {"seconds": self.seconds} if self.seconds else {}
        more |= {"max_batch": tuple(map(int, _numbers("--max-batch", self.max_batch, 1)))} if self.max_batch else {}
        if self.max_delay_ms:
            delays = _numbers("--max-delay-ms", self.max_delay_ms, 0)
            more["delays_ns"] = tuple(round(delay * 1000) * 1000 for delay in delays)
        work = WORKS.get(self.work, WORKS["accelerator"])  # an engine's own work is refused once the target is known
        return Objective(Goal(budget_ns), traffic, work, rate, instances=self.instances, **more)

    def command(self) -> str:
        """Return the command that runs this again."""
        given = {
            "--slo-p99-ms": f"{self.slo_p99_ms:g}",
            "--budget-ms": f"{self.budget_ms:g}",
            "--traffic": self.traffic,
            "--rate": self.rate and f"{self.rate:g}",
            "--work": self.work,
            "--max-batch": self.max_batch,
            "--max-delay-ms": self.max_delay_ms,
            "--instances": self.instances,
            "--seconds": self.seconds and f"{self.seconds:g}",
            "--seed": self.seed,
        }
        if asked := self.engine.words():
            given = {name: given[name] for name in ("--work", "--seconds", "--seed")} | asked
        words = [word for name, value in given.items() if value for word in (name, str(value))]
        flags = [*["--quick"] * self.quick, *["--awake"] * kept_awake()]
        return shlex.join(["batchproof", "tune", "--target", self.target, *flags, *words])


def run_tune(options: TuneOptions, console: Console | None = None, *, judges: Judges | None = None) -> ExitStatus:
    """Tune, and print the answer. FINE: the configuration was written. FAILED: none meets the objective.

    judges: as in `run`.
    """
    console = console or Console(highlight=False, soft_wrap=True)
    try:
        objective, aims = _checked(options)
    except (Usage, Misuse) as wrong:
        return refuse(wrong)
    found: list[Tuning] = []
    of_engine: list[EngineTuning] = []

    def measure(bench: Bench, calibrate: Calibrate) -> Result:
        result = measure_tuning(bench, calibrate, objective)
        if isinstance(result.found, Tuning):
            found.append(result.found)
        return result

    def only(kind: Kind) -> Measurement:
        if why := options.suits(kind):
            raise Usage(why)
        return engine_measurement(aims, of_engine.append) if kind is KINDS["continuous"] else one

    budget = f"{objective.goal.budget_ns / 1e6:g} ms"
    question = f"which configuration serves most with {objective.goal.percent:g} % within {budget}"
    one = Measurement("tune", question, 60, 180, measure, tables, needs=BATCHES, figures=figures)
    report = options.report or Path("reports/out") / f"tune-{''.join(c if c.isalnum() else '-' for c in options.target)}"
    texts = options.engine.texts
    plain = Options(options.target, options.quick, options.work, report=report, seed=options.seed, texts=texts)
    status = run(plain, console, only=only, command=options.command(), judges=judges)
    fine = status == ExitStatus.FINE
    for engine in of_engine:
        tell(engine_tables(engine), engine.says, console)
        if fine and engine.chosen:
            console.print(Text(f"written: {written(engine, options.out)}"))
    for tuning in found:
        tell(tables(tuning), tuning.says, console)
        if fine and tuning.pbtxt:
            options.out.write_text(tuning.pbtxt, encoding="utf-8")
            console.print(Text(f"written: {options.out}"))
    return status


def _checked(options: TuneOptions) -> tuple[Objective, Aims]:
    """Return what to tune for, of a batcher and of an engine; Usage and Misuse say what is wrong with the options."""
    objective, aims = options.objective(), options.engine.aims(quick=options.quick, seconds=options.seconds)
    if options.out.is_dir() or not options.out.absolute().parent.is_dir():
        raise Usage(f"--out {options.out}: name a file in a folder that exists")
    return objective, aims


def tell(shown: Iterable[Shown], says: Iterable[str], console: Console) -> None:
    """Print the tables, then the reasons."""
    for one in shown:
        table = Table(title=one.title, title_justify="left", box=SIMPLE, pad_edge=False)
        for head in one.heads:
            table.add_column(head, no_wrap=True)
        for row in one.rows:
            table.add_row(*("-" if value is None else str(value) for value in row))
        console.print(table)
    for line in says:
        console.print(Text(line))


def _numbers(option: str, text: str, least: float) -> list[float]:
    try:
        found = [float(part) for part in text.split(",")]
    except ValueError:
        raise Usage(f"{option} takes numbers separated by commas, not '{text}'") from None
    if any(not least <= number <= 100_000 for number in found):
        raise Usage(f"{option} {text}: each number must be from {least:g} to 100000")
    return found
