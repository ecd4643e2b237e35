"""Streams: tokens come out while later ones are generated, each once and in order."""

import pytest


@pytest.mark.rule("CB-STREAM-001")
def test_whole_and_in_order(generating, judge):
    """At every moment, the streamed tokens are the beginning of the text, even alongside aborts"""
    on = generating(blocks=12)
    on.send("r0", "r1", "r2", "r3", "r4", length=2 * on.block, max_tokens=2 * on.block)
    on.until_got("r1", 4)
    if on.claims.get("cancel"):
        on.abort("r1")
        on.abort("r4")

    judge(on.generations())


@pytest.mark.rule("CB-STREAM-002")
def test_at_once(generating, judge):
    """A token comes out with the iteration that makes it"""
    on = generating()
    for count in (1, 3, 7, 20):
        on.send(f"r{count}", length=on.block + count, max_tokens=count)

    judge(on.generations())


@pytest.mark.rule("CB-STREAM-003")
def test_first_before_last(generating, judge):
    """The first token of a text does not wait for the last one"""
    on = generating()
    on.send("r0", max_tokens=6 * on.block)

    judge(on.generations())
