"""Requests that cannot be part of a sequence."""

import pytest

from batchproof.fixtures.driving.script import Answered, Send
from batchproof.suites.sequence.steps import claimed, direct, oldest, step, turn

DIRECT, OLDEST = direct(), oldest()


@pytest.mark.rule("SB-ERROR-001")
def test_one_row(claims, drive, judge):
    """A request of a sequence with more than one row is refused and never executed"""
    for config in claimed(claims, DIRECT, OLDEST):
        judge(drive(config, (step(7, 0, last=0, rows=2), Answered(("s7.0",)), *turn([8], 0, last=0))))


@pytest.mark.rule("SB-ERROR-002")
def test_no_correlation_id(claims, drive, judge):
    """A request without a correlation ID is refused and never executed"""
    for config in claimed(claims, DIRECT, OLDEST):
        judge(drive(config, (Send("s0.0", start=True, end=True), Answered(("s0.0",)), *turn([8], 0, last=0))))


@pytest.mark.rule("SB-ERROR-003")
def test_no_start(claims, drive, judge):
    """A request that begins a sequence without START is refused and never executed"""
    for config in claimed(claims, DIRECT, OLDEST):
        wrong = (step(7, 1), Answered(("s7.1",)), step(6, 1, last=1), Answered(("s6.1",)))
        judge(drive(config, (*wrong, *turn([8], 0, last=0))))


@pytest.mark.rule("SB-ERROR-004")
def test_after_end(claims, drive, judge):
    """After END, a request under the same correlation ID without START is refused and never executed"""
    for config in claimed(claims, DIRECT, OLDEST):
        judge(drive(config, (*turn([8], 0), *turn([8], 1, last=1), step(8, 2), Answered(("s8.2",)))))


@pytest.mark.rule("SB-ERROR-005")
def test_refusals_harm_nobody(claims, drive, judge):
    """A refused request leaves the sequence of its correlation ID and all others as they are"""
    for config in claimed(claims, DIRECT, OLDEST):
        wrong = (step(7, 5, rows=3), Send("s0.0", start=True, end=True), step(6, 1), Answered(("s7.5", "s0.0", "s6.1")))
        judge(drive(config, (*turn([7, 8], 0), *wrong, *turn([7, 8], 1), *wrong[-1:], *turn([7, 8], 2, last=2))))
