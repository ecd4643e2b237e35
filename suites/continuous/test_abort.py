"""Aborts: an aborted request costs nothing more, and no other request notices."""

import random

import pytest

DOZENS = 40


def two_running(generating):
    """Two requests, in the middle of their texts."""
    on = generating()
    on.send("goes", "stays", max_tokens=4 * on.block)
    on.until_got("goes", 3)
    return on


@pytest.mark.rule("CB-ABORT-001")
def test_running(generating, judge):
    """A running request that is aborted is in no further iteration"""
    on = two_running(generating)
    on.abort("goes")

    judge(on.generations())


@pytest.mark.rule("CB-ABORT-002")
def test_waiting(generating, judge):
    """A request that is aborted while it waits never runs"""
    on = generating(seqs=2)
    on.send("soon", "r0", "r1", "waits", "r2", max_tokens=on.block)
    on.abort("soon")
    on.until_got("r0", 2)
    on.abort("waits")

    judge(on.generations())


@pytest.mark.rule("CB-ABORT-003")
def test_in_its_prompt(generating, judge):
    """The rest of a prompt is not computed after its request is aborted"""
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
    on.send("goes", max_tokens=2 * on.block)  # whatever has been drawn, one is aborted while it runs
    on.until_got("goes", 2)
    on.abort("goes")

    judge(on.generations())


@pytest.mark.rule("CB-ABORT-005")
def test_idle_aborts(generating, judge):
    """Aborting an ended, unknown or already aborted request harms no other"""
    on = generating(seqs=2)
    on.send("ended", max_tokens=2)
    on.send("twice", "r0", "r1", max_tokens=on.block)
    on.until_got("twice", 2)
    on.until(lambda: on.ended("ended"))
    for name in ("ended", "nobody", "twice", "twice"):
        on.abort(name)
    on.step()
    on.abort("twice")

    judge(on.generations())


@pytest.mark.rule("CB-ABORT-006")
def test_gives_back(generating, judge, claims):
    """The place and the blocks of an aborted request are free for others"""
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

    dozens_of_aborts(generating(seqs=2, budget=1), judge)
    if claims.get("prefix_cache"):  # which may keep a block of each, and has to give it up
        dozens_of_aborts(generating(seqs=2, budget=1, blocks=24, prefix_cache=True), judge)
    if claims.get("samples"):
        aborts_of_three(generating(seqs=4, blocks=12), judge, after=2)
        for blocks in (1, 2) if claims.get("chunked_prefill") else ():  # an engine computes their prompt once, or thrice
            aborts_of_three(generating(seqs=4, budget=blocks, blocks=12), judge, after=blocks - 1)


def dozens_of_aborts(on, judge):
    """Requests are aborted in each state, and what each leaves behind adds up; then two come that need many blocks.

    Two of the same sizes came first, and show what this engine does with them. One of those that are aborted waits, and may
    have a place and blocks already: an engine that computes prompts whole has no budget left for it.
    """
    on.send("first", "first too", length=6 * on.block, max_tokens=on.block)
    on.finish()
    for place in range(DOZENS):
        on.send(f"hog{place}", length=6 * on.block, max_tokens=2 * on.block)
        on.send(f"waits{place}", length=3 * on.block)
        on.until_running(f"hog{place}")
        on.abort(f"waits{place}")
        on.abort(f"hog{place}")
        on.send(f"text{place}", max_tokens=4 * on.block)
        on.until_got(f"text{place}", 2)
        on.abort(f"text{place}")
    on.finish()
    on.send("last", "last too", length=6 * on.block, max_tokens=on.block)
    judge(on.generations())


def aborts_of_three(on, judge, after):
    """Three continuations share two blocks, and are aborted when they have begun; then one needs half of all blocks.

    after: how many iterations after the first. If the budget is small, some of their prompts have not been computed by then.
    """
    for place in range(8):
        on.send(f"three{place}", length=2 * on.block + 3, max_tokens=on.block, samples=3)  # they fit together to their ends
        on.until_running(f"three{place}")
        on.step(after)
        on.abort(f"three{place}")
    on.send("last", length=6 * on.block, max_tokens=on.block)
    judge(on.generations())


@pytest.mark.rule("CB-ABORT-007")
def test_client_gone(generating, judge):
    """A request whose client disconnects while it runs is in no further iteration"""
    on = two_running(generating)
    on.disconnect("goes")

    judge(on.generations())


@pytest.mark.rule("CB-ABORT-008")
def test_client_gone_waiting(generating, judge):
    """A request whose client disconnects while it waits never runs"""
    on = generating(seqs=2)
    on.send("r0", "r1", "waits", "r2", max_tokens=4 * on.block)
    on.until_got("r0", 2)
    on.disconnect("waits")

    judge(on.generations())


@pytest.mark.rule("CB-ABORT-009")
def test_shared_blocks(generating, judge):
    """Shared blocks stay with the other requests when one of them is aborted"""
    on = generating(blocks=16, prefix_cache=True)
    on.send("before", length=4 * on.block, shared=3 * on.block, max_tokens=2)  # some learn when a request ends
    on.finish()
    on.send("goes", length=4 * on.block, shared=3 * on.block, max_tokens=2 * on.block)
    on.until_got("goes", 2)
    on.send("stays", length=4 * on.block, shared=3 * on.block, max_tokens=2 * on.block)
    on.until_got("stays", 2)
    on.abort("goes")
    on.send("r0", "r1", "r2", length=3 * on.block, max_tokens=on.block)

    judge(on.generations())


def behind(on, both):
    """Return for each how many tokens it is behind the other. Guesses bring some ahead: then iterations without it count."""
    most = max(map(on.got, both))
    return {name: on.away(name) * (1 + on.guesses) if on.guesses else most - on.got(name) for name in both}


def has_lost(on, both, tokens):
    """Whether one of two requests is more than so many tokens behind the other, and was not in the last iteration."""
    most = behind(on, both)
    last = max(both, key=most.__getitem__)
    return most[last] > tokens and (not on.seen or bool(on.away(last)))


@pytest.mark.rule("CB-ABORT-010")
def test_makes_room(generating, judge):
    """When a request that filled the KV cache is aborted, the one that it preempted continues"""
    on = generating(blocks=8)
    both = ("goes", "waits")
    on.send(*both, length=2 * on.block, max_tokens=4 * on.block)
    on.until(lambda: has_lost(on, both, on.block // 2) or on.ended(*both))
    on.abort(min(both, key=behind(on, both).__getitem__))
    on.step(2)
    on.send("next")

    judge(on.generations())


@pytest.mark.rule("CB-ABORT-011")
def test_only_one(generating, judge):
    """Waiting requests are served when the only running one is aborted"""
    on = generating(seqs=1, blocks=5, length=4)
    on.send("goes", length=2 * on.block, max_tokens=2 * on.block)
    on.until_got("goes", 2)
    on.send("waits", length=3 * on.block, max_tokens=6)
    on.step()
    on.abort("goes")

    judge(on.generations())


@pytest.mark.rule("CB-ABORT-012")
def test_had_lost_its_blocks(generating, judge):
    """A request that is aborted after it lost its KV blocks does not harm the requests that have them now"""
    on = generating(seqs=5, blocks=8)
    both = ("one", "other")
    on.send(*both, length=2 * on.block, max_tokens=4 * on.block)
    on.until(lambda: has_lost(on, both, 3) or on.ended(*both))
    on.abort(max(both, key=behind(on, both).__getitem__))
    on.send("r0", "r1", "r2", length=on.block // 2, max_tokens=on.block)
    on.finish()
    on.send("r3", "r4", length=on.block, max_tokens=3 * on.block)

    judge(on.generations())


@pytest.mark.rule("CB-ABORT-013")
def test_ids_alike(generating, judge):
    """Taking a request back leaves alone all others, however much their IDs look like its own"""
    on = generating()
    alike = ("r10", "r1-0", "0r1", "R1", "r1 ", "r")
    on.send("r1", *alike[:3], max_tokens=on.block)
    on.until_got("r1", 2)
    on.send(*alike[3:], max_tokens=on.block)
    on.abort("r1")
    on.finish()
    for place in range(2, 10):  # some of it while an engine that iterates by itself has tokens that nobody has read yet
        on.send(f"r{place}", f"r{place}0", f"r{place}-0", max_tokens=on.block)
        on.until_got(f"r{place}", 2)
        on.abort(f"r{place}")
        on.finish()

    judge(on.generations())


@pytest.mark.rule("CB-ABORT-014")
def test_its_place(generating, judge):
    """The place of a running request that is aborted is taken at once by one that waits"""
    on = generating(seqs=2)
    on.send("stays", "goes", max_tokens=4 * on.block)
    on.until_got("goes", 3)
    on.send("waits", "later", max_tokens=6)
    on.step(3)
    on.abort("goes")

    judge(on.generations())


@pytest.mark.rule("CB-ABORT-015")
def test_all_continuations(generating, judge, claims):
    """An abort takes back all continuations of a request"""
    on = generating()
    on.send("goes", max_tokens=4 * on.block, samples=3)
    on.send("stays", max_tokens=4 * on.block)
    on.until_running("goes", "stays")
    on.step(3)  # some engines tell several continuations only at their end
    on.abort("goes")
    judge(on.generations())

    if claims.get("preemption") and claims.get("kv_blocks"):  # some of them have lost their blocks, and others run
        on = generating(blocks=12)
        on.send("stays", length=2 * on.block, max_tokens=4 * on.block)
        on.until_got("stays", 1)
        on.send("goes", length=on.block // 2, max_tokens=3 * on.block, samples=3)
        on.until_running("goes")
        for _ in range(2 * on.block):
            if on.got("goes") < 2 * on.block:  # guesses may be faster
                on.step()
        on.abort("goes")
        judge(on.generations())
