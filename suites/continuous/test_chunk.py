"""Chunks: a long prompt is computed in parts, alongside running requests."""

import pytest


@pytest.mark.rule("CB-CHUNK-001")
def test_nothing_twice(generating, judge):
    """The chunks of a prompt follow one another, and no token is computed twice"""
    on = generating(budget=1)
    on.send("long", length=5 * on.block + 3, max_tokens=4)
    on.send("r0", max_tokens=4)
    on.send("other", length=3 * on.block, max_tokens=4)
    judge(on.generations())

    on = generating(budget=1)
    on.send("long", length=4 * on.block, max_tokens=4)
    on.until_running("long")
    on.send("short0", "short1", max_tokens=2)  # each of which may take a whole iteration before the next chunk
    judge(on.generations())


@pytest.mark.rule("CB-CHUNK-002")
def test_texts_go_on(generating, judge):
    """Running texts advance in every iteration while a long prompt is computed"""
    on = generating(budget=1)
    on.send("runs0", "runs1", max_tokens=3 * on.block)
    on.until_got("runs0", 2)
    on.until_got("runs1", 2)
    on.send("long", length=6 * on.block, max_tokens=4)

    judge(on.generations())


@pytest.mark.rule("CB-CHUNK-003")
def test_beyond_the_budget(generating, judge):
    """A prompt that is longer than the token budget is served"""
    on = generating(budget=1)
    on.send("long", length=5 * on.block, max_tokens=4)
    on.send("longest", length=8 * on.block - 3, max_tokens=3)
    on.send("edge", length=on.block + 1, max_tokens=4)
    on.send("one", length=2 * on.block + 3, max_tokens=1)  # its first token is its last one, behind several chunks

    judge(on.generations())


@pytest.mark.rule("CB-CHUNK-004")
def test_behind_a_long_prompt(generating, judge):
    """A short prompt behind a long one waits no longer than the long one takes to compute"""
    on = generating(budget=1)
    on.send("long", length=6 * on.block, max_tokens=2 * on.block)
    on.until_running("long")
    on.send("short", length=on.block // 2, max_tokens=4)

    judge(on.generations())


@pytest.mark.rule("CB-CHUNK-005")
def test_budget_is_used(generating, judge):
    """While prompts wait and there is room for another request, each iteration uses the whole token budget"""
    on = generating(seqs=8, budget=1)
    on.send("runs", max_tokens=2 * on.block)
    on.until_got("runs", 2)
    on.send("r0", "r1", "r2", "r3", length=on.block // 4, max_tokens=on.block)
    on.send("r4", length=3 * on.block, max_tokens=4)
    on.send("r5", length=2 * on.block + 3, max_tokens=4)

    judge(on.generations())


@pytest.mark.rule("CB-CHUNK-006")
def test_many_chunks(generating, judge):
    """A long prompt alongside running texts is computed further in each iteration that has room for it"""
    on = generating(budget=2, length=26)
    on.send("runs0", "runs1", max_tokens=4 * on.block)
    on.until_got("runs0", 2)
    on.until_got("runs1", 2)
    on.send("long", length=24 * on.block, max_tokens=4)

    judge(on.generations())
