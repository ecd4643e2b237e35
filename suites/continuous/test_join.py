"""Joining and leaving: the batch is formed anew in each iteration."""

import pytest


@pytest.mark.rule("CB-JOIN-001")
def test_joins_the_running(generating, judge):
    """A request for which there is room joins those that run"""
    on = generating()
    on.send("runs", max_tokens=3 * on.block)
    on.until_got("runs", 3)
    on.send("late", max_tokens=4)

    judge(on.generations())


@pytest.mark.rule("CB-JOIN-002")
def test_leaves_at_once(generating, judge):
    """A request leaves the batch with its last token"""
    on = generating()
    for count in (1, 3, 7, 20):
        on.send(f"r{count}", max_tokens=count)

    judge(on.generations())


@pytest.mark.rule("CB-JOIN-003")
def test_refills(generating, judge):
    """A waiting request takes the place of one that has ended, while others continue"""
    on = generating(seqs=3)
    on.send("long0", "long1", max_tokens=2 * on.block)
    on.send("short", max_tokens=on.block // 2)
    on.send("waits", max_tokens=4)

    judge(on.generations())


@pytest.mark.rule("CB-JOIN-004")
def test_all_advance(generating, judge, claims):
    """Each iteration advances every request that runs"""
    on = generating()
    on.send("r0", "r1", "r2", "r3", max_tokens=on.block)
    judge(on.generations())

    guesses = int(claims.get("speculates") or 0)
    if guesses and claims.get("chunked_prefill") and claims.get("stall_free"):  # there is no budget for everybody's guesses
        on = generating(seqs=4, budget=(4 + guesses + 0.5) / on.block)
        on.send("r0", "r1", "r2", "r3", length=on.block // 4, max_tokens=5 * on.block)
        judge(on.generations())
