"""The KV cache: who owns which blocks, that blocks are freed, and what happens when there are not enough."""

import pytest

TIERS = 24  # prompts of three to seven blocks, of which two begin alike


@pytest.mark.rule("CB-KV-001")
def test_own_blocks(generating, judge):
    """No KV block is in the tables of two requests at once, unless both have the same tokens up to its end"""
    on = generating(blocks=16)
    rounds = 1 if on.claims.get("kv_blocks") else 4  # a cache of the engine's own size may be large
    for place, length in enumerate((1, 3, 2, 5, 1, 4, 2, 3) * rounds):
        more = place % 8
        on.send(f"r{place}", length=length * on.block - 2 * more, max_tokens=on.block // 2 + 5 * more)

    judge(on.generations())


@pytest.mark.rule("CB-KV-002")
def test_blocks_return(generating, judge):
    """A request that needs the whole KV cache is served after many others have ended"""
    on = generating(blocks=8)
    for place in range(16):
        on.send(f"r{place}", length=on.block * (1 + place % 3), max_tokens=1 + on.block * (place % 4) // 2)
        if on.claims.get("cancel") and place % 4 == 3:
            on.until_running(f"r{place}")
            on.abort(f"r{place}")
    for place in range(16, 24 if on.claims.get("stop_tokens") else 16):  # each ends long before it might have to
        on.send(f"r{place}", max_tokens=3 * on.block, stop_after=2)
    on.until(on.ended)
    on.send("whole", length=7 * on.block, max_tokens=on.block)
    judge(on.generations())

    if on.claims.get("preemption"):  # one of two loses its blocks when its last one is filled in part
        on = generating(seqs=2, blocks=8)
        on.send("r0", length=2 * on.block, max_tokens=3 * on.block)
        on.until_got("r0", on.block // 2)
        on.send("r1", length=2 * on.block, max_tokens=3 * on.block)
        on.finish()
        on.send("whole", length=7 * on.block, max_tokens=on.block)
        judge(on.generations())


@pytest.mark.rule("CB-KV-003")
def test_never_fits(generating, judge):
    """A prompt too large for the whole KV cache is refused, and others are served"""
    on = generating(blocks=4)
    on.send("r0", max_tokens=on.block)
    on.send("over", length=6 * on.block, max_tokens=4)
    on.send("r1", "r2", max_tokens=6)
    on.finish()
    on.send("r3", max_tokens=6)

    judge(on.generations())


@pytest.mark.rule("CB-KV-004")
def test_fits_alone(generating, judge):
    """A request that fits into the KV cache alone is served, even if others fill it"""
    on = generating(seqs=6, blocks=8)
    for place in range(6):
        on.send(f"r{place}", length=on.block * (1 + place % 2), max_tokens=5 * on.block)

    judge(on.generations())


@pytest.mark.rule("CB-KV-005")
def test_progress(generating, judge):
    """Between two preemptions of a request, some text advances"""
    on = generating(seqs=6, blocks=8)
    on.send(*(f"r{place}" for place in range(6)), max_tokens=6 * on.block)

    judge(on.generations())


@pytest.mark.rule("CB-KV-006")
def test_waiting_holds_nothing(generating, judge):
    """A waiting request holds no KV blocks"""
    on = generating(seqs=2)
    on.send("runs0", "runs1", max_tokens=2 * on.block)
    on.until_got("runs0", 2)
    on.until_got("runs1", 2)
    on.send(*(f"waits{place}" for place in range(6)), length=5 * on.block, max_tokens=2)
    on.step(3)
    on.look("full")

    judge(on.generations())


@pytest.mark.rule("CB-KV-007")
def test_prefix_once(generating, judge):
    """A prefix in the KV cache is not computed again, even for two requests that arrive together"""
    on = generating(prefix_cache=True)
    on.send("first", length=4 * on.block, shared=3 * on.block)
    on.until(lambda: on.ended("first"))
    on.send("next0", "next1", length=4 * on.block, shared=3 * on.block)

    judge(on.generations())


@pytest.mark.rule("CB-KV-008")
def test_newest_is_preempted(generating, judge):
    """When KV blocks run out, the newest request loses its blocks"""
    on = generating(blocks=8)
    for name in ("r0", "r1", "r2"):
        on.send(name, max_tokens=7 * on.block // 2)
        on.until_running(name)

    judge(on.generations())


@pytest.mark.rule("CB-KV-009")
def test_cached_blocks_are_no_reserve(generating, judge):
    """Requests that fit into the KV cache one after the other are served, whatever the prefix cache holds"""
    on = generating(blocks=8, prefix_cache=True)
    on.send("first", length=3 * on.block + 4, max_tokens=1)
    on.until(lambda: on.ended("first"))
    on.send("large", length=6 * on.block + 8)
    on.send("alike", prompt=(*on.prompt_of("first"), *range(500, 500 + on.block)))
    judge(on.generations())

    on = generating(blocks=8, prefix_cache=True)
    for name in ("first", "next"):
        on.send(name, length=3 * on.block + 4, max_tokens=1)
        on.finish()
    # it begins with the blocks that would be used again first, and needs more than those that hold nothing
    on.send("alike", prompt=(*on.prompt_of("first"), *range(500, 500 + 3 * on.block)), max_tokens=4)
    judge(on.generations())

    if on.claims.get("preemption"):  # what one loses belongs to another as well
        on = generating(blocks=7, prefix_cache=True)
        on.send("before", length=3 * on.block, shared=2 * on.block, max_tokens=2)
        on.finish()
        for name, shared in (("r0", 2), ("other", 0), ("r1", 2)):  # the last one loses its blocks first, and the other next
            on.send(name, length=(shared + 1) * on.block - 6, shared=shared * on.block, max_tokens=4 * on.block)
        judge(on.generations())


@pytest.mark.rule("CB-KV-010")
def test_whole_beginning(generating, judge):
    """A request takes no more tokens from the prefix cache than it shares with the beginning of an earlier one"""
    on = generating(prefix_cache=True)
    block = on.block
    on.send("short", length=2 * block, shared=block)  # an engine may know a beginning only where a prompt has ended
    on.send("first", length=3 * block, shared=2 * block)
    on.send("second", length=2 * block)
    on.until(on.ended)
    first, second = on.prompt_of("first"), on.prompt_of("second")
    on.send("mixed", prompt=(*first[:block], *second[block:], *second[:block]))
    judge(on.generations())

    if on.claims.get("kv_blocks"):  # the KV cache has lost them; what stands behind it may have them
        on = generating(blocks=8, prefix_cache=True)
        on.send("first", length=3 * block, shared=2 * block)
        on.send("second", length=2 * block)
        for place in range(2):
            on.finish()
            on.send(f"other{place}", length=6 * block + 2)
        on.finish()
        first, second = on.prompt_of("first"), on.prompt_of("second")
        on.send("again", prompt=first)
        on.finish()
        on.send("mixed", prompt=(*first[:block], *second[block:], *second[:block]))
        judge(on.generations())

    on = generating(prefix_cache=True)
    on.send("first", length=3 * block, shared=2 * block)
    on.send("second", length=2 * block)
    on.finish()
    first, second = on.prompt_of("first"), on.prompt_of("second")
    on.send("begins", prompt=(*second[:block], *first[block : 2 * block]))
    on.finish()  # its last block is one of the first's, before which something else stands
    on.step(2)  # what looks ahead computes it once more
    on.send("mixed", prompt=(*second[:block], *first[block:], *second[block:]))
    judge(on.generations())


@pytest.mark.rule("CB-KV-011")
def test_each_token_counts(generating, judge):
    """A block of the prefix cache serves those whose tokens up to its end are all the same, and nobody else"""
    on = generating(seqs=8, prefix_cache=True)
    block = on.block
    on.send("base", length=3 * block + 4)
    on.until(on.ended)
    base = on.prompt_of("base")
    for place in (*range(block, 2 * block), 3 * block - 1):
        on.send(f"other{place}", prompt=(*base[:place], base[place] ^ 1, *base[place + 1 :]), max_tokens=2)
    for place in range(block, 2 * block - 1, 3):
        on.send(f"turned{place}", prompt=(*base[:place], *base[place : place + 2][::-1], *base[place + 2 :]), max_tokens=2)
    on.send("reversed", prompt=(*base[:block], *base[block : 2 * block][::-1], *base[2 * block :]), max_tokens=2)
    on.send("exchanged", prompt=(*base[:block], *base[2 * block : 3 * block], *base[block:]), max_tokens=2)
    judge(on.generations())

    if on.claims.get("kv_blocks"):  # more than the KV cache holds, and more than what may stand behind it, many times over
        on = generating(blocks=8, prefix_cache=True)
        for place in range(TIERS):
            length = (3 + place % 4) * block + 2
            on.send(f"kept{place}", length=length, shared=2 * block, family=place // 2, max_tokens=2)
            on.finish()
        for place in (*range(TIERS - 1, 0, -3), *range(0, TIERS, 3)):
            again = on.prompt_of(f"kept{place}")
            on.send(f"half{place}", prompt=again[: len(again) // 2 + 1], max_tokens=2)
            on.finish()
            on.send(f"begins{place}", prompt=again, max_tokens=2)
            on.finish()
        judge(on.generations())

        on = generating(blocks=8, prefix_cache=True)
        for name in ("one", "two", "three"):  # each takes the blocks of the last one
            on.send(name, length=6 * block + 2, max_tokens=2)
            on.finish()
        one, two = on.prompt_of("one"), on.prompt_of("two")
        on.send("crossed", prompt=(*one[: 2 * block], *two[2 * block :]), max_tokens=2)
        on.finish()
        on.send("begins", prompt=one, max_tokens=block // 2)
        on.send("beside0", "beside1", length=block // 2, max_tokens=block // 2)
        judge(on.generations())


@pytest.mark.rule("CB-KV-012")
def test_computed_only(generating, judge, claims):
    """What was never computed of an aborted prompt does not come from the prefix cache"""
    on = generating(budget=1.5, prefix_cache=True)
    samples = 2 if claims.get("samples") else 1
    for family, (iterations, count) in enumerate(((1, 1), (2, 1), (1, samples), (2, samples))):
        on.send(f"goes{family}", length=6 * on.block, shared=5 * on.block, family=family, samples=count)
        on.step(iterations)
        on.abort(f"goes{family}")
        on.send(f"alike{family}", f"again{family}", length=6 * on.block, shared=5 * on.block, family=family)
        on.finish()

    judge(on.generations())


@pytest.mark.rule("CB-KV-013")
def test_hits_return(generating, judge):
    """Blocks that several requests shared are free for others when all of them have ended"""
    on = generating(blocks=12, length=12, prefix_cache=True)
    for family in range(14):
        for names in (("first",), ("hit", "both")):
            on.send(*(f"{name}{family}" for name in names), length=4 * on.block, shared=3 * on.block, family=family,
                    max_tokens=2 if family < 12 else 4)  # fmt: skip
            if family >= 12 and "first" in names:  # it has them still when others come that share only a part of them
                on.until_got(f"first{family}", 1)
            else:
                on.finish()
    on.send("whole", length=11 * on.block, max_tokens=on.block // 2)
    judge(on.generations())

    on = generating(blocks=12, length=12, prefix_cache=True)
    for family in range(14):  # the same prompt again, and twice at once: what the second of two has is there already
        on.send(f"first{family}", length=4 * on.block - 2, max_tokens=4)
        on.finish()
        on.send(f"hit{family}", f"both{family}", prompt=on.prompt_of(f"first{family}"), max_tokens=4)
        on.finish()
    on.send("whole", length=11 * on.block, max_tokens=on.block // 2)
    judge(on.generations())

    if on.claims.get("cancel"):
        hits_taken_back(generating, judge)


def hits_taken_back(generating, judge):
    """One of two that find a prompt in the cache is taken back: while it waits, or when it has begun."""
    on = generating(seqs=1, blocks=12, length=12, prefix_cache=True)
    for family in range(6):  # one that would find its prompt in the cache is taken back while it waits
        on.send(f"first{family}", length=4 * on.block - 2, max_tokens=2)
        on.finish()
        on.send(f"hit{family}", f"gone{family}", prompt=on.prompt_of(f"first{family}"), max_tokens=8)
        on.until_got(f"hit{family}", 1)
        on.abort(f"gone{family}")
        on.finish()
    on.send("whole", length=11 * on.block, max_tokens=on.block // 2)
    judge(on.generations())

    on = generating(blocks=12, length=12, prefix_cache=True)
    for family in range(14):  # one of two that found a prompt in the cache is taken back
        on.send(f"first{family}", length=4 * on.block - 2, max_tokens=2)
        on.finish()
        on.send(f"hit{family}", f"gone{family}", prompt=on.prompt_of(f"first{family}"), max_tokens=8)
        on.until_got(f"gone{family}", 1)
        on.abort(f"gone{family}")
        on.finish()
    on.send("whole", length=11 * on.block, max_tokens=on.block // 2)
    judge(on.generations())

    on = generating(blocks=12, length=12, prefix_cache=True)
    for family in range(8):  # more than the KV cache holds: what it has lost may come back from elsewhere
        on.send(f"first{family}", length=4 * on.block - 2, max_tokens=2)
        on.finish()
    for family in range(8):
        on.send(f"gone{family}", prompt=on.prompt_of(f"first{family}"), max_tokens=8)
        on.step()
        on.abort(f"gone{family}")
        for name in ("hit", "both"):
            on.send(f"{name}{family}", prompt=on.prompt_of(f"first{family}"), max_tokens=2)
            on.finish()
    on.send("whole", length=11 * on.block, max_tokens=on.block // 2)
    judge(on.generations())


@pytest.mark.rule("CB-KV-014")
def test_fills_it_whole(generating, judge):
    """A prompt that needs every block of the KV cache is served or refused, and does not wait for ever"""
    on = generating(blocks=8, length=9)
    for place, length in enumerate((7 * on.block + 1, 8 * on.block - 3, 8 * on.block)):
        on.send(f"whole{place}", length=length, max_tokens=8 * on.block - length + 1)
        on.send(f"r{place}", max_tokens=3)
    on.finish()
    on.send("r older", length=on.block // 4, max_tokens=3 * on.block // 4)
    on.until_got("r older", 1)
    on.send("r newer", length=7 * on.block - 2, max_tokens=on.block)  # it comes to need every block, and has to wait for one

    judge(on.generations())


@pytest.mark.rule("CB-KV-015")
def test_beginning_stays(generating, judge):
    """A cached prompt that loses some of its blocks to another request keeps its beginning"""
    on = generating(blocks=12, length=12, prefix_cache=True)
    on.send("first", length=8 * on.block - 2, max_tokens=2)
    on.finish()
    on.send("other", length=8 * on.block - 2, max_tokens=2)
    on.finish()
    on.send("again", prompt=on.prompt_of("first"), max_tokens=2)

    judge(on.generations())
