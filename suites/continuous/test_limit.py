"""Limits: how many requests and tokens an iteration has."""

import pytest


def crowd(generating):
    """Three times as many requests as the sequence limit."""
    on = generating(seqs=4)
    on.send(*(f"r{place}" for place in range(12)), max_tokens=10)
    return on.generations()


@pytest.mark.rule("CB-LIMIT-001")
def test_sequence_limit(generating, judge, claims):
    """No iteration has more requests than the sequence limit"""
    judge(crowd(generating))

    if claims.get("samples"):  # each continuation has a row of its own
        on = generating(seqs=4)
        for place, count in enumerate((1, 3, 2, 3, 1, 4, 2, 2)):
            on.send(f"r{place}", max_tokens=6 + place % 3, samples=count)
        judge(on.generations())


@pytest.mark.rule("CB-LIMIT-002")
def test_token_budget(generating, judge, claims):
    """No iteration computes more tokens than the token budget"""
    for count in (1, 3) if claims.get("samples") else (1,):  # each continuation has a token of its own
        on = generating(seqs=8, budget=2)
        on.send("runs", max_tokens=3 * on.block, samples=count)
        on.until_got("runs", 2)
        on.send(*(f"r{place}" for place in range(6)), length=3 * on.block // 2, max_tokens=4)
        judge(on.generations())


@pytest.mark.rule("CB-LIMIT-003")
def test_limit_is_used(generating, judge):
    """With a backlog, as many requests run at once as the sequence limit allows"""
    judge(crowd(generating))
