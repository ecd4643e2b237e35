"""The corpus: campaigns that reached something new, and how the next campaigns are drawn from them. No clock, no target."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from batchproof.commands.hunt.reached import Coverage, Point
from batchproof.fixtures.driving.features import changed_config, random_config
from batchproof.fixtures.driving.phases import Means, Phase
from batchproof.fixtures.driving.sequence_features import changed_steps_config, random_steps_config
from batchproof.fixtures.driving.traffic import changed, suited, traffic_of
from batchproof.reference_batcher.config import BatcherConfig

MOST = 400  # campaigns that are kept in memory
NEW = 0.55  # the share of configurations, and of traffic, that is drawn anew
LATEST = 0.3  # the share of choices that take one of the newest campaigns
CANDIDATES = 3  # of which the one with the rarest point is taken


@dataclass(frozen=True)
class Kept:
    """One campaign that is kept. reached: the points that it was the first to reach."""

    config: BatcherConfig
    phases: tuple[Phase, ...]
    reached: tuple[Point, ...]


class Corpus:
    """What is kept, and what to try next. longest: how many phases a campaign may have. steps: it has sequences."""

    def __init__(self, claims: Mapping[str, Any], coverage: Coverage, longest: int = 8, *, steps: bool = False) -> None:
        self._claims, self._coverage, self._longest, self.steps = claims, coverage, longest, steps
        self.kept: list[Kept] = []

    def keep(self, one: Kept) -> None:
        """Keep a campaign; of too many, the one that has become the most ordinary is forgotten."""
        self.kept.append(one)
        if len(self.kept) > MOST:
            self.kept.remove(max(self.kept[: MOST // 2], key=self._ordinary))

    def config(self, draw: random.Random) -> BatcherConfig:
        """Return the configuration of the next deployment: a new one, or one that is kept, mostly changed."""
        if not self.kept or draw.random() < NEW:
            return (random_steps_config if self.steps else random_config)(draw, self._claims)
        config = self._chosen(draw).config
        if draw.random() < 0.3:
            return config
        return (changed_steps_config if self.steps else changed_config)(draw, config, self._claims)

    def phases(self, draw: random.Random, config: BatcherConfig, means: Means) -> tuple[Phase, ...]:
        """Return the traffic of the next campaign on a deployment with this configuration."""
        if not self.kept or draw.random() < NEW:
            return traffic_of(draw, config, means).phases(draw.randint(1, min(4, self._longest)))
        mine, other = self._chosen(draw), self._chosen(draw)
        if draw.random() < 0.1:
            return tuple(suited(one, config, means, draw) for one in mine.phases)
        return changed(draw, mine.phases, other.phases, config, means)[: self._longest]

    def _chosen(self, draw: random.Random) -> Kept:
        if draw.random() < LATEST:
            return draw.choice(self.kept[-10:])
        return min((draw.choice(self.kept) for _ in range(CANDIDATES)), key=self._ordinary)

    def _ordinary(self, one: Kept) -> int:
        """Return how often its rarest point has been reached since."""
        return min((self._coverage.points.get(point, 0) for point in one.reached), default=1 << 30)
