"""Texts: each request gets its own, whatever else the engine computes."""

import pytest

MANY = 150


def mixed(generating):
    """More prompts than the sequence limit, with lengths just below, at and above block boundaries, and two of the same."""
    on = generating()
    block = on.block
    for place, length in enumerate((block - 1, block, block, block + 1, 2 * block, 3 * block + 1, block // 2)):
        on.send(f"r{place}", length=length, max_tokens=block // 2 + 3 * place)
    return on.generations()


@pytest.mark.rule("CB-TEXT-001")
def test_own_text(generating, judge):
    """Requests that run together each get the text of their own prompt"""
    judge(mixed(generating))


@pytest.mark.rule("CB-TEXT-002")
def test_in_place(generating, judge):
    """Every entry of the KV cache that is read back is the request's own, and in its place"""
    judge(mixed(generating))


@pytest.mark.rule("CB-TEXT-003")
def test_one_token(generating, judge):
    """A prompt of one token is served with its own text"""
    on = generating()
    on.send("one0", length=1, max_tokens=on.block + 1)
    on.send("r0", max_tokens=6)
    on.send("one1", length=1, max_tokens=6)

    judge(on.generations())


@pytest.mark.rule("CB-TEXT-004")
def test_preempted(generating, judge):
    """A preempted request continues its own text, and nothing is repeated or lost"""
    on = generating(blocks=8)
    on.send("r0", "r1", "r2", "r3", max_tokens=5 * on.block // 2)
    judge(on.generations())


@pytest.mark.rule("CB-TEXT-005")
def test_shared_prefixes(generating, judge):
    """Reusing a prefix that other requests have computed changes no text"""
    on = generating(prefix_cache=True)
    block = on.block
    on.send("first", length=3 * block, shared=2 * block)
    on.send("whole", length=2 * block)
    on.until(lambda: on.ended("first", "whole"))
    on.send("begins", length=3 * block + 1, shared=2 * block)
    on.send("half", length=3 * block, shared=3 * block // 2)
    *front, last = on.prompt_of("whole")
    on.send("equal", prompt=(*front, last))
    on.send("differs", prompt=(*front, last ^ 1))
    on.send("longer", prompt=(*front, last, last))
    on.send("other", prompt=(*range(500, 500 + block), *front[block:], last, last))

    judge(on.generations())


@pytest.mark.rule("CB-TEXT-006")
def test_samples(generating, judge):
    """Each continuation of a prompt is complete and correct, and ends once"""
    on = generating(seqs=6)
    on.send("several", length=on.block + 3, samples=3, max_tokens=on.block)
    on.send("one", max_tokens=on.block)
    on.send("pair", length=2 * on.block, samples=2, max_tokens=5)

    judge(on.generations())


@pytest.mark.rule("CB-TEXT-007")
def test_repeated(generating, judge):
    """The same prompt gets the same text alone, again, and alongside other requests"""
    on = generating()
    on.send("same0", length=on.block + 3, max_tokens=on.block)
    on.until(lambda: on.ended("same0"))
    prompt = on.prompt_of("same0")
    on.send("r0", length=2 * on.block, max_tokens=on.block)
    on.send("same1", prompt=prompt, max_tokens=on.block)
    on.send("r1", length=3, max_tokens=on.block)
    on.send("same2", prompt=prompt, max_tokens=on.block)
    if on.claims.get("text") == "unknown":  # no other rule can tell whether a text is right after many others
        for place in range(MANY):
            on.send(f"m{place}", length=on.block // 2 + place % 7, max_tokens=1 + place % 4)
            if place % 5 == 4:
                on.send(f"same{3 + place}", prompt=prompt, max_tokens=on.block)

    judge(on.generations())


@pytest.mark.rule("CB-TEXT-008")
def test_beside_those_that_leave(generating, judge):
    """A request is unharmed by others that end, are aborted or are refused alongside it"""
    on = generating(budget=2)
    on.send("stays", max_tokens=3 * on.block)
    on.until_got("stays", 2)
    on.send("ends", max_tokens=1)
    on.send("gone0", max_tokens=2 * on.block)
    on.send("gone1", length=6 * on.block, max_tokens=2)
    on.until_running("gone1")
    on.abort("gone1")
    on.until_got("gone0", 2)
    on.abort("gone0")
    on.send("over", length=9 * on.block, max_tokens=2)
    on.send("after", length=2 * on.block, max_tokens=on.block)

    judge(on.generations())


@pytest.mark.rule("CB-TEXT-009")
def test_fork(generating, judge):
    """Two requests that extend an earlier prompt differently each get their own text"""
    on = generating(prefix_cache=True)
    on.send("ended", length=5 * on.block // 4, max_tokens=1)
    on.until(lambda: on.ended("ended"))
    *front, last = on.prompt_of("ended")
    for place in range(2):
        on.send(f"fork{place}", prompt=(*front, last, *[last ^ place] * on.block), max_tokens=6)

    judge(on.generations())


@pytest.mark.rule("CB-TEXT-010")
def test_samples_of_one_token(generating, judge):
    """Several continuations of a one-token prompt are complete and correct, and others are served"""
    on = generating()
    on.send("several", length=1, samples=2, max_tokens=6)
    on.until(on.ended)
    on.send("after", max_tokens=6)

    judge(on.generations())


@pytest.mark.rule("CB-TEXT-011")
def test_taking_blocks(generating, judge):
    """Requests that lose KV blocks to each other get their own texts"""
    on = generating(seqs=8, budget=16, blocks=6, length=6)
    block = on.block
    on.send("forks", length=2 * block - 2, max_tokens=7, samples=2)  # needs two blocks in its fourth iteration
    on.send("ends", length=block // 3, max_tokens=5)  # then one block is free
    on.send("loses", length=block + 8, max_tokens=12)  # loses its blocks to the first, and needs two
    on.send("part", length=3 * block - 6, max_tokens=4)  # begins with the free block, and may lose it again
    on.send("short", length=block // 2 + 4, max_tokens=12)  # for which it is enough
    on.finish()
    on.send("grows", length=block // 2, max_tokens=4 * block)  # takes the blocks of a continuation, but not those it shares
    on.send("pair", length=2 * block + 1, max_tokens=2 * block, samples=2)
    on.finish()
    for place in range(5):  # what each of them leaves behind adds up
        on.send(f"three{place}", f"more{place}", length=block, max_tokens=block, samples=3)
        on.finish()
    on.send("last", length=3 * block + block // 2, max_tokens=block)  # needs most of the KV cache

    judge(on.generations())


@pytest.mark.rule("CB-TEXT-012")
def test_never_computed(generating, judge):
    """A block that was never computed is not found in the prefix cache, although its request was about to compute it"""
    on = generating(budget=4, blocks=11, length=10, prefix_cache=True, policy="priority", long_prefill=2)
    block = on.block
    for spare in range(1, 4):  # in which iteration an urgent request needs another block, and finds none
        on.send(f"victim{spare}", length=9 * block + block // 2, max_tokens=6, priority=5)
        on.step()
        on.send(f"urgent{spare}", length=block - spare, max_tokens=8)
        on.until(on.ended)

    judge(on.generations())


@pytest.mark.rule("CB-TEXT-013")
def test_many_at_once(generating, judge, claims):
    """More than a hundred requests that run together each get their own text"""
    guesses = 9 * int(claims.get("speculates") or 0)  # blocks for one guess in each row: guesses leave less for newcomers
    on = generating(seqs=130, budget=24 + guesses, blocks=1300, length=10)
    for place in range(130):  # the first ones are still there when the last one comes, also if they come one by one
        on.send(f"r{place}", length=on.block // 2 + place % 5, max_tokens=135 - place)

    judge(on.generations())


@pytest.mark.rule("CB-TEXT-014")
def test_keeps_what_was_asked(generating, judge):
    """A request that loses its KV blocks keeps its stop tokens, its limit and the number of its continuation"""
    on = generating(seqs=6, blocks=8)
    short = on.block // 2  # so that all are admitted, also by an engine that keeps some blocks free
    # and they outgrow the KV cache together before the first of them ends, even where none of it is lost to whole blocks
    on.send("first", length=short, max_tokens=3 * on.block)
    on.send("several", length=short, max_tokens=3 * on.block, samples=2 if on.claims.get("samples") else 1)
    for place in range(3):
        stop_after = 3 * on.block // 2 + 5 * place if on.claims.get("stop_tokens") else 0
        on.send(f"r{place}", length=short, max_tokens=3 * on.block, stop_after=stop_after)

    judge(on.generations())


@pytest.mark.rule("CB-TEXT-015")
def test_long(generating, judge):
    """A text of more than a hundred KV blocks is right, and so are those alongside it"""
    on = generating(budget=16, blocks=340, length=140)
    exact = on.claims.get("text", "witness") == "witness"  # the other language is exact for some 4000 tokens
    for count in (63, 127, 131) if exact else (31, 63):  # it grows across the 64th, the 128th or the 132nd block
        on.send(f"r{count}", length=count * on.block + on.block // 2, max_tokens=on.block)
    on.send("short", max_tokens=on.block)

    judge(on.generations())


@pytest.mark.rule("CB-TEXT-016")
def test_goes_on(generating, judge):
    """A prompt that goes on from an earlier prompt and its text gets its own text"""
    on = generating(prefix_cache=True)
    for place, count in enumerate((on.block - 1, on.block, on.block + 1)):  # it ends just before, with or behind a block
        on.send(f"turn{place}", max_tokens=count)
        on.finish()
        goes_on(on, f"turn{place}", count)
        if on.claims.get("stop_tokens"):
            on.send(f"stops{place}", max_tokens=2 * on.block, stop_after=count)
            on.finish()
            goes_on(on, f"stops{place}", count)
        if on.claims.get("cancel"):
            on.send(f"gone{place}", max_tokens=4 * on.block)
            on.until_got(f"gone{place}", count)
            on.abort(f"gone{place}")
            goes_on(on, f"gone{place}", on.got(f"gone{place}"))
    goes_on(on, "turn0", on.block - 1, to_the_edge=True)

    judge(on.generations())


def goes_on(on, name, count, to_the_edge=False):
    """Send a prompt that goes on from the first tokens of an earlier text, and let it end."""
    before = on.prompt_of(name)
    prompt = (*before, *on.text_after(before, count), *before[:3])
    edge = on.config.max_model_len - len(prompt)
    on.send(f"edge {name}" if to_the_edge else f"next {name}", prompt=prompt, max_tokens=edge if to_the_edge else 6)
    on.finish()
