"""Random schedules of sequences in simulated time: the laws hold, and a model of the slots says the same as the cores."""

from __future__ import annotations

import os
import random

import pytest

from batchproof.fixtures.driving.case import Case, run_case
from batchproof.fixtures.driving.script import MS, Cancel, Send, Step
from batchproof.fixtures.evidence.timeline import Timeline
from batchproof.fixtures.judging.checkers.sequence.law import LAWS
from batchproof.fixtures.judging.verdicts import Verdict
from batchproof.reference_batcher import BatcherConfig, SequenceBatching, StateSpec
from batchproof.suites.selftest.reference_batcher.slot_model import SlotModel
from batchproof.targets.virtual import VirtualTarget

SHARDS = 8
SCHEDULES = 10_000
STATE = (StateSpec("STATE", "STATE_AFTER", "TYPE_INT64", (1,)),)
TARGET = VirtualTarget()


def config_of(draw: random.Random) -> BatcherConfig:
    """Any configuration of sequences with a few slots."""
    size, oldest = draw.choice((1, 1, 2, 3, 4)), draw.random() < 0.5
    delay_ns = draw.choice((0, 0, 2 * MS))
    return BatcherConfig(
        max_batch_size=size,
        instances=draw.choice((1, 1, 2)),
        max_queue_delay_ns=delay_ns,
        preferred_batch_size=(draw.randint(1, size),) if oldest and draw.random() < 0.3 else (),
        preserve_ordering=oldest and draw.random() < 0.2,
        sequence=SequenceBatching(
            strategy="oldest" if oldest else "direct",
            max_sequence_idle_ns=draw.choice((6 * MS, 1000 * MS)),
            minimum_slot_utilization=draw.choice((0.0, 0.5, 1.0)) if delay_ns and not oldest else 0.0,
            max_candidate_sequences=draw.choice((0, 1, 2, 5)) if oldest else 0,
            flag_type=draw.choice(("TYPE_INT32", "TYPE_FP32", "TYPE_BOOL")),
            id_type=draw.choice(("TYPE_UINT64", "TYPE_INT32")),
            state=STATE if draw.random() < 0.5 else (),
        ),
    )


def schedule(seed: int, most: int = 14) -> Case:
    """A configuration, and up to so many requests of a few sequences, no two of which come at the same moment."""
    draw = random.Random(seed)
    config, steps = config_of(draw), list[Step]()
    ids, live = draw.randint(1, 6), set[int]()
    length = draw.choice((1, 2, 4, 9))
    for number in range(draw.randint(2, most)):
        id_ = draw.randint(1, ids)
        odd = draw.random() < 0.06
        start = (id_ not in live) != odd
        end = draw.random() < 1 / length
        live = (live - {id_}) if end else (live | {id_} if start else live)
        steps.append(
            Send(
                f"r{number}",
                sequence=0 if draw.random() < 0.01 else id_,
                start=start,
                end=end,
                rows=2 if config.max_batch_size > 1 and draw.random() < 0.01 else 1,
                fail=draw.random() < 0.04,
                work_ns=draw.choice((0, 1, 3)) * MS + draw.randint(1, 99_999),
                after_ns=draw.choice((0, 0, 0, 1, 2, 8)) * MS + draw.randint(1, 99_999),
            )
        )
        gone = f"r{draw.randint(0, number)}"
        if draw.random() < 0.05 and Cancel(gone) not in steps:  # behind one that is refused, at a moment of its own
            steps += [Send(f"x{number}", sequence=0, after_ns=draw.randint(1, MS)), Cancel(gone)]
    return Case(config, tuple(steps))


def disagreements(timeline: Timeline, config: BatcherConfig) -> list[str]:
    """What the cores did otherwise than the model of slots."""
    assert config.sequence is not None
    model = SlotModel(config.sequence, config.max_batch_size, config.instances)
    events = [(one.sent_ns, 1, "arrives", (one.serial, one.payload)) for one in timeline.requests]
    for run in timeline.executions:
        slots = [place.slot for place in run.places]
        events.append((run.enter_ns, 2, "enters", (run.instance, [*run.serials], slots)))
        events.append((run.exit_ns or 0, 0, "leaves", ([*run.serials],)))
    for mark, at_ns in timeline.marks.items():
        if mark.startswith("cancel:"):
            sent = timeline[mark.removeprefix("cancel:")]
            events.append((at_ns, 1, "taken_back", (sent.serial,)))
    for at_ns, _, what, about in sorted(events, key=lambda one: one[:2]):
        getattr(model, what)(at_ns, *about)
    kinds = {"invalid": model.refused, "cancelled": model.cancelled}
    for kind, expected in kinds.items():
        seen = {one.serial for one in timeline.requests if one.kind == kind}
        model.wrong += [f"{one} {kind}" for one in seen ^ expected]
    return model.wrong


@pytest.mark.parametrize("shard", range(SHARDS))
def test_the_laws_and_the_model_of_slots_hold(shard: int) -> None:
    """10,000 schedules in all, each judged by every law and by the model; a failure says which seed it was."""
    nightly = bool(os.environ.get("BATCHPROOF_NIGHTLY"))
    for seed in range(shard, SCHEDULES * (5 if nightly else 1), SHARDS):
        case = schedule(seed)
        timeline = run_case(TARGET, case)
        wrong = [judged.actual for law in LAWS if (judged := law(timeline)).verdict is not Verdict.PASS]
        wrong += disagreements(timeline, case.config)

        assert (seed, wrong) == (seed, [])
