"""Statistics: an engine's gauges and counters agree with what its model saw."""

import pytest


def ended(on):
    """Let all requests end, look once more, and return what happened."""
    on.look_at_rest("ended")
    return on.generations()


@pytest.mark.rule("CB-STAT-001")
def test_requests(generating, judge):
    """The engine reports the right numbers of running and waiting requests"""
    on = generating(seqs=2, budget=1)
    on.step()
    on.look("idle")
    on.send("r0", max_tokens=4)
    on.send("r1", "r2", "r3", max_tokens=12)
    on.until_running("r0")
    on.look("begun")
    on.until_got("r0", 2)
    on.look("backlog")
    on.until_running("r2")
    on.look("refilled")

    judge(ended(on))


@pytest.mark.rule("CB-STAT-002")
def test_blocks(generating, judge):
    """The engine reports the right number of used KV blocks, and 0 at the end"""
    on = generating()
    for place in (1, 2, 3):
        on.send(f"r{place}", length=place * on.block + 3, max_tokens=2 * on.block)
    on.until_got("r3", 2)
    on.look("begun")
    on.step(on.block // 2)
    on.look("half a block later")
    on.step(on.block // 2)
    on.look("a block later")

    judge(ended(on))


@pytest.mark.rule("CB-STAT-003")
def test_tokens(generating, judge):
    """The engine counts prompt tokens and output tokens correctly"""
    on = generating()
    for place in (1, 2, 3):
        on.send(f"r{place}", length=on.block + place, max_tokens=4 * place)
    if on.claims.get("stop_tokens"):
        for place in (1, 2, 3):
            on.send(f"stops{place}", length=on.block + place, max_tokens=12, stop_after=2 + place)
    on.until_got("r1", 3)
    on.look("under way")
    judge(ended(on))

    if on.claims.get("preemption") and on.claims.get("kv_blocks"):  # what is computed again counts once
        on = generating(blocks=8)
        on.send("r0", "r1", "r2", length=on.block // 2, max_tokens=7 * on.block // 2)
        judge(ended(on))


@pytest.mark.rule("CB-STAT-004")
def test_all_aborted(generating, judge):
    """When all requests are aborted, the engine reports that nothing runs and nothing waits"""
    on = generating(seqs=2)
    on.send("r0", "r1", "r2", "r3", max_tokens=4 * on.block)
    on.until_got("r0", 2)
    for name in ("r0", "r1", "r2", "r3"):
        on.abort(name)
    on.step(3)
    on.look("aborted")

    judge(on.generations())


@pytest.mark.rule("CB-STAT-005")
def test_preempted(generating, judge):
    """The engine counts preemptions correctly"""
    on = generating(blocks=10)
    on.send("r0", "r1", "r2", length=on.block // 2, max_tokens=4 * on.block)  # an engine may keep some blocks free at first

    judge(ended(on))


@pytest.mark.rule("CB-STAT-006")
def test_cached(generating, judge):
    """The engine counts tokens from the prefix cache correctly"""
    on = generating(blocks=12, prefix_cache=True)
    for name in ("r0", "other0", "other1", "r1", "r2"):  # the first may be kept elsewhere when the KV cache has lost it
        shared = 3 * on.block if name.startswith("r") else 0
        on.send(name, length=4 * on.block if shared else 7 * on.block, shared=shared, max_tokens=4)
        on.finish()
    on.send("large", length=7 * on.block + 4, max_tokens=on.block // 2)
    on.until_running("large")
    on.send("waits", length=5 * on.block + 3, shared=3 * on.block, max_tokens=2)  # it may be looked up in each iteration

    judge(ended(on))
