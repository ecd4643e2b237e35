"""Ensembles: batches are formed at every step, and what happens at one step reaches the others as documented."""

import pytest

from batchproof.fixtures.driving.script import MS
from batchproof.reference_batcher import BatcherConfig
from batchproof.suites.deployment.names import many
from batchproof.targets.repository import Model

FOUR, SIX = BatcherConfig(max_batch_size=4), BatcherConfig(max_batch_size=6)
LIMITED = BatcherConfig(max_batch_size=4, max_queue_size=4)
IMPATIENT = BatcherConfig(max_batch_size=4, queue_timeout_ns=100 * MS)
LEVELS = BatcherConfig(max_batch_size=4, priority_levels=2, default_priority_level=2)
CACHED = BatcherConfig(max_batch_size=4, response_cache=True)
A, B, C = Model("a", FOUR, step=1), Model("b", FOUR, step=2), Model("c", FOUR, step=3)
TWO, THREE = Model("both", FOUR, steps=("a", "b")), Model("all", FOUR, steps=("a", "b", "c"))


def backlog_at_each_step(serving, *first):
    """Hold both steps, let twelve requests wait before the first one, then before the second one, and then go."""
    on = serving(*(first or (A, B, TWO)))
    on.plug("a", "gate-a", "plug-a")
    on.plug("b", "gate-b", "plug-b")
    on.in_line("both", *many("r", 12), seen_at="a")
    on.release("a", "gate-a")
    on.queued("b", 12)
    on.release("b", "gate-b")
    return on.scene()


@pytest.mark.rule("DP-ENSEMBLE-001")
def test_once_in_every_step(serving, judge):
    """A request to an ensemble runs once in every step, and gets its own result"""
    on = serving(A, B, C, THREE)
    for place, name in enumerate(many("r", 40)):
        on.send("all", name, rows=place % 3 + 1)

    judge(on.scene())


@pytest.mark.rule("DP-ENSEMBLE-002")
def test_each_step_has_its_limit(serving, judge):
    """Each step keeps its own max_batch_size, whatever comes out of the step before it"""
    judge(backlog_at_each_step(serving, Model("a", SIX, step=1), B, TWO))


@pytest.mark.rule("DP-ENSEMBLE-003")
def test_batches_at_each_step(serving, judge):
    """Requests that wait at a step leave it in batches, at every step"""
    judge(backlog_at_each_step(serving))


@pytest.mark.rule("DP-ENSEMBLE-004")
def test_steps_do_not_wait_for_each_other(serving, judge):
    """While one step is held up, the step before it goes on"""
    judge(backlog_at_each_step(serving))


@pytest.mark.rule("DP-ENSEMBLE-005")
def test_order_between_steps(serving, judge):
    """Requests enter a step in the order in which the step before it has finished them"""
    judge(backlog_at_each_step(serving))


@pytest.mark.rule("DP-ENSEMBLE-006")
def test_other_ensembles_go_on(serving, judge):
    """A step that is held up does not hold up an ensemble that shares only the steps before it"""
    on = serving(A, B, C, TWO, Model("other", FOUR, steps=("a", "c")))
    on.plug("b", "gate", "plug-b")
    on.send("both", *many("held", 6))
    on.queued("b", 6)
    on.send("other", *many("r", 6))
    on.answered(many("r", 6))
    on.release("b", "gate")

    judge(on.scene())


@pytest.mark.rule("DP-ENSEMBLE-007")
def test_failure_in_a_step(serving, judge):
    """A batch that fails in a step fails its own requests, which never reach the next step, and no others"""
    on = serving(A, B, C, THREE)
    on.plug("b", "gate", "plug-b")
    on.in_line("all", *many("r", 3), seen_at="b")
    on.in_line("all", "bad", already=3, seen_at="b", fail=True, nonce=2)
    on.in_line("all", *many("s", 4), already=4, seen_at="b")
    on.release("b", "gate")
    on.answered()
    for place in (1, 3):
        on.send("all", f"lone{place}", fail=True, nonce=place)
        on.answered((f"lone{place}",))
    on.send("all", *many("t", 2))

    judge(on.scene())


@pytest.mark.rule("DP-ENSEMBLE-008")
def test_cancelled_between_steps(serving, judge):
    """A request that is cancelled while it is in one step does not enter the next"""
    on = serving(A, B, TWO)
    on.send("both", "r0", hold="gate", nonce=1)
    on.entered("r0", "a")
    on.cancel("r0")
    on.send("b", "beside")
    on.answered(("beside",))
    on.pause(100 * MS)
    on.release("a", "gate")
    on.send("both", "after")

    judge(on.scene())


@pytest.mark.rule("DP-ENSEMBLE-009")
def test_timeout_at_a_step(serving, judge):
    """A request whose queue timeout ends at a step is refused there, and reaches neither that step nor the next"""
    on = serving(A, Model("b", IMPATIENT, step=2), C, THREE)
    on.plug("b", "gate", "plug-b")
    on.send("all", *many("r", 4))
    on.answered(many("r", 4))
    on.release("b", "gate")

    judge(on.scene())


@pytest.mark.rule("DP-ENSEMBLE-010")
def test_limit_at_a_step(serving, judge):
    """A step with a full queue refuses exactly the requests that find no room there, and serves the others"""
    on = serving(A, Model("b", LIMITED, step=2), TWO)
    on.plug("b", "gate", "plug-b")
    on.send("both", *many("r", 10))
    on.settled("r", 6)
    on.release("b", "gate")

    judge(on.scene())


@pytest.mark.rule("DP-ENSEMBLE-011")
def test_priority_at_a_step(serving, judge):
    """A request's priority counts at the steps of an ensemble, too"""
    on = serving(A, Model("b", LEVELS, step=2), TWO)
    on.plug("b", "gate", "plug-b", priority=1)
    on.in_line("both", *many("low", 8), seen_at="b", priority=2)
    on.in_line("both", *many("high", 4), already=8, seen_at="b", priority=1)
    on.release("b", "gate")

    judge(on.scene())


@pytest.mark.rule("DP-ENSEMBLE-012")
def test_missing_step(serving, judge):
    """An ensemble with a step that is not there is refused by the name of that step, and the other models serve"""
    on = serving(A)
    on.load(Model("both", FOUR, steps=("a", "nowhere")))
    on.send("both", "late")
    on.send("a", "r0")

    judge(on.scene())


@pytest.mark.rule("DP-ENSEMBLE-013")
def test_step_is_unloaded(serving, judge):
    """When a step is unloaded while requests wait there, each is answered or refused, and none runs twice"""
    on = serving(A, B, TWO)
    on.plug("b", "gate", "plug-b")
    on.send("both", *many("r", 20))
    on.queued("b", 20)
    unloading = on.begin_unload("b")
    on.gone("b")
    on.release("b", "gate")
    on.ended(unloading)
    on.answered(many("r", 20))
    on.load(B, TWO)
    on.send("both", "after")

    judge(on.scene())


@pytest.mark.rule("DP-ENSEMBLE-014")
def test_cached_ensemble(serving, judge):
    """An ensemble with a response cache answers an equal request without running its steps"""
    on = serving(A, B, Model("both", CACHED, steps=("a", "b")))
    on.send("both", "first", nonce=7)
    on.answered()
    on.pause(20 * MS)
    on.send("both", "equal", twin="first")
    on.send("both", "different", nonce=8)

    judge(on.scene())
