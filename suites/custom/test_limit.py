"""Limit: how much a batch holds that a strategy limits."""

import pytest

from batchproof.suites.custom.scripts import ALONE, FIRST, LARGE, LIMITED, MIB, backlog

MIXED = (1, 1, 1, 1, 1, 1, 1, 96, 64, 16, 64, 32, 32, 32, 8, 1)  # the eighth would fill a batch, and exceed the limit


@pytest.mark.rule("CU-LIMIT-001")
def test_within_limit(drive, judge):
    """No batch of several requests exceeds the limit of its strategy"""
    judge(drive(LIMITED, backlog(*MIXED), policy=True))
    judge(drive(LARGE, backlog(*(volume * MIB for volume in MIXED)), policy=True))


@pytest.mark.rule("CU-LIMIT-002")
def test_growing_within_limit(drive, judge):
    """The limit of a strategy holds in batches that grow behind a busy model, too"""
    judge(drive(LIMITED, backlog(*MIXED)))


@pytest.mark.rule("CU-LIMIT-003")
def test_limit_of_the_first(drive, judge):
    """A limit that the first request of a batch brings holds for that batch"""
    judge(drive(FIRST, backlog(2, 1, 3, 0, 0, 1, 0, 0), policy=True))


@pytest.mark.rule("CU-LIMIT-004")
def test_alone(drive, judge):
    """Requests that share with nobody are executed alone"""
    judge(drive(ALONE, backlog(1, 1, 1), policy=True))


@pytest.mark.rule("CU-LIMIT-005")
def test_as_much_as_allowed(drive, judge):
    """A backlog leaves in batches as large as the strategy allows"""
    judge(drive(LIMITED, backlog(*[32] * 7), policy=True))
