"""Runs a bench: what `batchproof bench` does."""

from __future__ import annotations

import contextlib
import time
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from rich.console import Console

from batchproof.bench.figures.host import figures as host_figures
from batchproof.bench.fit import departures
from batchproof.bench.kinds import Kind, kind_of
from batchproof.bench.measurement import Bench, NotSpreadable, Price
from batchproof.bench.options import Options, Usage
from batchproof.bench.pictures import left_by
from batchproof.bench.plan import Measurement
from batchproof.bench.record import Record
from batchproof.bench.result import Result
from batchproof.bench.tables.table import Table
from batchproof.bench.under_load import PAGE, Look, UnderLoad
from batchproof.bench.view import View
from batchproof.exit_status import ExitStatus, refuse
from batchproof.host.announce import heard_by
from batchproof.host.fingerprint import fingerprint
from batchproof.host.interruption import listen_to_sigterm
from batchproof.host.yardstick import yardstick
from batchproof.load.spread.crew import Crew
from batchproof.load.workload import Skipped, Unmeasured, Work
from batchproof.reports import ReportError
from batchproof.reports.figures import Figure
from batchproof.reports.formats.jsonl import ReportFolderError
from batchproof.reports.wording import line
from batchproof.stats.gates import FAIL, INCONCLUSIVE
from batchproof.targets import BUILT_IN, resolve
from batchproof.targets.lifecycle import close
from batchproof.targets.protocol import Misuse, Target, TargetError, TargetGone, TargetInfo
from batchproof.targets.verbs import FullTarget

__all__ = ["Judges", "Options", "Usage", "run"]

Judges = Callable[[TargetInfo], Look]


class CannotKeep(Exception):
    """The results cannot be written, or read back; the message says what to do."""


def run(
    options: Options,
    console: Console | None = None,
    *,
    only: Callable[[Kind], Measurement] | None = None,
    command: str = "",
    judges: Judges | None = None,
) -> ExitStatus:
    """Measure, with a live view; return the exit status. However it ends, the target is closed.

    only: returns the one measurement for this kind of target, whatever the options say, or raises Usage; command: runs it
    again. judges: given the target's description, returns what judges the load that a model gets; None: nobody does.
    """
    console = console or Console(highlight=False, soft_wrap=True)
    listen_to_sigterm()  # close the target, keep the record
    try:
        options.check()
    except (Usage, Misuse) as wrong:
        return refuse(line(wrong))
    try:
        with _target(options, console) as target, options.crew.crew(console.print) as crew:
            kind = kind_of(target)
            works, chosen = options.works(kind), (only(kind),) if only else options.chosen(kind)
            if why := options.suits(kind):
                raise Usage(why)
            folder = options.report or Path("reports/out") / f"bench-{_folder(options.target, target)}"
            return _Session(options, Record(folder), target, works, chosen, console, command, judges, crew).run()
    except (Usage, Misuse) as error:
        return refuse(line(error))
    except (TargetError, ReportFolderError, CannotKeep) as error:
        return refuse(line(error), ExitStatus.UNAVAILABLE)
    except KeyboardInterrupt:  # before anything was measured
        return refuse("interrupted", ExitStatus.INTERRUPTED)


class _Session:
    """One bench under way."""

    def __init__(
        self,
        options: Options,
        record: Record,
        target: FullTarget,
        works: Sequence[Work],
        chosen: Sequence[Measurement],
        console: Console,
        command: str = "",
        judges: Judges | None = None,
        crew: Crew | None = None,
    ) -> None:
        self.record, self.chosen, self.console, self.plots = record, chosen, console, options.plots
        self.view = View(console, [one.name for one in chosen])
        self.bench = Bench(
            target,
            record,
            quick=options.quick,
            seed=options.seed,
            works=tuple(works),
            slo_ns=round(options.slo_p99_ms * 1e6),
            price=Price(options.price_per_hour, options.currency) if options.price_per_hour else None,
            said=self.view.say,
            under_load=UnderLoad(judges(target.info)) if judges else None,
            crew=crew,
            texts=options.texts.asked(),
        )
        self.kind = kind_of(target)
        self.calibrate: Callable[[Work], Any] = cache(partial(self.kind.calibrated, self.bench))  # each work once
        self.words: list[str] = []
        self.verb = (command or options.command()).split()[1]
        record.writer.header(
            target=target.info.facts(),
            measurements=[one.name for one in chosen],
            works=[work.name for work in works],
            quick=options.quick,
            seed=options.seed,
            slo_ns=self.bench.slo_ns,
            price=vars(self.bench.price) if self.bench.price else None,
            command=command or options.command(),
            host=fingerprint(),
        )  # fmt: skip

    def run(self) -> ExitStatus:
        """Make every measurement that was chosen."""
        info = self.bench.target.info
        lacking = {one.name: why for one in self.chosen if (why := one.lacks(info))}
        expected = sum(one.expected_s(self.bench) for one in self.chosen if one.name not in lacking)
        form = "quick form" if self.bench.quick else "full form (there is --quick)"
        when = "in simulated time" if self.bench.target.simulated else f"takes about {_long(expected)}"
        self.view.print(f"batchproof {self.verb} of {info.name} {info.version}: {form}, {when}")
        for told in _told_first(self.bench, lacking):
            self.view.print(told)
        if find_spec("hdrh") is None:
            self.view.print("no HdrHistogram files: pip install 'batchproof[bench]'")
        reason = ""
        try:
            self._measure_host("before")
            for one in self.chosen:
                self._do(one)
            self._measure_host("after")
        except TargetGone as gone:
            reason = f"the target died: {gone}"
        except KeyboardInterrupt:
            reason = "interrupted"
        except OSError as error:  # those of a measurement are its own affair, so this is the record's
            self.view.stop()
            raise self._lost(error.strerror) from None
        return self._end(reason)

    def _measure_host(self, when: str) -> None:
        """Measure how fast the host itself is; in simulated time that makes no difference."""
        if not self.bench.target.simulated:
            self.record.writer.yardstick(when, [one.facts() for one in host_figures(yardstick(), when)])

    def _lost(self, why: object) -> CannotKeep:
        where = self.record.folder
        with contextlib.suppress(OSError):
            self.record.writer.close()
        return CannotKeep(f"the bench in {where} cannot be written: {why}; make room there, or choose another --report")

    def _do(self, one: Measurement) -> None:
        self.view.begin(one.name, one.question)
        started = time.monotonic()
        tables: tuple[Table, ...] = ()
        figures: tuple[Figure, ...] = ()
        try:
            if lacking := one.lacks(self.bench.target.info):
                raise Skipped(lacking)
            result = one.measure(self.bench, self.calibrate)
            word, tables, figures = word_of(result), one.tables_of(result), one.figures_of(result)
        except Skipped as skipped:
            word, result = "SKIPPED", Result.nothing(str(skipped))
        except (TargetGone, NotSpreadable):
            raise
        except Unmeasured as why:
            word, result = "INVALID", Result.nothing(str(why))
        except Exception as error:
            self.bench.check_alive()
            word, result = "ERROR", Result.nothing(_told(error))
        else:
            result = replace(result, headline=headline_of(word, result))
        if wrong := self.bench.under_load.taken() if self.bench.under_load else []:
            word, result = FAIL, replace(result, headline=f"wrong under load: {wrong[0].wrong}")
            self.record.keep(f"{one.name}-{PAGE}", "\n".join(looked.shown for looked in wrong))
            figures = tuple(replace(figure, valid=False) for figure in figures)  # wrong answers are not served
        seconds = round(time.monotonic() - started, 3)
        self.words.append(word)
        self.record.measurement(one.name, one.question, word, seconds, result, tables, figures)
        self.view.end(one.name, word, seconds, result.headline)

    def _end(self, reason: str) -> ExitStatus:
        ended = ExitStatus.INTERRUPTED if reason == "interrupted" else ExitStatus.FAILED
        status = ended if reason else status_of(self.words)
        with contextlib.suppress(Exception):
            self.record.keep("server.log", self.bench.target.server_log())
        self.view.stop()
        try:
            self.record.writer.footer(status, complete=not reason, reason=reason)
            written = list(left_by(self.record.folder, self.plots))
        except ReportFolderError as error:  # of the charts alone
            raise CannotKeep(str(error)) from None
        except (OSError, ReportError) as error:
            raise self._lost(getattr(error, "strerror", None) or error) from None
        if reason:
            left = [one.name for one in self.chosen if one.name not in self.record.writer.names]
            self.view.print(f"{line(reason.partition(';')[0])}; not measured: {', '.join(left)}")
        load = self.bench.under_load
        if load is not None and load.requests and FAIL not in self.words:
            self.view.print(f"{load.requests} requests judged: {self.kind.right}")
        for told in written:
            self.view.print(told)
        return status


def _told_first(bench: Bench, lacking: Mapping[str, str]) -> Iterator[str]:
    """Yield, before anything is measured, what is left out and in what this bench differs from that of another target."""
    info = bench.target.info
    if lacking:
        why = "; ".join(dict.fromkeys(lacking.values()))
        yield f"left out: {', '.join(lacking)}, because {why}"
    if info.discipline == "dynamic" and (different := departures(info.claims)):
        yield f"fitted to what {info.name} claims: {'; '.join(different)}"
    models = [work.name for work in bench.works if work.model]
    if models and not bench.target.serves_torch:
        yield f"{', '.join(models)}: static times the model alone, because {info.name} does not serve torch modules"


def word_of(result: Result) -> str:
    """Return how a measurement ended: its gate's verdict, INVALID (as a whole, or PARTLY), or simply measured."""
    if result.verdict in (FAIL, INCONCLUSIVE):
        return result.verdict
    if not result.valid:
        return "PARTLY" if result.partly else "INVALID"
    return result.verdict or "measured"


def headline_of(word: str, result: Result) -> str:
    """Return the headline, with the first reason where it is not a result, or not all of it is."""
    if word not in ("INVALID", "PARTLY"):
        return result.headline
    more = len(result.reasons) - 1
    why = result.reasons[0] + (f", and {more} more" if more else "")
    return f"{result.headline}; but {why}" if word == "PARTLY" else f"no result: {why}"


def status_of(words: Sequence[str]) -> ExitStatus:
    """Return the exit status of measurements that ended with these words."""
    if {FAIL, "ERROR"} & set(words):
        return ExitStatus.FAILED
    if not set(words) - {"SKIPPED"}:
        return ExitStatus.NOTHING
    return ExitStatus.INCONCLUSIVE if {INCONCLUSIVE, "INVALID", "PARTLY"} & set(words) else ExitStatus.FINE


@contextlib.contextmanager
def _target(options: Options, console: Console) -> Iterator[FullTarget]:
    """Start the target, and end it whatever happens."""
    view = View(console, ())
    try:
        view.say(f"starting {options.target}")
        with heard_by(lambda what, _done, _total: view.say(what)):
            target = resolve(options.target)
    finally:
        view.stop()
    try:
        yield target
    finally:
        close(target)


def _told(error: Exception) -> str:
    if isinstance(error, TargetError):
        return str(error)
    where = traceback.extract_tb(error.__traceback__)[-1]
    return f"the rig broke: {type(error).__name__}: {error} ({where.name}, line {where.lineno})"


def _folder(word: str, target: Target) -> str:
    name = word.partition("?")[0]
    name = name if name in BUILT_IN else target.info.name
    return "".join(letter if letter.isalnum() or letter in "-." else "-" for letter in name)


def _long(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 120 else f"{seconds / 60:.0f} min"
