"""Order: which request is scheduled first, and that none waits for ever."""

import itertools

import pytest

from batchproof.fixtures.driving.generating import DISPLACED

DEEP = 70
LONG_ONES = 12
MANY = 300
FLOOD = 70  # iterations with two more requests each


def short_ones(on, sizes, count, most, length=0, shared=0):
    """Send `count` short requests of such a length, at most `most` at a time: when one has ended, the next is sent.

    shared: how many of their first tokens all of them have in common.
    """
    names = [name for name in on.names if name.startswith("s")]
    for place, size in zip(range(len(names), len(names) + count), itertools.cycle(sizes), strict=False):
        on.until(lambda: sum(not on.ended(name) for name in names) < most, f"short request {place} was never served")
        names.append(f"s{place}")
        on.send(names[-1], length=length, shared=shared, max_tokens=size)


def until_raised(claims):
    """Return how many more short requests are needed where an engine raises those that have waited for some time."""
    return 0 if claims.get("request_priorities") else 2 * int(claims.get("ages") or 0)


@pytest.mark.rule("CB-ORDER-001")
def test_first_come(generating, judge, claims):
    """Requests are first scheduled in the order in which they arrived"""
    on = generating(seqs=2, budget=2)
    for place, length in enumerate((1, 3, 2, 1, 3, 1, 2, 1)):
        on.send(f"r{place}", length=length * on.block - place, max_tokens=6 + 3 * (place % 3))
    judge(on.generations())

    on = generating(seqs=2, budget=2, prefix_cache=bool(claims.get("prefix_cache")))
    for place in range(DEEP):  # a deep backlog, in which every third begins as the first one does
        on.send(f"r{place}", length=2 * on.block - place % 5, shared=0 if place % 3 else on.block, max_tokens=2)
    judge(on.generations())

    if claims.get("samples"):  # all continuations of a request come before later ones
        on = generating()
        for place, count in enumerate((3, 1, 2, 1, 3, 2, 1, 1)):
            on.send(f"r{place}", length=on.block // 2 + place, max_tokens=6 + 3 * (place % 3), samples=count)
        judge(on.generations())


@pytest.mark.rule("CB-ORDER-002")
def test_long_among_short(generating, judge, claims):
    """A long request gets its turn, however many short ones keep coming"""
    on = generating(seqs=2)
    short_ones(on, (5, 8), 4, most=4)
    for place in range(LONG_ONES):  # for hundreds of iterations: what orders the queue may be a clock or a number that wraps
        count = 2 if claims.get("samples") and place % 4 == 1 else 1  # the second continuation has its turn as well
        on.send(f"long{place}", length=6 * on.block, max_tokens=9, samples=count)  # its text is longer than any other, too
        short_ones(on, (5, 8, 6), 8, most=4)
    short_ones(on, (5, 8, 6), 32 + until_raised(claims), most=4)
    judge(on.generations())

    on = generating(seqs=8, budget=2)  # more come than are served, so that some always go well with those that run
    for number in range(FLOOD + until_raised(claims) // 2):
        if number == 4:
            on.send("long", length=6 * on.block, max_tokens=9)
        on.send(f"s{2 * number}", f"s{2 * number + 1}", length=4 + number % 3, max_tokens=9)
        on.step()
    judge(on.generations())

    if claims.get("prefix_cache"):  # of what keeps coming, a part is known already, and nothing of the long one is
        on = generating(seqs=2, prefix_cache=True)
        begins = {"length": 2 * on.block, "shared": on.block}
        on.send("before", max_tokens=2, **begins)
        on.finish()
        short_ones(on, (5, 8), 4, most=4, **begins)
        on.until_running("s0", "s1")
        on.send("long", length=6 * on.block, max_tokens=9)
        short_ones(on, (5, 8, 6), 40 + until_raised(claims), most=4, **begins)
        judge(on.generations())

    if claims.get("chunked_prefill"):  # the long prompt has a place, and each part of it needs its share of a small budget
        on = generating(budget=1)
        short_ones(on, (2, 3, 2), 4, most=3)
        on.send("long", length=5 * on.block, max_tokens=4)
        short_ones(on, (2, 3, 2), MANY + until_raised(claims), most=3)
        judge(on.generations())


@pytest.mark.rule("CB-ORDER-003")
def test_head_without_room(generating, judge):
    """A request for which the KV cache has no room holds back those behind it"""
    on = generating(blocks=8)
    on.send("runs", length=3 * on.block, max_tokens=on.block)
    on.until_running("runs")
    on.send("head", length=6 * on.block, max_tokens=4)
    on.send("behind0", "behind1", length=on.block // 2, max_tokens=4)

    judge(on.generations())


@pytest.mark.rule("CB-ORDER-004")
def test_many_blocks_among_few(generating, judge, claims):
    """A request that needs most of the KV cache gets its turn, however many small ones keep coming"""
    on = generating(blocks=8)
    short_ones(on, (5, 8, 11), 3, most=4)
    on.until_running("s0", "s1", "s2")
    on.send("long", length=6 * on.block, max_tokens=4)
    short_ones(on, (5, 8, 6), 40 + until_raised(claims), most=4)
    judge(on.generations())

    if claims.get("preemption"):  # it has had its turn, and needs most of the KV cache to come back
        on = generating(seqs=8, blocks=8)
        on.send("older", length=3 * on.block // 2, max_tokens=2 * on.block)
        on.until_got("older", 1)
        on.send("long", length=6 * on.block - 4, max_tokens=on.block)
        on.until_running("long")
        on.until(lambda: on.state("long") == DISPLACED or on.ended("older"))
        short_ones(on, (5, 8, 6), 60 + until_raised(claims), most=8, length=on.block // 2)  # each needs one block
        judge(on.generations())
