"""Counts: what the server says of several models agrees with what their witnesses saw."""

import pytest

from batchproof.reference_batcher import BatcherConfig
from batchproof.suites.deployment.names import many
from batchproof.targets.repository import EVERY, Model

FOUR = BatcherConfig(max_batch_size=4)
A, B = Model("a", FOUR, step=1), Model("b", FOUR, step=2)
TWO = Model("both", FOUR, steps=("a", "b"))


@pytest.mark.rule("DP-METRICS-001")
def test_counts_of_steps(serving, judge):
    """The counts of an ensemble and its steps agree with the witnesses, also if requests come from elsewhere"""
    on = serving(A, B, TWO)
    for place in range(20):
        on.send("both", f"r{place}", rows=place % 3 + 1)
        on.send("b", f"s{place}", rows=place % 2 + 1)
    on.answered()
    for name, count in (("both", 20), ("a", 20), ("b", 40)):
        on.counted(name, name, count)

    judge(on.scene())


@pytest.mark.rule("DP-METRICS-002")
def test_counts_of_versions(serving, judge):
    """Each version of a model has counts of its own, which agree with its witness"""
    on = serving(Model("model", FOUR, versions=(1, 2), live=EVERY))
    on.send("model", *many("old", 3), version=1)
    on.send("model", *many("new", 5), version=2)
    on.answered()
    for version, count in ((1, 3), (2, 5)):
        on.counted(str(version), "model", count, version=version)

    judge(on.scene())


@pytest.mark.rule("DP-METRICS-003")
def test_waiting_at_steps(serving, judge):
    """The count of waiting requests shows at which step of an ensemble they wait, and none at the whole"""
    on = serving(A, B, TWO)
    on.plug("a", "gate-a", "plug-a")
    on.plug("b", "gate-b", "plug-b")
    on.send("both", *many("r", 8))
    on.queued("a", 8)
    for model in ("both", "a", "b"):
        on.look(f"first-{model}", model)
    on.release("a", "gate-a")
    on.queued("b", 8)
    for model in ("both", "a", "b"):
        on.look(f"second-{model}", model)
    on.release("b", "gate-b")

    judge(on.scene())


@pytest.mark.rule("DP-METRICS-004")
def test_counts_after_a_reload(serving, judge):
    """After a reload under load, the counts agree with the witness: with all executions, or the new model's"""
    on = serving(Model("model", FOUR))
    on.plug("model", "gate")
    on.send("model", *many("r", 30))
    on.queued("model", 30)
    loading = on.begin_load(Model("model", FOUR))
    on.ended(loading)
    on.send("model", *many("new", 10))
    on.answered(many("new", 10))
    on.release("model", "gate")
    on.answered()
    on.counted("counts", "model", 10)

    judge(on.scene())
