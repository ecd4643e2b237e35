"""The corpus: what is drawn from it, and what it forgets."""

from __future__ import annotations

import random

from batchproof.commands.hunt import corpus
from batchproof.commands.hunt.corpus import MOST, Corpus, Kept
from batchproof.commands.hunt.reached import Coverage, together
from batchproof.fixtures.driving.phases import Means, Phase
from batchproof.reference_batcher import BatcherConfig
from batchproof.targets.witness_model import REFERENCE_CLAIMS


def kept(*points: str) -> Kept:
    """Return a campaign that was the first to reach these points."""
    return Kept(BatcherConfig(max_batch_size=5), (Phase("mine", "open", ()),), tuple((one,) for one in points))


def test_the_same_seed_draws_the_same() -> None:
    """So a hunt that goes on, and one that is repeated, do not depend on the order of a set or on a clock."""
    draws = [random.Random(7), random.Random(7)]
    both = [Corpus(REFERENCE_CLAIMS, Coverage()) for _ in draws]
    for one in both:
        one.keep(kept("a"))
    drawn = [[(one.config(draw), one.phases(draw, BatcherConfig(), Means())) for _ in range(20)]
             for one, draw in zip(both, draws, strict=True)]

    assert drawn[0] == drawn[1]


def test_a_rare_campaign_is_chosen_more_often(monkeypatch) -> None:
    """Rare is what few campaigns have reached since."""
    monkeypatch.setattr(corpus, "NEW", 0.0)
    monkeypatch.setattr(corpus, "LATEST", 0.0)
    coverage = Coverage()
    coverage.points.update({("often",): 50, ("seldom",): 1})
    one = Corpus(REFERENCE_CLAIMS, coverage)
    for _ in range(5):
        one.keep(kept("often"))
    one.keep(kept("seldom"))
    draw = random.Random(1)
    chosen = [one._chosen(draw).reached for _ in range(200)]

    assert chosen.count((("seldom",),)) > 60


def test_the_most_ordinary_is_forgotten() -> None:
    """The corpus does not grow without end, and keeps what is rare."""
    coverage = Coverage()
    coverage.points.update({("often",): 50, ("seldom",): 1})
    one = Corpus(REFERENCE_CLAIMS, coverage)
    one.keep(kept("seldom"))
    for _ in range(MOST + 3):
        one.keep(kept("often"))

    assert len(one.kept) == MOST
    assert one.kept[0].reached == (("seldom",),)


def test_points_meet() -> None:
    """Each alone, and each two together, once."""
    assert together(frozenset({"b", "a", "c"})) == {("a",), ("b",), ("c",), ("a", "b"), ("a", "c"), ("b", "c")}
