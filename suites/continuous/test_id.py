"""IDs: what an engine does with two requests that have the same ID."""

import pytest


@pytest.mark.rule("CB-ID-001")
def test_at_once(generating, judge):
    """A request with the ID of one that runs is refused, or both get their own texts"""
    on = generating()
    on.send("first", "other", max_tokens=2 * on.block)
    on.until_got("first", 2)
    on.send("second", max_tokens=on.block, as_id="first")

    judge(on.generations())


@pytest.mark.rule("CB-ID-002")
def test_again(generating, judge):
    """An ID can be used again when its request has ended"""
    on = generating()
    for name in ("first", "second", "third"):
        on.send(name, max_tokens=5, as_id="again")
        on.finish()
    if on.claims.get("cancel"):
        on.send("goes", max_tokens=3 * on.block, as_id="again")
        on.until_got("goes", 2)
        on.abort("goes")
        on.step(4)
        on.send("fourth", max_tokens=5, as_id="again")
        on.finish()

    judge(on.generations())


@pytest.mark.rule("CB-ID-003")
def test_after_an_abort(generating, judge):
    """A request with the ID of one that was just aborted is refused, or gets its own text"""
    on = generating()
    on.send("first", "other", max_tokens=2 * on.block)
    on.until_got("first", 2)
    on.abort("first")
    on.send("second", max_tokens=4, as_id="first")

    judge(on.generations())


@pytest.mark.rule("CB-ID-004")
def test_ended_and_taken_back(generating, judge):
    """Taking back what has ended does not touch the next request with its ID"""
    on = generating()
    on.send("first", max_tokens=3, as_id="again")
    on.finish()
    on.abort("first")
    on.send("second", max_tokens=on.block, as_id="again")
    on.finish()

    judge(on.generations())
