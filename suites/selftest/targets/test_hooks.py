"""The log of a strategy's hooks, on the targets that write it themselves."""

from __future__ import annotations

import pytest

from batchproof.fixtures.driving.case import Case, run_case
from batchproof.fixtures.driving.script import Send, gated
from batchproof.fixtures.evidence.timeline import Timeline
from batchproof.reference_batcher import BatcherConfig
from batchproof.targets import resolve

PLUG = Send("plug", hold="gate")


def driven(target: str, strategy: str, *volumes: int) -> Timeline:
    """Drive requests of these volumes, all of them queued behind a plug."""
    judged = resolve(target)
    script = gated(*(Send(f"r{i}", volume=volume) for i, volume in enumerate(volumes)), plug=PLUG)
    try:
        return run_case(judged, Case(BatcherConfig(strategy=strategy), script))
    finally:
        judged.close()


def lines(timeline: Timeline) -> list[str]:
    """Return the calls in a few letters each."""
    names = {sent.serial: sent.name for sent in timeline.requests}
    return [f"{call.hook} {call.record} {names.get(call.serial, '')} {call.joins:d} {call.error}" for call in timeline.hooks]


@pytest.mark.parametrize("target", ["virtual", "reference"])
def test_a_line_for_each_call(target: str) -> None:
    """In the order of the calls, with the record's number and the request's serial."""
    timeline = driven(target, "volume:96", 64, 64)

    assert lines(timeline) == [
        "batcher_initialize 0  0 ",
        "batch_initialize 1  0 ", "include 1 plug 1 ", "batch_finalize 1  0 ",
        "batch_initialize 2  0 ", "include 2 r0 1 ", "include 2 r1 0 ", "batch_finalize 2  0 ",
        "batch_initialize 3  0 ", "include 3 r1 1 ", "batch_finalize 3  0 ",
    ]  # fmt: skip
    assert Timeline.from_json(timeline.to_json()) == timeline


def test_what_a_hook_raised_is_in_it() -> None:
    """And the request that was told of it has the same words."""
    timeline = driven("virtual", "raises:7", 7)

    assert "include 2 r0 0 a request of volume 7" in lines(timeline)
    assert timeline["r0"].kind == "failed"
    assert "hook include raised RuntimeError: a request of volume 7" in timeline["r0"].message


def test_what_the_beginning_or_the_end_of_a_batch_raised_is_in_it() -> None:
    """With the record's number, in the order of the calls."""
    ended, begun = driven("virtual", "fragile:96", 13), driven("virtual", "fragile:96", 11, 96)

    assert lines(ended)[-1] == "batch_finalize 2  0 this batch had a volume of 13"
    assert "batch_initialize 3  0 a batch before this one had a volume of 11" in lines(begun)
    assert begun["r1"].kind == "failed"


def test_no_hooks_without_a_strategy() -> None:
    """Nothing is logged, and the evidence is what it was before there were strategies."""
    timeline = driven("virtual", "", 7)

    assert timeline.hooks == ()
    assert "hooks" not in timeline.to_json()
