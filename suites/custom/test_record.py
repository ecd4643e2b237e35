"""Record: what a strategy remembers about a batch."""

import pytest

from batchproof.suites.custom.scripts import LIMITED, backlog

PAIRS = (48, 48, 48, 48, 48, 48)


@pytest.mark.rule("CU-RECORD-001")
def test_own_record(drive, judge):
    """Each batch has a record of its own"""
    judge(drive(LIMITED, backlog(*PAIRS), policy=True))


@pytest.mark.rule("CU-RECORD-002")
def test_begun_and_ended_once(drive, judge):
    """The record of a batch is initialised once and finalised once"""
    judge(drive(LIMITED, backlog(*PAIRS), policy=True))


@pytest.mark.rule("CU-RECORD-003")
def test_behind_a_busy_model(drive, judge):
    """Batches that grow behind a busy model have records of their own, which are initialised and finalised once"""
    judge(drive(LIMITED, backlog(*PAIRS)))
