"""Runs a comparison of two sides: what `batchproof ab` does."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console

from batchproof.bench.ab.duel import Blocks, Duel, Load, pilot
from batchproof.bench.ab.options import AbOptions, specs
from batchproof.bench.ab.question import BASE, NEW, Answer, Pair, Question, questions
from batchproof.bench.ab.side import Side, Spec, close_all
from batchproof.bench.ab.spread import Spread, WorkerLost
from batchproof.bench.ab.view import ABView
from batchproof.bench.under_load import PAGE
from batchproof.exit_status import ExitStatus, refuse
from batchproof.host.awake import kept_awake
from batchproof.host.interruption import listen_to_sigterm
from batchproof.load.spread.crew import Crew
from batchproof.load.workload import Skipped, Unmeasured, Work
from batchproof.reports import ReportError, ab_markdown
from batchproof.reports.formats.ab import AbWriter
from batchproof.reports.formats.jsonl import ReportFolderError
from batchproof.reports.plots import ab_page
from batchproof.reports.wording import line
from batchproof.stats.change import INVALID, SLOWER, UNPROVEN, Change
from batchproof.targets.protocol import Misuse, TargetError, TargetGone

INTERRUPTED = "interrupted"
FOLDER = Path("reports/out/ab")


def run(options: AbOptions, console: Console | None = None) -> ExitStatus:
    """Compare, with a live view; return the exit status. However it ends, both sides are ended and no checkout is left."""
    console = console or Console(highlight=False, soft_wrap=True, stderr=options.form != "text")
    listen_to_sigterm()
    view = ABView(console)
    try:
        work = options.checked()
        with (
            specs(options) as (wanted, commits),
            _started(wanted, work, view) as sides,
            options.crew.crew(view.print) as crew,
        ):
            return _Session(options, work, sides, commits, view, crew).run()
    except Misuse as error:
        return refuse(line(error))
    except Skipped as why:
        return refuse(line(why), ExitStatus.NOTHING)
    except (TargetError, ReportFolderError, Unmeasured) as error:
        return refuse(line(error), ExitStatus.UNAVAILABLE)
    except KeyboardInterrupt:  # before anything was measured
        return refuse(INTERRUPTED, ExitStatus.INTERRUPTED)
    finally:
        view.stop()


@contextlib.contextmanager
def _started(wanted: Mapping[str, Spec], work: Work, view: ABView) -> Iterator[dict[str, Side]]:
    """Bring both sides up at the same time, and end both whatever happens."""
    sides: dict[str, Side] = {}
    try:
        view.say(f"starting {' and '.join(dict.fromkeys(spec.target for spec in wanted.values()))}")
        for name, spec in wanted.items():
            sides[name] = Side(spec)
            sides[name].begin_serving(work)
        for side in sides.values():
            side.serving()
        yield sides
    finally:
        view.say("ending both sides")
        close_all(list(sides.values()))


class _Session:
    """One comparison under way."""

    def __init__(
        self, options: AbOptions, work: Work, sides: dict[str, Side], commits: Mapping[str, str], view: ABView,
        crew: Crew | None = None,
    ) -> None:
        self.options, self.work, self.sides, self.commits, self.view = options, work, sides, commits, view
        self.blocks: dict[str, Blocks] = dict(sides)
        if crew is not None:
            self.blocks = {name: Spread(name, side, crew) for name, side in sides.items()}
        self.spoilt = False
        self.folder = options.report or FOLDER
        self.wrong: list[str] = []
        self.judged = 0

    def run(self) -> ExitStatus:
        """Find the load, then measure pairs until all is answered."""
        self.view.say("finding the load at which both are saturated")
        configs = [side.about["config"] for side in self.sides.values()]
        batches, rows = (max(config[key] for config in configs) for key in ("instances", "max_batch_size"))
        load = pilot(self.blocks, batches, rows, self.options.load)
        asked = questions(self.work.name, self.options.load)
        writer = self._opened(load, asked)
        duel = Duel(self.blocks, asked, load, self.options.margin, self.options.seconds, self.options.seed)
        self.view.print(self._first_line(asked))
        reason = ""
        try:
            for pair in duel.run():
                self._keep(writer, pair)
                self.view.pair(duel, pair)
        except TargetGone as gone:
            reason = str(gone)
        except WorkerLost as lost:
            reason, self.spoilt = str(lost), True
        except KeyboardInterrupt:
            reason = INTERRUPTED
        except OSError as error:
            writer.close()
            where = f"the comparison in {self.folder} cannot be written: {error.strerror}"
            raise ReportFolderError(f"{where}; make room there, or choose another --report") from None
        return self._end(writer, duel, asked, reason)

    def _opened(self, load: Load, asked: tuple[Question, ...]) -> AbWriter:
        try:
            for derived in (ab_markdown.DOCUMENT, PAGE, "report.html"):
                (self.folder / derived).unlink(missing_ok=True)
        except OSError as error:
            raise ReportFolderError(f"cannot write into {self.folder}: {error.strerror}; choose another --report") from None
        writer, options = AbWriter(self.folder, awake=kept_awake()), self.options
        writer.header(
            target=self.sides[NEW].about["target"],
            **{name: self._side(name) for name in (BASE, NEW)},
            work=self.work.name, margin=options.margin, seconds=options.seconds, load=options.load,
            clients=load.clients, requests=load.requests, rate=load.rate, seed=options.seed,
            questions=[one.name for one in asked], command=options.command(),
        )  # fmt: skip
        return writer

    def _side(self, name: str) -> dict[str, Any]:
        spec, about = self.sides[name].spec, self.sides[name].about
        version = f"{about['target']['name']} {about['target']['version']}".strip()
        said = {"target": spec.target, "version": version, "python": about["python"], "config": about["config"]}
        return {**said, "instances": spec.instances, "revision": spec.revision, "commit": self.commits[name]}

    def _first_line(self, asked: tuple[Question, ...]) -> str:
        sides = " and ".join(f"{name} {self.sides[name].spec.target}" for name in (BASE, NEW))
        wanted = ", ".join(one.name for one in asked)
        return f"batchproof ab of {sides}: {wanted}, for at most {self.options.seconds:g} s"

    def _keep(self, writer: AbWriter, pair: Pair) -> None:
        blocks = {BASE: pair.base, NEW: pair.new}
        for name, block in blocks.items():
            self.judged += block.judged
            if block.wrong:
                self.wrong.append(f"{name}: {block.wrong}\n\n{block.shown}")
        writer.pair(pair.facts())

    def _end(self, writer: AbWriter, duel: Duel, asked: tuple[Question, ...], reason: str) -> ExitStatus:
        answers = [duel.answers[one.name] for one in asked if one.name in duel.answers]
        status = self._status({one.change for one in answers}, reason)
        try:
            for one in answers:
                writer.answer(one.facts())
            if self.wrong:
                (self.folder / PAGE).write_text("\n".join(self.wrong), encoding="utf-8")
            writer.footer(status, complete=not reason, reason=reason)
            page, pictured = ab_markdown.write(self.folder), ab_page.write(self.folder)
        except (OSError, ReportError) as error:
            why = getattr(error, "strerror", None) or error
            raise ReportFolderError(f"the comparison in {self.folder} cannot be written: {why}") from None
        self._tell(answers)
        if reason:
            self.view.print(f"ended early: {line(reason)}; {len(duel.pairs)} pairs are kept")
        self.view.print(f"{page}\n{pictured}")
        if self.options.form == "markdown":
            print(page.read_text(encoding="utf-8"))
        elif self.options.form == "json":
            print(json.dumps([one.facts() for one in answers], indent=2))
        return status

    def _status(self, found: set[Change], reason: str) -> ExitStatus:
        if self.spoilt and not self.wrong:  # a worker that was lost is the doing of neither side
            return ExitStatus.INCONCLUSIVE
        if reason:
            return ExitStatus.INTERRUPTED if reason == INTERRUPTED else ExitStatus.FAILED
        if self.wrong or SLOWER in found:
            return ExitStatus.FAILED
        return ExitStatus.INCONCLUSIVE if found & {INVALID, UNPROVEN} else ExitStatus.FINE

    def _tell(self, answers: Sequence[Answer]) -> None:
        self.view.stop()
        for one in answers:
            self.view.answer(one.change, ab_markdown.sentence(one.facts()))
        if self.wrong:
            first = line(self.wrong[0].partition("\n")[0])
            self.view.print(f"wrong under load, {first}; {self.folder / PAGE} shows it")
        elif self.judged:
            self.view.print(f"{self.judged} requests judged: each result is its own request's, each decision is explained")
