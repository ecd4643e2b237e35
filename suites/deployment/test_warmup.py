"""Warm-up: samples that a model runs before it is ready, and that are nobody's requests."""

import pytest

from batchproof.reference_batcher import BatcherConfig
from batchproof.suites.deployment.names import many
from batchproof.targets.repository import Group, Model, WarmUp

FOUR = BatcherConfig(max_batch_size=4)
MODEL = Model("model", FOUR)
FAILING = 12  # models whose warm-up fails


@pytest.mark.rule("DP-WARMUP-001")
def test_ready_only_after_it(serving, judge):
    """A model is not ready, and serves nothing, before its warm-up samples have run"""
    on = serving()
    loading = on.begin_load(Model("model", FOUR, warm_ups=(WarmUp(hold=on.token("gate")),)))
    on.warming("model")
    on.look("warming", "model")
    on.send("model", *many("early", 3))
    on.release("model", "gate")
    on.ended(loading)
    on.look("warm", "model")
    on.send("model", *many("r", 3))

    judge(on.scene())


@pytest.mark.rule("DP-WARMUP-002")
def test_the_old_model_serves(serving, judge):
    """While the new model of a reload warms up, the old one serves"""
    on = serving(MODEL)
    on.send("model", "before")
    on.answered()
    loading = on.begin_load(Model("model", FOUR, warm_ups=(WarmUp(hold=on.token("gate")),)))
    on.warming("model")
    on.send("model", *many("r", 8))
    on.answered(many("r", 8))
    on.release("model", "gate")
    on.ended(loading)
    on.send("model", *many("new", 3))

    judge(on.scene())


@pytest.mark.rule("DP-WARMUP-003")
def test_every_instance(serving, judge):
    """Every instance runs its samples, as large and as often as configured, before its first request"""
    on = serving(Model("model", FOUR, groups=(Group(2), Group(1)), warm_ups=(WarmUp(rows=2, count=3),)))
    on.send("model", *many("r", 24), work_ns=5_000_000)

    judge(on.scene())


@pytest.mark.rule("DP-WARMUP-004")
def test_nobodys_requests(serving, judge):
    """Warm-up samples are not counted as requests, inferences or executions"""
    on = serving(Model("model", FOUR, warm_ups=(WarmUp(rows=2, count=3),)))
    on.send("model", *many("r", 5))
    on.answered()
    on.counted("counts", "model", 5)

    judge(on.scene())


@pytest.mark.rule("DP-WARMUP-005")
@pytest.mark.faults
def test_failed_warm_up(serving, judge):
    """A model whose warm-up fails is not loaded, and the load says why"""
    on = serving()
    on.load(Model("model", FOUR, warm_ups=(WarmUp(fail=True),)))
    on.look("failed", "model")
    on.send("model", "late")

    judge(on.scene())


@pytest.mark.rule("DP-WARMUP-006")
@pytest.mark.faults
def test_failed_warm_ups_harm_nobody(serving, judge):
    """Models whose warm-up fails, one after another, do not harm one that serves"""
    on = serving(MODEL)
    on.send("model", *many("before", 3))
    on.answered()
    on.load(*(Model(name, FOUR, warm_ups=(WarmUp(fail=True),)) for name in many("failing", FAILING)))
    on.send("model", *many("after", 8))

    judge(on.scene())
