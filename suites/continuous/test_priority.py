"""Priorities: a lower number comes first."""

import pytest


@pytest.mark.rule("CB-PRIO-001")
def test_higher_first(generating, judge):
    """A waiting request of higher priority is scheduled before those of lower priority"""
    on = generating(seqs=1, policy="priority")
    on.send("runs", max_tokens=on.block)
    on.until_running("runs")
    on.send("r9", priority=9)
    on.send("r5", priority=5)
    on.send("r0", priority=0)
    on.send("r7", priority=7)

    judge(on.generations())


@pytest.mark.rule("CB-PRIO-002")
def test_equals_by_arrival(generating, judge, claims):
    """Requests of equal priority are scheduled in the order in which they arrived"""
    on = generating(seqs=1, policy="priority")
    on.send("runs", max_tokens=on.block)
    on.until_running("runs")
    for place, length in enumerate((2, 1, 3, 1, 2)):
        on.send(f"r{place}", length=length * on.block, max_tokens=4, priority=3)
    judge(on.generations())

    if claims.get("samples") and not claims.get("takes_turns") and claims.get("stages", 1) == 1:
        on = generating(seqs=3, policy="priority")
        on.send("keeps", length=on.block // 2, max_tokens=3 * on.block, samples=3, priority=3)
        on.until_got("keeps", 2)
        for place in range(3):  # each continuation is as urgent as its request, and came as early
            on.send(f"late{place}", length=on.block // 2, max_tokens=4, priority=3)
            on.advance(1)
        judge(on.generations())


@pytest.mark.rule("CB-PRIO-003")
def test_victim(generating, judge):
    """A preemption hits the newest request of the lowest priority"""
    on = generating(blocks=8, policy="priority")
    for name, priority in (("r0", 5), ("r1", 5), ("r2", 0)):
        on.send(name, max_tokens=7 * on.block // 2, priority=priority)
        on.until_running(name)

    judge(on.generations())


@pytest.mark.rule("CB-PRIO-004")
def test_lowest_is_served(generating, judge):
    """The lowest priority is served once the higher ones have been"""
    on = generating(seqs=1, policy="priority")
    on.send("s0", max_tokens=6)
    on.until_running("s0")
    on.send("low", priority=9)
    for place in range(8):
        on.send(f"s{place + 1}", max_tokens=6)
        on.until(lambda place=place: on.ended(f"s{place}"))

    judge(on.generations())


@pytest.mark.rule("CB-PRIO-005")
def test_taking_blocks(generating, judge):
    """Requests of several priorities that take each other's KV blocks keep to the limits and get their own texts"""
    on = generating(seqs=3, budget=0.5, blocks=12, length=10, policy="priority")
    for phase in range(0, on.block, max(1, on.block // 16)):  # so that blocks are lost at each point of the long prompt
        on.send(f"grows{phase}", length=on.block // 2 + phase, max_tokens=3 * on.block, priority=1)
        on.send(f"loses{phase}", length=2 * on.block, max_tokens=2 * on.block, priority=9)
        on.until_running(f"loses{phase}")
        on.send(f"long{phase}", length=8 * on.block - 3, max_tokens=2, priority=0)
        on.send(*(f"r{place}.{phase}" for place in range(3)), length=on.block // 2, max_tokens=on.block, priority=0)
        on.finish()

    judge(on.generations())
