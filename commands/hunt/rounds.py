"""One deployment after another, several campaigns on each: what is driven, what is judged, and what it reached."""

from __future__ import annotations

import random
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from batchproof.commands.hunt.corpus import Corpus, Kept
from batchproof.commands.hunt.ground import Ground
from batchproof.commands.hunt.judges import BROKEN, DIED, Judged, Trouble, apart, comparable, differs, judge
from batchproof.commands.hunt.reached import Coverage, Point, reached
from batchproof.fixtures.driving.campaign import Campaign
from batchproof.fixtures.driving.case import Case, run_case
from batchproof.fixtures.driving.covering import gated_case
from batchproof.fixtures.driving.phases import Means, Phase
from batchproof.fixtures.driving.sequence_features import gated_steps_case
from batchproof.fixtures.driving.traffic import traffic_of
from batchproof.fixtures.evidence.timeline import Timeline
from batchproof.fixtures.judging.verdicts import Verdict
from batchproof.reference_batcher.config import BatcherConfig
from batchproof.targets.protocol import TargetError, TargetGone, Unsupported
from batchproof.targets.verbs import FullDeployment
from batchproof.targets.virtual import VirtualTarget

MOST_CAMPAIGNS = 6  # on one deployment
SLOW_S, MOST_ON_SLOW = 0.5, 16  # a deployment that takes longer is used for more
LONG, MOST_IN_LONG = 0.06, 40  # the share of deployments that live long
CLOSED = 0.5  # the share of deployments that are closed while requests are under way, if that is claimed
PROBE_EVERY = 3  # campaigns after which the short script is judged again
COMPARED = 0.25  # the share of rounds in simulated time that the reference core repeats
GATED = 0.15  # the share of rounds, on the host, that are one case whose batches the configuration alone decides
COUNTED = 3  # on the host, what a server counts is read in every third campaign: it takes time to settle
LAWS_EVERY = 10  # in simulated time, the acceptor sees all that the laws see
MOST_LACKS = 60  # configurations in a row that cannot be deployed
MOST_REFUSALS = 3  # deployments in a row that fail
MOST_DEATHS = 3
LAST_LINES = 3  # of a dead server's log
DIFFERS = 3  # times that a difference on the host has to appear


LONGEST, LONGEST_SIMULATED = 8, 3  # phases of a campaign: in simulated time, more campaigns are worth more than long ones


def longest_of(ground: Ground) -> int:
    """Return how many phases a campaign may have."""
    return LONGEST_SIMULATED if ground.simulated else LONGEST


class NothingToHunt(Exception):
    """The target cannot be deployed in any of the ways that were tried; the message says what it lacks."""


@dataclass(frozen=True)
class Driven:
    """One campaign that was driven.

    past: the campaigns before it on the same deployment. timeline: None if the target broke. new: the points that it was the
    first to reach. case: what was driven, if it was not made from phases.
    """

    number: int
    campaign: Campaign
    past: tuple[Campaign, ...]
    means: Means
    timeline: Timeline | None
    judged: Judged
    new: tuple[Point, ...] = ()
    case: Case | None = None

    def alone(self) -> Campaign:
        """Return the campaign without what came before it."""
        return self.campaign

    def with_history(self) -> Campaign:
        """Return the campaign behind all that came before it on its deployment."""
        before = (phase for one in self.past for phase in one.phases)
        return replace(self.campaign, phases=(*before, *self.campaign.phases))


class Rounds:
    """Drives campaigns until nobody asks for more.

    number: of the next campaign. lacks: what could not be deployed, and how often. unjudged: why campaigns could not be
    judged. compares: whether the reference core repeats some rounds in simulated time. gone: why the target cannot be hunted
    on any more, or "".
    """

    def __init__(self, ground: Ground, corpus: Corpus, coverage: Coverage, seed: int, number: int = 1) -> None:
        self._ground, self._corpus, self._coverage, self._seed = ground, corpus, coverage, seed
        self.number = number
        self.lacks: Counter[str] = Counter()
        self.unjudged: Counter[str] = Counter()
        self.compares = ground.simulated and ground.target.info.name != "virtual"
        self.gone = ""
        self._deaths = self._refusals = self._in_vain = 0

    def driven(self, more: Callable[[], bool]) -> Iterator[Driven]:
        """Yield campaign by campaign while `more` says so.

        NothingToHunt, or TargetError if deployments fail again and again or the target is gone for good.
        """
        while more() and not self.gone:
            draw = random.Random(f"{self._seed}:{self.number}")
            if not self._ground.simulated and draw.random() < GATED:
                yield from self._gated(draw)
            else:
                yield from self._round(draw, more)

    def _round(self, draw: random.Random, more: Callable[[], bool]) -> Iterator[Driven]:
        config = self._corpus.config(draw)
        began = time.monotonic()
        deployment = self._deployed(config)
        if isinstance(deployment, Driven):
            yield deployment
        if not isinstance(deployment, FullDeployment):
            return
        slow = not self._ground.simulated and time.monotonic() - began > SLOW_S
        most = MOST_ON_SLOW if slow else MOST_CAMPAIGNS
        turns = MOST_IN_LONG if draw.random() < LONG else draw.randint(2, most)
        original = VirtualTarget().deploy(config) if self.compares and draw.random() < COMPARED else None
        beside = FullDeployment(original) if original else None
        means = Means.of(self._ground.claims, deployment, config)
        past: list[Campaign] = []
        age = 0
        try:
            for turn in range(1, turns + 1):
                if not more():
                    break
                closes = means.closes and turn == turns and draw.random() < CLOSED
                campaign = Campaign(config, self._phases(draw, config, means, turn), closes)
                one = self._drive(deployment, beside, campaign, tuple(past), means, age)
                yield one
                if one.timeline is None or one.judged.troubles or one.timeline.unsettled:
                    break
                past.append(campaign)
                age += len(one.timeline.requests)
        finally:
            self._ground.end(deployment)

    def _phases(self, draw: random.Random, config: BatcherConfig, means: Means, turn: int) -> tuple[Phase, ...]:
        if turn % PROBE_EVERY == 0:
            return traffic_of(draw, config, means).probe()
        return self._corpus.phases(draw, config, means)

    def _deployed(self, config: BatcherConfig) -> FullDeployment | Driven | None:
        """Return the deployment; a campaign that tells of its death if the target died of it; None if it is not possible."""
        self._coverage.deployments += 1
        try:
            deployment = self._ground.deploy(config)
        except Unsupported as lack:
            self.number += 1
            self.lacks[lack.capability] += 1
            self._in_vain += 1
            if self._in_vain >= MOST_LACKS:
                raise NothingToHunt(lack.capability) from None
            return None
        except TargetError as error:
            self.number += 1
            if why := self._ground.target.alive():
                nothing = Campaign(config, ())
                return Driven(self.number - 1, nothing, (), Means(), None, self._died(why), case=Case(config, ()))
            self._refusals += 1
            if self._refusals >= MOST_REFUSALS or isinstance(error, TargetGone):
                raise
            self.lacks[str(error)] += 1
            return None
        self._in_vain = self._refusals = 0
        return deployment

    def _drive(
        self,
        deployment: FullDeployment,
        beside: FullDeployment | None,
        campaign: Campaign,
        past: tuple[Campaign, ...],
        means: Means,
        age: int,
    ) -> Driven:
        ground, number = self._ground, self.number
        self.number += 1
        case = campaign.case(means)
        count = (ground.simulated or number % COUNTED == 0) and not campaign.closes
        try:
            timeline = ground.drive(deployment, case.config, case.script, count=count, seed=number)
        except Exception as error:  # a target that breaks down has been found out
            return Driven(number, campaign, past, means, None, self._broken(error))
        original = ground.drive(beside, case.config, case.script, count=count, seed=number) if beside else None
        return self._judged(Driven(number, campaign, past, means, timeline, Judged({})), timeline, original, age)

    def _judged(self, one: Driven, timeline: Timeline, original: Timeline | None, age: int) -> Driven:
        ground = self._ground
        laws = not ground.simulated or one.number % LAWS_EVERY == 0
        try:
            judged = judge(timeline, ground.claims, laws=laws, original=original)
        except Exception as error:  # what cannot be judged is reported, and the hunt continues
            self.unjudged[f"{type(error).__name__}: {error}"] += 1
            judged = Judged({})
        points = reached(one.campaign.config, one.campaign.phases, timeline, age)
        new = self._coverage.add(points, judged.judged, timeline)
        if new and one.campaign.phases and not judged.troubles:
            self._corpus.keep(Kept(one.campaign.config, one.campaign.phases, new))
        return Driven(one.number, one.campaign, one.past, one.means, timeline, judged, new, one.case)

    def _broken(self, error: Exception) -> Judged:
        """Say how a target broke down. One that has died is started again if it can be, a few times."""
        why = self._ground.target.alive()
        if not why and not isinstance(error, TargetGone):
            what = f"{type(error).__name__}: {error}"
            return Judged({}, (Trouble(BROKEN, "", Verdict.FAIL, what, "an answer or a refusal"),))
        return self._died(why or str(error))

    def _died(self, why: str) -> Judged:
        """Say how the target ended, and start it again, a few times."""
        self._deaths += 1
        target = self._ground.target
        said = target.server_log().strip().splitlines()[-LAST_LINES:]
        if target.restart is None or self._deaths >= MOST_DEATHS:
            self.gone = why
        else:
            target.restart()
        return Judged({}, (Trouble(DIED, "", Verdict.FAIL, " / ".join([why, *said]), "it serves on"),))

    def _gated(self, draw: random.Random) -> Iterator[Driven]:
        """Drive one case whose batches depend on nothing's speed, and compare it with the reference core."""
        case = (gated_steps_case if self._corpus.steps else gated_case)(draw.randrange(1 << 30))
        number, self.number = self.number, self.number + 1
        if not comparable(case, self._ground.claims):
            return
        deployment = self._deployed(case.config)
        if isinstance(deployment, Driven):
            yield deployment
        if not isinstance(deployment, FullDeployment):
            return
        means = Means.of(self._ground.claims, deployment, case.config)
        campaign = Campaign(case.config, ())
        try:
            if not (means.holds and means.counts):
                return
            timeline = self._ground.drive(deployment, case.config, case.script, count=False, seed=number)
        except Exception as error:
            yield Driven(number, campaign, (), means, None, self._broken(error), case=case)
            return
        finally:
            self._ground.end(deployment)
        one = self._judged(Driven(number, campaign, (), means, timeline, Judged({}), case=case), timeline, None, 0)
        if other := self._apart(case, timeline):
            one = Driven(number, campaign, (), means, timeline, Judged(one.judged.judged, (*one.judged.troubles, other)),
                         one.new, case)  # fmt: skip
        yield one

    def _apart(self, case: Case, timeline: Timeline) -> Trouble | None:
        """Return the difference from the reference core, if it appears each time."""
        original, found = run_case(VirtualTarget(), case), None
        for number in range(DIFFERS):
            seen = timeline if not number else self._ground.alone(case)
            found = None if seen.problems else apart(original, seen)
            if found is None:
                return None
        return differs(found) if found else None
