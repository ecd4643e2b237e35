"""`batchproof hunt`: drives, judges, keeps, shrinks, writes and prints, until its time is over."""

from __future__ import annotations

import json
import logging
import shlex
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from batchproof.commands.hunt.corpus import Corpus, Kept
from batchproof.commands.hunt.engines import hunt_engines
from batchproof.commands.hunt.found import Found, investigated, measured_again, program
from batchproof.commands.hunt.ground import Ground
from batchproof.commands.hunt.judges import DIED, MEANINGS, Trouble
from batchproof.commands.hunt.reached import Coverage
from batchproof.commands.hunt.rounds import Driven, NothingToHunt, Rounds, longest_of
from batchproof.commands.hunt.table import summary, table
from batchproof.exit_status import ExitStatus, refuse
from batchproof.fixtures.driving.features import features_of
from batchproof.fixtures.driving.phases import Phase
from batchproof.fixtures.driving.sequence_features import steps_features_of
from batchproof.fixtures.evidence import kinds
from batchproof.fixtures.evidence.timeline import Timeline
from batchproof.fixtures.judging.declarations import (
    SHIPPED_KNOWN_ISSUES,
    DeclarationError,
    KnownDecision,
    known_deaths,
    known_decisions,
    with_claims,
)
from batchproof.fixtures.judging.verdicts import Verdict
from batchproof.fixtures.reporter import shown
from batchproof.host.interruption import listen_to_sigterm
from batchproof.reference_batcher.config import BatcherConfig
from batchproof.reference_batcher.errors import ConfigError
from batchproof.reports.formats import bundle, hunt
from batchproof.reports.formats.jsonl import ReportError
from batchproof.reports.wording import clean, count, hanging, line
from batchproof.targets.claims import unmet
from batchproof.targets.protocol import Misuse, TargetError

EVERY_S = 10.0  # between two lines about where the hunt stands


@dataclass(frozen=True)
class HuntOptions:
    """The options of the command line.

    campaigns: 0: as many as the time allows. corpus: None: in reports/out. sequences: requests form sequences.
    """

    target: str
    minutes: float = 5.0
    campaigns: int = 0
    seed: int = 1729
    corpus: Path | None = None
    resume: bool = False
    first: bool = False
    claims: Path | None = None
    sequences: bool = False


def hunt_on(options: HuntOptions) -> ExitStatus:
    """Hunt; return the exit status."""
    from batchproof.targets import resolve

    listen_to_sigterm()  # end the target, keep what was found
    folder = options.corpus or Path("reports/out") / f"hunt-{_word(options.target)}"
    try:
        before = hunt.read(folder) if options.resume else None
        target = resolve(options.target)
    except ReportError as error:
        return refuse(f"cannot continue: {error}; hunt without --resume, or choose another --corpus")
    except Misuse as error:
        return refuse(error)
    except TargetError as error:
        return refuse(error, ExitStatus.UNAVAILABLE)
    except KeyboardInterrupt:
        return refuse("interrupted before the hunt began", ExitStatus.INTERRUPTED)
    try:
        with _quiet(), Ground(target) as ground:
            return _hunted(options, ground, folder, before)
    except (DeclarationError, ReportError) as error:
        return refuse(error)
    except KeyboardInterrupt:
        return refuse("interrupted before the hunt began", ExitStatus.INTERRUPTED)
    except OSError as error:
        what = f"cannot write into {folder}: {error.strerror}; make room, or choose another --corpus"
        return refuse(what, ExitStatus.UNAVAILABLE)


def _hunted(options: HuntOptions, ground: Ground, folder: Path, before: hunt.HuntFile | None) -> ExitStatus:
    if options.claims:
        ground.target.info = with_claims(ground.target.info, options.claims)
        ground.claims = dict(ground.target.info.claims)
    if ground.target.engine is not None:
        return hunt_engines(options, ground.target, folder)
    return Hunt(options, ground, folder, before).run()


@contextmanager
def _quiet() -> Iterator[None]:
    """Print nothing of what a stack in this process logs: each batch that is asked to fail, for instance."""
    logging.disable(logging.CRITICAL)
    try:
        yield
    finally:
        logging.disable(logging.NOTSET)


def _word(target: str) -> str:
    return "".join(one if one.isalnum() or one in "-_." else "-" for one in target)[:60].strip("-.")


@dataclass
class Hunt:
    """One hunt. times, known, open: in how many campaigns each kind of trouble was found, is known, or stayed open."""

    options: HuntOptions
    ground: Ground
    folder: Path
    before: hunt.HuntFile | None
    times: Counter[str] = field(default_factory=Counter)
    known: Counter[str] = field(default_factory=Counter)
    open: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        """Take up what an earlier hunt has left."""
        self.coverage = Coverage()
        self.corpus = Corpus(self.ground.claims, self.coverage, longest_of(self.ground), steps=self.options.sequences)
        self.rounds = Rounds(self.ground, self.corpus, self.coverage, self.options.seed)
        self._decisions = known_decisions(SHIPPED_KNOWN_ISSUES)
        self._deaths = known_deaths(SHIPPED_KNOWN_ISSUES)
        self._began = self._told = time.monotonic()
        self._earlier_s = 0.0
        if self.before:
            self._take_up(self.before)
        self.writer = hunt.HuntWriter(self.folder, more=self.before is not None)
        if self.before is None:
            self.writer.header(self.ground.target.info.facts(), self.options.seed)

    def run(self) -> ExitStatus:
        """Hunt until the time is over; print and write what was found, whatever ends it."""
        status, reason = ExitStatus.FINE, ""
        try:
            for one in self.rounds.driven(self._more):
                self._take(one)
            status, reason = (
                (ExitStatus.FAILED, f"the target died: {self.rounds.gone}") if self.rounds.gone else (status, "")
            )
        except KeyboardInterrupt:
            status, reason = ExitStatus.INTERRUPTED, "interrupted"
        except NothingToHunt as lack:
            status, reason = ExitStatus.NOTHING, f"nothing could be deployed: the target does not support {lack}"
        except TargetError as error:
            status, reason = ExitStatus.UNAVAILABLE, str(error)
        except OSError as error:
            what = f"cannot write into {self.folder}: {error.strerror}; make room, or choose another --corpus"
            status, reason = ExitStatus.UNAVAILABLE, what
        return self._ended(status, reason)

    @property
    def seconds(self) -> float:
        """How long it has taken, earlier parts included."""
        return self._earlier_s + time.monotonic() - self._began

    def _more(self) -> bool:
        options = self.options
        if options.first and self.times:
            return False
        if options.campaigns:
            return self.coverage.campaigns < options.campaigns
        return time.monotonic() - self._began < options.minutes * 60

    def _take(self, one: Driven) -> None:
        """Keep, tell and count one campaign."""
        if one.new and one.campaign.phases and not one.judged.troubles:
            phases = [phase.to_json() for phase in one.campaign.phases]
            reached = [list(point) for point in one.new]
            self.writer.line("kept", campaign=one.number, config=one.campaign.config.facts(), phases=phases, reached=reached)
        for trouble in one.judged.worst():
            self._trouble(one, trouble)
        if time.monotonic() - self._told > EVERY_S:
            self._told = time.monotonic()
            self._state(None, "")
            _say(f"{self.seconds:.0f} s: {self.coverage.campaigns:,} campaigns, {len(self.corpus.kept)} kept, "
                 f"found: {', '.join(self.times) or 'nothing'}")  # fmt: skip

    def _trouble(self, one: Driven, trouble: Trouble) -> None:
        if known := self._explained(one, trouble):
            self._known(known)
            return
        if trouble.verdict is Verdict.INCONCLUSIVE:
            verdict = measured_again(self.ground, one, trouble.kind)
            if verdict is Verdict.INCONCLUSIVE:
                self.open[trouble.kind] += 1
            if verdict is not Verdict.FAIL:
                return
        if self.times[trouble.kind]:
            self.times[trouble.kind] += 1
            return
        found = investigated(self.ground, one, trouble, self.seconds)
        if not self.ground.simulated and found.by_the_host:
            self.open[trouble.kind] += 1
            _say(f"left open: {trouble.kind}: {line(trouble.happened)}, in none of {found.replays} replays")
            return
        self.times[trouble.kind] = 1
        print(self._written(found), flush=True)

    def _explained(self, one: Driven, trouble: Trouble) -> KnownDecision | None:
        """Return the known decision, or way to die, that explains a trouble with this configuration."""
        info, config = self.ground.target.info, one.campaign.config
        if trouble.kind == DIED:
            death = next((death for death in self._deaths if death.explains(info, trouble.happened)), None)
            return KnownDecision(DIED, death.target, death.versions, death.reason, death.link) if death else None
        features = features_of(config) if config.sequence is None else steps_features_of(config)
        return next((known for known in self._decisions if known.explains(info, trouble.kind, features)), None)

    def _known(self, known: KnownDecision) -> None:
        """Count it; name it when it comes up first."""
        name = f"{known.kind} ({known.link})"
        if not self.known[name]:
            print(f"KNOWN  {known.kind}: {known.reason} ({known.link})\n", flush=True)
        self.known[name] += 1

    def _written(self, found: Found) -> str:
        """Write a counterexample into the folder; return it for people."""
        trouble, path = found.trouble, f"found-{found.trouble.kind}"
        info = self.ground.target.info
        case, script = self.folder / f"{path}.json", self.folder / f"{path}.py"
        case.write_text(json.dumps(found.case.to_json(), indent=2), encoding="utf-8")
        script.write_text(program(found.case, self.options.target, str(case)) + "\n", encoding="utf-8")
        again = f"{found.reproduced} of {found.replays} replays" if found.replays else "not replayed"
        steps = len(found.case.script)
        rows = [
            f"FOUND  {trouble.kind}: {MEANINGS[trouble.kind]}",
            *hanging("target", f"{line(info.name)} {line(info.version)} [{info.sight}]"),
            *hanging("config", json.dumps(found.case.config.facts())),
            *hanging("allowed", line(trouble.allowed)),
            *hanging("happened", line(trouble.happened)),
            *hanging("seen", f"after {found.seconds:.1f} s, in campaign {found.campaign:,}; again in {again}"),
            *hanging("history", "it needs what came before it on its deployment" if found.history else ""),
            *hanging("case", f"{steps} steps"),
        ]
        written = ""
        if found.timeline is not None:
            rows += [f"  {clean(row)[:98]}" for row in shown(found.timeline, trouble.names)["picture"]]
            self._page(self.folder / f"{path}.html", found, found.timeline, script)
        if found.timeline is not None and found.rule:
            written = f"{path}.zip"
            self._bundle(self.folder / written, found, "\n".join(rows))
            replay = f"batchproof check --replay {shlex.quote(str(self.folder / written))}"
            rows.append(f"  {'again':<10}{replay}   # judged again, offline")
        rows += [f"  {'program':<10}python {shlex.quote(str(script))}", *(f"    {text}" for text in _short(script))]
        self.writer.line(
            "found", kind=trouble.kind, rule=found.rule, campaign=found.campaign, seconds=round(found.seconds, 3),
            happened=trouble.happened, allowed=trouble.allowed,
            reproduced=found.reproduced, replays=found.replays, case=found.case.to_json(), bundle=written,
        )  # fmt: skip
        return "\n".join(rows) + "\n"

    def _page(self, path: Path, found: Found, timeline: Timeline, script: Path) -> None:
        """Write the counterexample as a page, with a picture of its timeline."""
        from batchproof.reports.html.case import to_html

        trouble, info = found.trouble, self.ground.target.info
        facts = [
            ("Target", f"{info.name} {info.version}"),
            ("Configuration", json.dumps(found.case.config.facts())),
            ("Allowed", trouble.allowed),
            ("Happened", trouble.happened),
        ]
        title = f"FOUND {trouble.kind}: {MEANINGS[trouble.kind]}"
        again = f"python {shlex.quote(str(script))}"
        text = to_html(title, facts, [("Timeline", timeline.to_json())], about=trouble.names, again=again)
        path.write_text(text, encoding="utf-8")

    def _bundle(self, path: Path, found: Found, text: str) -> None:
        trouble = found.trouble
        content = bundle.Bundle(
            rule=found.rule,
            **kinds.to_json(found.timeline),
            target=self.ground.target.info.facts(),
            seed=self.options.seed,
            config=found.case.config.facts(),
            judgement={"verdict": "FAIL", "expected": trouble.allowed, "actual": trouble.happened},
        )
        bundle.write(path, content, text)

    def _state(self, status: ExitStatus | None, reason: str) -> None:
        coverage = self.coverage
        points = {point[0]: number for point, number in coverage.points.items() if len(point) == 1}
        self.writer.state(
            campaigns=self.rounds.number - 1, seconds=round(self.seconds, 3), deployments=coverage.deployments,
            requests=coverage.requests, batches=coverage.batches, decisions=coverage.decisions, points=points,
            times=dict(self.times), known=dict(self.known), open=dict(self.open), unjudged=dict(self.rounds.unjudged),
            lacks=dict(self.rounds.lacks), exit_status=None if status is None else int(status), reason=reason,
        )  # fmt: skip

    def _ended(self, status: ExitStatus, reason: str) -> ExitStatus:
        """Print the table, and write how it ended."""
        if status is ExitStatus.FINE:
            status = self._status()
        print(table(self.coverage, self.ground.claims, self.rounds.lacks))
        print(f"\n{summary(self.coverage, self.seconds, self.times)}")
        for name, number in self.known.items():
            print(f"known: {name} in {count(number, 'campaign')}")
        for what, counted in (
            ("left open, also when measured again", self.open),
            ("could not be judged", self.rounds.unjudged),
        ):
            for name, number in counted.items():
                print(f"{what}: {line(name)} ({number})")
        try:
            self._state(status, reason)
            self.writer.close()
        except OSError as error:
            reason = reason or f"cannot write into {self.folder}: {error.strerror}; make room, or choose another --corpus"
            status = ExitStatus.UNAVAILABLE
        if reason:
            sys.stdout.flush()
            refuse(f"{line(reason)}. What was found is in {self.folder}; continue with --resume --corpus {self.folder}")
        return status

    def _status(self) -> ExitStatus:
        if self.times:
            return ExitStatus.FAILED
        return ExitStatus.INCONCLUSIVE if self.open or self.rounds.unjudged else ExitStatus.FINE

    def _take_up(self, before: hunt.HuntFile) -> None:
        """Go on where an earlier hunt stopped."""
        name = self.ground.target.info.name
        if before.header["target"]["name"] != name:
            theirs = before.header["target"]["name"]
            raise ReportError(
                f"{self.folder} has the corpus of a hunt on {line(theirs)}, not on {name}: choose another --corpus"
            )
        for text in before.damaged:
            _say(f"skipped in {self.folder / hunt.FILE}: {text}")
        self.rounds.number = before.campaigns + 1
        for one in before.kept:
            self._take_kept(one)
        for one in before.found:
            self.times[one["kind"]] += 1
        if state := before.state:
            self._take_state(state)

    def _take_kept(self, one: Any) -> None:
        try:
            config = BatcherConfig.from_facts(one["config"])
            phases = tuple(Phase.from_json(phase) for phase in one["phases"])
        except (ConfigError, ValueError) as error:
            _say(f"skipped in {self.folder / hunt.FILE}: campaign {one['campaign']}: {error}")
            return
        reached = tuple(tuple(point) for point in one["reached"])
        for point in reached:
            self.coverage.points.setdefault(point, 1)
        if not unmet(self.ground.claims, config.features()) and (config.sequence is not None) == self.options.sequences:
            self.corpus.keep(Kept(config, phases, reached))

    def _take_state(self, state: Any) -> None:
        coverage = self.coverage
        self._earlier_s = state["seconds"]
        coverage.deployments, coverage.requests, coverage.batches = (
            state[name] for name in ("deployments", "requests", "batches")
        )
        coverage.campaigns, coverage.decisions = state["campaigns"], dict(state["decisions"])
        coverage.points.update({(name,): number for name, number in state["points"].items()})
        for mine, theirs in (
            (self.times, "times"),
            (self.known, "known"),
            (self.open, "open"),
            (self.rounds.unjudged, "unjudged"),
            (self.rounds.lacks, "lacks"),
        ):
            mine.clear()
            mine.update(state[theirs])


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def _short(script: Path) -> list[str]:
    return [text for text in script.read_text(encoding="utf-8").splitlines() if text.strip()]
