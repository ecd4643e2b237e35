"""Liveness: the engine continues to serve, whatever it has served, refused or been asked for."""

import random

import pytest


@pytest.mark.rule("CB-LIVE-001")
def test_idle(generating, judge):
    """An engine without requests runs no iterations"""
    on = generating()
    on.step(5)
    on.send("r0", "r1", max_tokens=6)
    on.finish()
    on.step(5)

    judge(on.generations())


@pytest.mark.rule("CB-LIVE-002")
def test_after_the_end(generating, judge):
    """When all requests have ended, the next one is served"""
    on = generating()
    on.send("r0", "r1", "r2", max_tokens=6)
    on.finish()
    on.step(5)
    on.send("late", max_tokens=6)

    judge(on.generations())


@pytest.mark.rule("CB-LIVE-003")
def test_long_life(generating, judge, seed):
    """After hundreds of requests, the engine serves as it did at first"""
    rng = random.Random(seed())
    on = generating(blocks=16)
    wave(on, "first")
    for number in range(40):
        for place in range(6):
            name = f"r{number}.{place}"
            on.send(name, length=rng.randint(8, 2 * on.block), max_tokens=rng.randint(2, 12))
        on.until_got(f"r{number}.0", 1)
        if on.claims.get("cancel"):
            on.abort(f"r{number}.1")
            on.abort(f"r{number}.5")
        on.finish()
    wave(on, "last")

    judge(on.generations())


@pytest.mark.rule("CB-LIVE-004")
def test_deep_backlog(generating, judge):
    """A backlog of hundreds of requests is served"""
    on = generating(seqs=8)
    on.send(*(f"r{place}" for place in range(300)), length=on.block // 2, max_tokens=2)

    judge(on.generations())


@pytest.mark.rule("CB-LIVE-005")
def test_end_together(generating, judge):
    """Requests that end in the same iteration all end, and those behind them are served"""
    on = generating(seqs=8)
    for place, count in enumerate((5, 5, 5, 5, 8, 7, 6, 5)):  # some end together, also if they begin one after the other
        on.send(f"burst{place}", max_tokens=count)
    on.send(*(f"behind{place}" for place in range(8)), max_tokens=5)

    judge(on.generations())


@pytest.mark.rule("CB-LIVE-006")
def test_too_long(generating, judge):
    """Prompts that are too long harm no other request"""
    on = generating(length=4)
    on.send("r0", max_tokens=on.block)
    on.until_got("r0", 2)
    on.send("long0", length=5 * on.block)
    on.send("r1", "r2", max_tokens=6)
    on.send("long1", length=9 * on.block)
    on.send("r3", max_tokens=6)

    judge(on.generations())


@pytest.mark.rule("CB-LIVE-007")
def test_degenerate(generating, judge):
    """An empty prompt, a request for no tokens and a prompt of one token harm no other request"""
    on = generating()
    on.send("r0", max_tokens=on.block)
    on.until_got("r0", 2)
    on.send("odd prompt", prompt=(), max_tokens=6)
    on.send("r1", max_tokens=6)
    on.send("odd number", max_tokens=0)
    on.send("odd length", length=1, max_tokens=6)
    on.send("r2", max_tokens=6)
    on.finish()
    on.send("odd one alone", prompt=(), max_tokens=6)
    on.finish()
    on.send("r3", max_tokens=6)

    judge(on.generations())


@pytest.mark.rule("CB-LIVE-008")
def test_thousands_of_blocks(generating, judge, seed):
    """When thousands of KV blocks have been given out and returned, each request still gets its own text"""
    rng = random.Random(seed())
    on = generating(seqs=8, blocks=20)
    for place in range(900):
        on.send(f"r{place}", length=rng.randint(on.block // 2, 3 * on.block), max_tokens=rng.randint(1, 5))
    on.finish()
    on.send(*(f"s{place}" for place in range(1300)), length=on.block // 2, max_tokens=1)  # and thousands of requests

    judge(on.generations())


def wave(on, name):
    """Send six requests of several lengths, and let them end."""
    for place in range(6):
        on.send(f"{name}{place}", length=on.block // 2 + 3 * place, max_tokens=3 + 2 * place)
    on.finish()
