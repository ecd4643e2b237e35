"""Model control under load: what becomes of requests when models are loaded, unloaded and loaded again."""

import pytest

from batchproof.fixtures.driving.script import Close, Entered, Queued, Release, Send
from batchproof.reference_batcher import BatcherConfig
from batchproof.suites.deployment.names import many
from batchproof.targets.repository import Model

FOUR, SIXTEEN = BatcherConfig(max_batch_size=4), BatcherConfig(max_batch_size=16)
HUNDREDS = tuple(f"r{i}" for i in range(300))
MODEL = Model("model", FOUR)


@pytest.mark.rule("DP-CONTROL-001")
def test_removed_under_load(drive, judge):
    """A model that is removed while hundreds of requests wait answers or refuses each, and runs none twice"""
    queued = tuple(Send(name) for name in HUNDREDS)

    judge(drive(SIXTEEN, (Send("plug", hold="gate"), Entered("plug"), *queued, Queued(300), Close(), Release("gate"))))


@pytest.mark.rule("DP-CONTROL-002")
def test_unloaded_is_gone(serving, judge):
    """After a model has been unloaded, requests to it are refused and never executed"""
    on = serving(MODEL)
    on.send("model", "before")
    on.answered()
    on.unload("model")
    on.send("model", *many("late", 5))

    judge(on.scene())


@pytest.mark.rule("DP-CONTROL-003")
def test_reload_loses_nothing(serving, judge):
    """A reload answers every request that waited before it and every one that comes during it, once"""
    on = serving(MODEL)
    on.plug("model", "gate")
    on.send("model", *many("r", 200))
    on.queued("model", 200)
    loading = on.begin_load(MODEL)
    on.send("model", *many("during", 50))
    on.ended(loading)
    on.release("model", "gate")

    judge(on.scene())


@pytest.mark.rule("DP-CONTROL-004")
def test_reload_serves_at_once(serving, judge):
    """Requests that come after a reload run in the new model, even while the old one is still busy"""
    on = serving(MODEL)
    on.plug("model", "gate")
    on.send("model", *many("r", 8))
    on.queued("model", 8)
    on.ended(on.begin_load(MODEL))
    on.send("model", *many("new", 8))
    on.answered(many("new", 8))
    on.release("model", "gate")

    judge(on.scene())


@pytest.mark.rule("DP-CONTROL-005")
def test_failed_reload(serving, judge):
    """A reload that fails says why, and the model that was there goes on serving"""
    on = serving(MODEL)
    on.plug("model", "gate")
    on.send("model", *many("r", 20))
    on.queued("model", 20)
    on.load(Model("model", FOUR, broken=(1,)))
    on.release("model", "gate")
    on.send("model", *many("after", 8))

    judge(on.scene())


@pytest.mark.rule("DP-CONTROL-006")
def test_neighbours_are_left_alone(serving, judge):
    """Loading and unloading a model neither loses nor moves a request of the model alongside it"""
    on = serving(MODEL)
    for turn in range(3):
        loading = on.begin_load(Model("other", FOUR))
        on.send("model", *many(f"r{turn}-a", 20), work_ns=1_000_000)
        on.ended(loading)
        unloading = on.begin_unload("other")
        on.send("model", *many(f"r{turn}-b", 20), work_ns=1_000_000)
        on.ended(unloading)

    judge(on.scene())


@pytest.mark.rule("DP-CONTROL-007")
def test_cycles_under_load(serving, judge):
    """Through loads and unloads, each request is answered or refused, none runs twice, and the last is served"""
    on = serving(MODEL)
    for turn in range(3):
        on.send("model", *many(f"r{turn}-a", 40))
        unloading = on.begin_unload("model")
        on.send("model", *many(f"r{turn}-b", 40))
        on.ended(unloading)
        loading = on.begin_load(MODEL)
        on.send("model", *many(f"r{turn}-c", 40))
        on.ended(loading)
    on.send("model", *many("last", 8))

    judge(on.scene())


@pytest.mark.rule("DP-CONTROL-008")
def test_ready_is_true(serving, judge):
    """The server calls a model ready exactly as long as it serves it"""
    on = serving(Model("beside", FOUR))
    for name, step in (("never", None), ("loaded", on.load), ("reloaded", on.load)):
        if step is not None:
            step(MODEL)
        on.look(name, "model")
        on.send("model", f"{name}-request")
        on.answered()
    on.unload("model")
    on.look("unloaded", "model")
    on.send("model", "unloaded-request")

    judge(on.scene())
