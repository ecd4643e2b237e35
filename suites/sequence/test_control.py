"""What the model is told about each request."""

import pytest

from batchproof.suites.sequence.steps import claimed, direct, oldest, turns, whole

DIRECT, OLDEST = direct(), oldest()


@pytest.mark.rule("SB-CONTROL-001")
def test_start(claims, drive, judge):
    """The model is told START with the first request of a sequence and with no other"""
    for config in claimed(claims, DIRECT, OLDEST):
        judge(drive(config, turns([5, 6, 7], 3)))


@pytest.mark.rule("SB-CONTROL-002")
def test_end(claims, drive, judge):
    """The model is told END with the last request of a sequence and with no other"""
    for config in claimed(claims, DIRECT, OLDEST):
        judge(drive(config, turns([5, 6, 7], 3)))


@pytest.mark.rule("SB-CONTROL-003")
def test_correlation_id(claims, drive, judge):
    """The model is told the correlation ID with every request"""
    for config in claimed(claims, DIRECT, OLDEST):
        judge(drive(config, turns([5, 6, 7], 3)))


@pytest.mark.rule("SB-CONTROL-004")
def test_one_request(claims, drive, judge):
    """A sequence of one request is told as START and END at once"""
    for config in claimed(claims, DIRECT, OLDEST):
        judge(drive(config, tuple(send for one in (5, 6, 7, 8, 9) for send in whole(one))))
