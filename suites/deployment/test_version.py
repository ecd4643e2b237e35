"""Versions: which ones are live under a policy, and which one a request reaches."""

import pytest

from batchproof.reference_batcher import BatcherConfig
from batchproof.suites.deployment.names import many
from batchproof.targets.repository import EVERY, Model

FOUR = BatcherConfig(max_batch_size=4)
ALL = Model("model", FOUR, versions=(1, 2, 3), live=EVERY)


def to_each(on, versions):
    """Send three requests to each of these versions, and look at the model."""
    on.look("live", "model")
    for version in versions:
        on.send("model", *many(f"v{version}-", 3), version=version)
    return on.scene()


@pytest.mark.rule("DP-VERSION-001")
def test_by_version(serving, judge):
    """A request that names a live version is executed by that version"""
    judge(to_each(serving(ALL), (1, 2, 3)))


@pytest.mark.rule("DP-VERSION-002")
def test_latest(serving, judge):
    """Under the policy `latest`, exactly the newest versions are live, and the others refuse requests"""
    judge(to_each(serving(Model("model", FOUR, versions=(1, 2, 3, 4), live=2)), (1, 2, 3, 4)))


@pytest.mark.rule("DP-VERSION-003")
def test_specific(serving, judge):
    """Under the policy `specific`, exactly the named versions are live, and the others refuse requests"""
    judge(to_each(serving(Model("model", FOUR, versions=(1, 2, 3), live=(1, 3))), (1, 2, 3)))


@pytest.mark.rule("DP-VERSION-004")
def test_no_version(serving, judge):
    """A request that names no version is executed by the newest live version"""
    judge(to_each(serving(ALL), (0,)))


@pytest.mark.rule("DP-VERSION-005")
def test_apart(serving, judge):
    """Versions share no batch, and one that is held up does not hold up another"""
    on = serving(Model("model", FOUR, versions=(1, 2), live=EVERY))
    on.plug("model", "gate", version=1)
    on.send("model", *many("old", 6), version=1)
    on.send("model", *many("r", 6), version=2)
    on.answered(many("r", 6))
    on.release("model", "gate")

    judge(on.scene())


@pytest.mark.rule("DP-VERSION-006")
def test_new_version(serving, judge):
    """A reload that brings a new version loses no request, and what comes later reaches the new version"""
    on = serving(Model("model", FOUR, versions=(1,)))
    on.plug("model", "gate")
    on.send("model", *many("r", 100))
    on.queued("model", 100)
    loading = on.begin_load(Model("model", FOUR, versions=(1, 2)))
    on.send("model", *many("during", 40))
    on.ended(loading)
    on.send("model", *many("new", 8))
    on.answered(many("new", 8))
    on.release("model", "gate")

    judge(on.scene())


@pytest.mark.rule("DP-VERSION-007")
def test_unknown_version(serving, judge):
    """A request for a version that does not exist is refused by the name of that version, and others are served"""
    on = serving(Model("model", FOUR))
    on.send("model", "unknown", version=97)
    on.send("model", "r0", version=1)

    judge(on.scene())
