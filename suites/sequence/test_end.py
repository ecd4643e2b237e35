"""Where a sequence ends and the next one begins."""

from dataclasses import replace

import pytest

from batchproof.fixtures.driving.script import Answered, Send
from batchproof.suites.sequence.steps import claimed, direct, oldest, turn

DIRECT, OLDEST = direct(), oldest()


@pytest.mark.rule("SB-END-001")
def test_an_id_is_used_again(session, drive, judge):
    """After END, a START under the same correlation ID begins a sequence that knows nothing of the first"""
    again = (*turn([5, 6], 0), *turn([5, 6], 1, last=1))
    for config in claimed(session, DIRECT, OLDEST):
        judge(drive(config, (*again, *_named_anew(again))))


@pytest.mark.rule("SB-END-002")
def test_start_on_a_live_id(session, drive, judge):
    """A START under the correlation ID of a sequence that has not ended begins a new sequence"""
    for config in claimed(session, DIRECT, OLDEST):
        old = (*turn([5, 6], 0), *turn([5, 6], 1))
        judge(drive(config, (*old, *_named_anew(turn([5], 0)), *turn([6], 2, last=2), *_named_anew(turn([5], 1, last=1)))))


def _named_anew(steps):
    """Return the same steps with the names of a second sequence of the same correlation ID."""
    def again(one):
        if isinstance(one, Send):
            return Send(f"again-{one.name}", one.payload)
        return replace(one, names=tuple(f"again-{name}" for name in one.names)) if isinstance(one, Answered) else one

    return tuple(map(again, steps))
