"""Faults: how a server must treat its clients when something breaks."""

import pytest

from batchproof.fixtures.driving.script import MS, Answered, Entered, KillInstance, Pause, Script, Send
from batchproof.reference_batcher import BatcherConfig

FOUR = BatcherConfig(max_batch_size=4)
HELD = tuple(f"r{i}" for i in range(8))


def paused() -> Script:
    """Eight requests, with one batch in the model and one behind it; then the server stops for three seconds."""
    held = tuple(Send(name, work_ns=400 * MS) for name in HELD)
    return (*held, Entered("r0"), Pause(3000 * MS), Answered(HELD), Send("after"))


def killed() -> Script:
    """One batch is in the model and more are behind it; then the process that runs the model is killed."""
    held = tuple(Send(name, work_ns=400 * MS) for name in HELD[1:])
    return (Send("r0", hold="gate"), Entered("r0"), *held, KillInstance(), Answered(HELD), Send("after", after_ns=50 * MS))


@pytest.mark.rule("DB-FAULT-001")
def test_held_through_a_pause(drive, judge):
    """After a pause of the server, every request that it held is answered or refused"""
    judge(drive(FOUR, paused()))


@pytest.mark.rule("DB-FAULT-002")
def test_serves_after_a_pause(drive, judge):
    """After a pause of the server, new requests are served"""
    judge(drive(FOUR, paused()))


@pytest.mark.rule("DB-FAULT-003")
def test_held_by_a_killed_instance(drive, judge):
    """When the process of an instance is killed, the requests that it held are answered or refused"""
    judge(drive(FOUR, killed()))


@pytest.mark.rule("DB-FAULT-004")
def test_says_what_it_does(drive, judge):
    """After the process of an instance is killed, new requests are served or refused"""
    judge(drive(FOUR, killed()))


@pytest.mark.rule("DB-FAULT-005")
def test_serves_after_a_kill(drive, judge):
    """After the process of an instance is killed, new requests are served"""
    judge(drive(FOUR, killed()))
