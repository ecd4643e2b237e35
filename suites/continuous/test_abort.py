"""Aborts: a request that is taken back costs nothing more, and nobody else notices."""

import random

import pytest


@pytest.mark.rule("CB-ABORT-001")
def test_running(generating, judge):
    """A running request that is taken back is in no further iteration"""
    on = generating()
    on.send("goes", "stays", max_tokens=4 * on.block)
    on.until_got("goes", 3)
    on.abort("goes")

    judge(on.generations())


@pytest.mark.rule("CB-ABORT-002")
def test_waiting(generating, judge):
    """A request that is taken back while it waits never runs"""
    on = generating(seqs=2)
    on.send("soon", "r0", "r1", "waits", "r2", max_tokens=on.block)
    on.abort("soon")
    on.until_got("r0", 2)
    on.abort("waits")

    judge(on.generations())


@pytest.mark.rule("CB-ABORT-003")
def test_in_its_prompt(generating, judge):
    """A request that is taken back in the middle of its prompt leaves the rest of it uncomputed"""
    on = generating(budget=2)
    on.send("stays", max_tokens=3 * on.block)
    on.until_got("stays", 2)
    on.send("goes", length=7 * on.block)
    on.until_running("goes")
    on.abort("goes")

    judge(on.generations())


@pytest.mark.rule("CB-ABORT-004")
def test_others_unharmed(generating, judge, seed):
    """Aborts at random moments change no other request's text"""
    rng = random.Random(seed())
    on = generating(budget=2, blocks=12)
    for place in range(24):
        on.send(f"r{place}", length=rng.randint(8, 4 * on.block), max_tokens=rng.randint(2, on.block))
        on.step(rng.randrange(4))
        if place % 3 == 2:
            on.abort(f"r{rng.randint(place - 2, place)}")

    judge(on.generations())


@pytest.mark.rule("CB-ABORT-005")
def test_idle_aborts(generating, judge):
    """Taking back what has ended, what nobody sent, or the same request again harms nobody"""
    on = generating(seqs=2)
    on.send("ended", max_tokens=2)
    on.send("twice", "r0", "r1", max_tokens=on.block)
    on.until_got("twice", 2)
    for name in ("ended", "nobody", "twice", "twice"):
        on.abort(name)
    on.step()
    on.abort("twice")

    judge(on.generations())


@pytest.mark.rule("CB-ABORT-006")
def test_gives_back(generating, judge):
    """The place and the blocks of a request that is taken back are free for others"""
    on = generating(seqs=2, budget=2, blocks=8)
    for place in range(4):
        on.send(f"hog{place}", length=5 * on.block, max_tokens=2 * on.block)
        on.until_got(f"hog{place}", 1)
        on.abort(f"hog{place}")
    on.send("prompt", length=6 * on.block)
    on.until_running("prompt")
    on.abort("prompt")
    on.send("last", length=6 * on.block, max_tokens=on.block)

    judge(on.generations())


@pytest.mark.rule("CB-ABORT-007")
def test_client_gone(generating, judge):
    """A request whose client goes away while it runs is in no further iteration"""
    on = generating()
    on.send("goes", "stays", max_tokens=4 * on.block)
    on.until_got("goes", 3)
    on.disconnect("goes")

    judge(on.generations())


@pytest.mark.rule("CB-ABORT-008")
def test_client_gone_waiting(generating, judge):
    """A request whose client goes away while it waits never runs"""
    on = generating(seqs=2)
    on.send("r0", "r1", "waits", "r2", max_tokens=4 * on.block)
    on.until_got("r0", 2)
    on.disconnect("waits")

    judge(on.generations())


@pytest.mark.rule("CB-ABORT-009")
def test_shared_blocks(generating, judge):
    """Blocks that a request shares stay with the others when it is taken back"""
    on = generating(blocks=16, prefix_cache=True)
    on.send("goes", length=4 * on.block, shared=3 * on.block, max_tokens=2 * on.block)
    on.until_got("goes", 2)
    on.send("stays", length=4 * on.block, shared=3 * on.block, max_tokens=2 * on.block)
    on.until_got("stays", 2)
    on.abort("goes")
    on.send("r0", "r1", "r2", length=3 * on.block, max_tokens=on.block)

    judge(on.generations())


@pytest.mark.rule("CB-ABORT-010")
def test_makes_room(generating, judge):
    """When a request that filled the KV cache is taken back, the one that had to make room for it goes on"""
    on = generating(blocks=8)
    on.send("goes", "waits", length=2 * on.block, max_tokens=4 * on.block)
    on.until_got("goes", 3 * on.block)
    on.abort("goes")
    on.step(2)
    on.send("next")

    judge(on.generations())


@pytest.mark.rule("CB-ABORT-011")
def test_only_one(generating, judge):
    """Those that wait are served when the only request that runs is taken back"""
    on = generating(seqs=1, blocks=5, length=4)
    on.send("goes", length=2 * on.block, max_tokens=2 * on.block)
    on.until_got("goes", 2)
    on.send("waits", length=3 * on.block, max_tokens=6)
    on.step()
    on.abort("goes")

    judge(on.generations())
