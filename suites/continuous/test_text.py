"""Texts: each request gets its own, whatever else the engine computes."""

import pytest


def mixed(generating):
    """Prompts below, at and above the edges of blocks, which run at once and beyond the sequence limit."""
    on = generating()
    block = on.block
    for place, length in enumerate((block - 1, block, block + 1, 2 * block, 3 * block + 1, block // 2)):
        on.send(f"r{place}", length=length, max_tokens=block // 2 + 3 * place)
    return on.generations()


@pytest.mark.rule("CB-TEXT-001")
def test_own_text(generating, judge):
    """Requests that run together each get the text that their own prompt leads to"""
    judge(mixed(generating))


@pytest.mark.rule("CB-TEXT-002")
def test_in_place(generating, judge):
    """Every entry of the KV cache that is read back is the request's own, and in its place"""
    judge(mixed(generating))
