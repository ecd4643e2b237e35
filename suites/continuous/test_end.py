"""Ends: each request has exactly one, at the right moment."""

import pytest


@pytest.mark.rule("CB-END-001")
def test_as_long_as_asked(generating, judge):
    """A text has exactly as many tokens as were asked for"""
    on = generating()
    for count in (1, 2, 5, on.block, on.block + 1):
        on.send(f"r{count}", max_tokens=count)

    judge(on.generations())


@pytest.mark.rule("CB-END-002")
def test_one_end(generating, judge):
    """Every request gets exactly one end, and no token after it"""
    on = generating(seqs=2)
    on.send("r0", "r1", "r2", "r3", "r4", max_tokens=12)
    on.until_got("r0", 2)
    if on.claims.get("cancel"):
        on.abort("r1")
        on.abort("r4")

    judge(on.generations())


@pytest.mark.rule("CB-END-003")
def test_stop_token(generating, judge):
    """A stop token ends the text of its own request"""
    on = generating()
    for place in range(1, 9):  # wherever in what an engine computes or sends at once
        on.send(f"r{place}", max_tokens=2 * on.block, stop_after=place)

    judge(on.generations())


@pytest.mark.rule("CB-END-004")
def test_edge_of_the_context(generating, judge):
    """A request that would exceed the context length is refused, or ends there, and others are served"""
    on = generating(seqs=2, length=4)
    longest = on.config.max_model_len
    on.send("over", length=3 * on.block, max_tokens=2 * on.block)
    on.send("r0", "r1", max_tokens=6)
    on.finish()
    for place, length in enumerate((longest - 1, longest, longest + 1)):
        on.send(f"over{place}", length=length, max_tokens=6)
        on.finish()
        on.send(f"a{place}", f"b{place}", length=2 * on.block, max_tokens=2 * on.block)  # the longest that fit
        on.finish()

    judge(on.generations())


@pytest.mark.rule("CB-END-005")
def test_no_tokens(generating, judge):
    """A request for no tokens is refused, or ends without any"""
    on = generating()
    on.send("r0", max_tokens=6)
    on.send("zero", max_tokens=0)

    judge(on.generations())


@pytest.mark.rule("CB-END-006")
def test_empty_prompt(generating, judge):
    """A request without a prompt is refused"""
    on = generating()
    on.send("r0", max_tokens=6)
    on.send("empty", prompt=(), max_tokens=6)

    judge(on.generations())


@pytest.mark.rule("CB-END-007")
def test_stop_at_the_edges(generating, judge, claims):
    """A stop token ends the text once, even as the first token or as the last one allowed"""
    on = generating()
    on.send("first", max_tokens=6, stop_after=1)
    on.send("last", max_tokens=6, stop_after=6)
    if claims.get("samples"):  # of which each ends by itself, and all have their first token at once
        on.send("each first", max_tokens=6, stop_after=1, samples=2)
        on.send("each last", max_tokens=6, stop_after=6, samples=2)

    judge(on.generations())


@pytest.mark.rule("CB-END-008")
def test_stop_tokens_of_others(generating, judge):
    """A text ends with a stop token that its own request names and that it made itself, and with no other"""
    for seqs in (1, 2):
        judge(with_stop_tokens(generating(seqs=seqs)))


def with_stop_tokens(on):
    """Send requests whose stop tokens are in a prompt, or in the text of another one behind or alongside it."""
    on.send("probe0", "probe1", "probe2", max_tokens=2)
    on.finish()
    prompts = [on.prompt_of(f"probe{place}") for place in range(3)]
    texts = [on.text_after(prompt, on.block) for prompt in prompts]
    on.send("inside", prompt=prompts[0], stop=prompts[0][-4:], max_tokens=6)
    on.send("before", stop=texts[1], max_tokens=4)
    on.finish()
    on.send("after", prompt=prompts[1], max_tokens=on.block)
    on.send("beside", stop=texts[1], max_tokens=on.block)
    on.send("last", prompt=prompts[2], stop=texts[0], max_tokens=on.block)
    on.finish()
    longest = on.config.max_model_len
    never = tuple(token for token in texts[1] if token not in on.text_after(prompts[0], longest))
    if on.claims.get("max_model_len", True):
        on.send("over", prompt=prompts[0], stop=never, max_tokens=longest)
        on.finish()
    on.send("free", "free too", prompt=prompts[1], max_tokens=on.block)
    on.finish()
    if on.claims.get("cancel"):
        on.send("gone", prompt=prompts[2], stop=texts[2][-1:], max_tokens=on.block)
        on.until_got("gone", 2)
        on.abort("gone")
        on.send("let go", "let go too", prompt=prompts[2], max_tokens=on.block)
    return on.generations()
