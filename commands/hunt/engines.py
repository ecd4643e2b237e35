"""`batchproof hunt` for engines with continuous batching: random sizes and traffic, every iteration judged, shrinking."""

from __future__ import annotations

import json
import random
import shlex
import sys
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from batchproof.exit_status import ExitStatus, refuse
from batchproof.fixtures.driving.engine_script import EngineScript, play, smaller, to_json
from batchproof.fixtures.driving.engine_space import Levels, drawn, script_of, sizes_of
from batchproof.fixtures.driving.generating import Generating
from batchproof.fixtures.driving.shrinking import smallest
from batchproof.fixtures.evidence import kinds
from batchproof.fixtures.evidence.generations import Generations
from batchproof.fixtures.judging.checkers.continuous.law import LAWS
from batchproof.fixtures.judging.engine_fit import engine_config
from batchproof.fixtures.judging.iterations import KINDS, Wrong, judge_all
from batchproof.host.sentinel import Sentinel
from batchproof.reference_batcher.continuous import EngineConfig
from batchproof.reports.formats import bundle, hunt
from batchproof.reports.wording import clean, count, hanging, line
from batchproof.targets.protocol import TargetError, Unsupported
from batchproof.targets.verbs import FullTarget

if TYPE_CHECKING:
    from batchproof.commands.hunt.command import HuntOptions

WAIT_NS = 10_000_000_000
GONE, BROKEN = "gone", "broken"
MEANINGS = {**KINDS, GONE: "the engine continues to serve", BROKEN: "an engine can be opened and used"}
REPLAYS, TRIES, SHRINK_S = 3, 400, 25.0
WIDTH, EVERY_S = 98, 10.0
MOST_BROKEN = 5  # how many engines in a row may fail to open
MANY = (6, 14, 40)  # requests in a campaign


@dataclass
class EngineHunt:
    """One hunt on an engine. times: in how many campaigns each trouble was found. lacks: what could not be opened."""

    options: HuntOptions
    target: FullTarget
    folder: Path
    times: Counter[str] = field(default_factory=Counter)
    lacks: Counter[str] = field(default_factory=Counter)
    judged: Counter[str] = field(default_factory=Counter)
    campaigns: int = 0
    requests: int = 0
    iterations: int = 0
    began: float = field(default_factory=time.monotonic)

    def __post_init__(self) -> None:
        """Start the file."""
        self.claims = dict(self.target.info.claims)
        self.writer = hunt.HuntWriter(self.folder, more=False)
        self.writer.header(self.target.info.facts(), self.options.seed)
        self._sentinel = Sentinel().start()
        self._told = self.began

    def run(self) -> ExitStatus:
        """Hunt until the time is up, and print what was found."""
        status, reason, broken = ExitStatus.FINE, "", 0
        try:
            while self._more():
                self.campaigns += 1
                draw = random.Random(f"{self.options.seed}:{self.campaigns}")
                levels, many = drawn(draw, self.claims), draw.choice(MANY)
                try:
                    config = engine_config(self.claims, **sizes_of(levels))
                    script = script_of(levels, draw, config.block_size, many)
                    self._take(levels, config, script, self._driven(config, script))
                    broken = 0
                except Unsupported as lack:
                    self.lacks[lack.capability] += 1
                    broken += 1
                if broken >= MOST_BROKEN:
                    status, reason = ExitStatus.NOTHING, f"nothing could be opened: {', '.join(self.lacks)}"
                    break
        except KeyboardInterrupt:
            status, reason = ExitStatus.INTERRUPTED, "interrupted"
        except TargetError as error:
            status, reason = ExitStatus.UNAVAILABLE, str(error)
        finally:
            self._sentinel.stop()
        return self._ended(status, reason)

    def _more(self) -> bool:
        if self.options.first and self.times:
            return False
        if self.options.campaigns:
            return self.campaigns < self.options.campaigns
        return time.monotonic() - self.began < self.options.minutes * 60

    def _driven(self, config: EngineConfig, script: EngineScript) -> Generations:
        """Play a script on a new engine."""
        assert self.target.engine is not None
        engine = self.target.engine(config)
        try:
            on = Generating(engine, config, self.claims, WAIT_NS, self._sentinel)
            play(on, script)
            return on.generations()
        finally:
            engine.close()

    def _take(self, levels: Levels, config: EngineConfig, script: EngineScript, found: Generations) -> None:
        self.requests += len(found.requests)
        self.iterations += len(found.iterations)
        wrong, judged = _wrong(found)
        self.judged.update(judged)
        for kind in dict.fromkeys(one.kind for one in wrong):
            self.times[kind] += 1
            if self.times[kind] == 1:
                first = next(one for one in wrong if one.kind == kind)
                print(self._investigated(levels, config, script, found, first), flush=True)
        if time.monotonic() - self._told > EVERY_S:
            self._told = time.monotonic()
            told = f"{self._told - self.began:.0f} s: {self.campaigns:,} campaigns, {self.iterations:,} iterations, found: "
            print(told + (", ".join(self.times) or "nothing"), file=sys.stderr, flush=True)

    def _investigated(
        self, levels: Levels, config: EngineConfig, script: EngineScript, found: Generations, first: Wrong
    ) -> str:
        """Replay it, shrink it, and write it down."""
        until, last = time.monotonic() + SHRINK_S, (found, first)

        def shows(one: EngineScript) -> bool:
            nonlocal last
            if time.monotonic() > until:
                return False
            try:
                again = self._driven(config, one)
            except TargetError:
                return False
            same = [wrong for wrong in _wrong(again)[0] if wrong.kind == first.kind]
            last = (again, same[0]) if same else last
            return bool(same)

        hits = sum(shows(script) for _ in range(REPLAYS))
        small = smallest(script, shows, smaller, TRIES) if hits == REPLAYS else script
        return self._written(levels, config, small, *last, hits)

    def _written(
        self, levels: Levels, config: EngineConfig, script: EngineScript, found: Generations, first: Wrong, hits: int
    ) -> str:
        rule = next((rule for rule, kinds_ in LAWS.items() if first.kind in kinds_), "")
        info, path = self.target.info, self.folder / f"found-{first.kind}"
        case = {"config": config.facts(), "script": to_json(script), "levels": dict(levels)}
        path.with_suffix(".json").write_text(json.dumps(case, indent=2), encoding="utf-8")
        rows = [
            f"FOUND  {first.kind}: {MEANINGS[first.kind]}",
            *hanging("target", f"{line(info.name)} {line(info.version)} [{info.sight}]"),
            *hanging("config", json.dumps(config.facts())),
            *hanging("happened", line(f"{first.happened} (iteration {first.at})")),
            *hanging("seen", f"in campaign {self.campaigns:,}; again in {hits} of {REPLAYS} replays"),
            *hanging("case", f"{len(script)} steps"),
            *(f"    {step!r}" for step in script[:12]),
            *(f"  {clean(row)[:WIDTH]}" for row in found.picture(WIDTH, first.names, first.at).splitlines()),
        ]
        written = ""
        if rule:
            written = f"{path.name}.zip"
            judgement = {"verdict": "FAIL", "expected": MEANINGS[first.kind], "actual": first.happened}
            content = bundle.Bundle(rule=rule, **kinds.to_json(found), target=info.facts(), seed=self.options.seed,
                                    config=config.facts(), judgement=judgement)  # fmt: skip
            bundle.write(self.folder / written, content, "\n".join(rows))
            replay = f"batchproof check --replay {shlex.quote(str(self.folder / written))}"
            rows.append(f"  {'again':<10}{replay}   # judged again, offline")
        self.writer.line(
            "found", kind=first.kind, rule=rule, campaign=self.campaigns,
            seconds=round(time.monotonic() - self.began, 3), happened=first.happened, allowed=MEANINGS[first.kind],
            reproduced=hits, replays=REPLAYS, case=case, bundle=written,
        )  # fmt: skip
        return "\n".join(rows) + "\n"

    def _ended(self, status: ExitStatus, reason: str) -> ExitStatus:
        if status is ExitStatus.FINE and self.times:
            status = ExitStatus.FAILED
        seconds = time.monotonic() - self.began
        for kind, meaning in MEANINGS.items():
            if kind in self.judged or kind in self.times:
                print(f"{kind:<10} {self.judged[kind]:>10,} judged  {self.times[kind] or '':>4}  {meaning}")
        for lack, times in self.lacks.items():
            print(f"not possible: {line(lack)} ({times})")
        each = f"{count(self.requests, 'request')}, {count(self.iterations, 'iteration')}"
        ending = f"found: {', '.join(self.times)}" if self.times else "nothing found"
        print(f"\n{count(self.campaigns, 'campaign')}, {each}, {seconds:.0f} s: {ending}")
        self.writer.state(
            campaigns=self.campaigns, seconds=round(seconds, 3), deployments=self.campaigns, requests=self.requests,
            batches=self.iterations, decisions=dict(self.judged), points={}, times=dict(self.times), known={}, open={},
            unjudged={}, lacks=dict(self.lacks), exit_status=int(status), reason=reason,
        )  # fmt: skip
        self.writer.close()
        if reason:
            sys.stdout.flush()
            refuse(f"{line(reason)}. What was found is in {self.folder}")
        return status


def hunt_engines(options: HuntOptions, target: FullTarget, folder: Path) -> ExitStatus:
    """Hunt on an engine; return the exit status."""
    if options.resume or options.sequences:
        what = "--resume" if options.resume else "--sequences"
        return refuse(f"{what} is for dynamic batchers, and {target.info.name} is an engine with continuous batching")
    return EngineHunt(options, target, folder).run()


def _wrong(found: Generations) -> tuple[list[Wrong], dict[str, Any]]:
    """Return what is wrong; if the engine was lost, nothing else counts."""
    if found.gone:
        return [Wrong(GONE, len(found.iterations), found.gone.partition("\n")[0])], {}
    wrong, judged = judge_all(found)
    return wrong, judged
