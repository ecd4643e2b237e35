"""The witness language model as a transformer: what the client computes, what attention computes, and what faults change."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from batchproof.targets.witness import graph_language as language
from batchproof.targets.witness.language import digest

SIZE = 4  # slots of a block in the tests' cache
FIRST, SECOND = language.prompt(258, 14), language.prompt(70_000, 11)
TABLES = {"first": [5, 1, 3, 0], "second": [2, 6, 4, 7]}
tokens = st.integers(language.FIRST, language.NAMES - 1)


def values(context: tuple[int, ...]) -> np.ndarray:
    """Return what a model writes into its KV cache, [entries, 6]: what each token and its position add."""
    return np.array([language.added(token, place) for place, token in enumerate(context)], np.float32)


def filled() -> np.ndarray:
    """Return a paged cache [blocks, SIZE, 6] that holds both contexts; other slots hold what nobody has cleaned up."""
    cache = np.full((8, SIZE, 6), 7, np.float32)
    for context, table in ((FIRST, TABLES["first"]), (SECOND, TABLES["second"])):
        for place, value in enumerate(values(context)):
            cache[table[place // SIZE], place % SIZE] = value
    return cache


def attended(cache: np.ndarray, table: list[int], length: int) -> int:
    """Return the next token as a transformer finds it: a softmax over equal scores, its mean, and the nearest digits."""
    entries = cache[table].reshape(-1, 6)[:length]
    scores = np.exp(np.zeros(length, np.float32))
    mean = (scores / scores.sum(dtype=np.float32)) @ entries
    digits = np.mod(np.floor(mean * np.float32(length) + np.float32(0.5)), np.float32(language.RADIX))
    return language.FIRST + int(digits @ np.array(language.VALUES, np.float32))


def texts(cache: np.ndarray, tables: dict[str, list[int]] = TABLES) -> list[int]:
    """Return the next tokens of both requests."""
    return [attended(cache, tables["first"], len(FIRST)), attended(cache, tables["second"], len(SECOND))]


RIGHT = [language.next_token(FIRST), language.next_token(SECOND)]


def test_attention_over_a_paged_cache_says_what_the_client_computes():
    """The sums of a long context are exact in float32."""
    long = language.prompt(9, 3000)
    cache = values(long).reshape(-1, SIZE, 6)

    assert texts(filled()) == RIGHT
    assert attended(cache, list(range(len(cache))), len(long)) == language.next_token(long)


def swapped_tables() -> list[int]:
    """Each request reads through the other's table."""
    return texts(filled(), {"first": TABLES["second"], "second": TABLES["first"]})


def foreign_block() -> list[int]:
    """The first request's second block is one of the second request."""
    return texts(filled(), {**TABLES, "first": [5, 6, 3, 0]})


def stale_entry() -> list[int]:
    """One slot still holds what was there before."""
    cache = filled()
    cache[5, 2] = values(SECOND)[2]
    return texts(cache)


def one_slot_late() -> list[int]:
    """Everything was written one slot behind its place."""
    return texts(np.roll(filled().reshape(-1, 6), 1, axis=0).reshape(-1, SIZE, 6))


def positions_off_by_one() -> list[int]:
    """A request was computed as if its prompt began at position 1."""
    cache = filled()
    for place, token in enumerate(FIRST):
        cache[TABLES["first"][place // SIZE], place % SIZE] = language.added(token, place + 1)
    return texts(cache)


def swapped_rows() -> list[int]:
    """Each request gets the token of the other."""
    return texts(filled())[::-1]


def a_token_twice() -> list[int]:
    """The last entry of the first request was written into the slot in front of it, too."""
    cache = filled()
    cache[0, 0] = cache[0, 1]
    return texts(cache)


@pytest.mark.parametrize(
    ("fault", "harmed"),
    [
        (swapped_tables, 2), (foreign_block, 1), (stale_entry, 1), (one_slot_late, 2), (positions_off_by_one, 1),
        (swapped_rows, 2), (a_token_twice, 1),
    ],
    ids=lambda one: getattr(one, "__name__", ""),
)  # fmt: skip
def test_a_fault_in_the_tables_changes_the_text_of_those_that_it_harms(fault, harmed: int):
    """Nobody else's text changes."""
    found = fault()

    assert sum(one != other for one, other in zip(found, RIGHT, strict=True)) == harmed


@given(st.lists(tokens, min_size=1, max_size=20), st.integers(0, 19), st.integers(1, language.TEXT - 1))
def test_another_token_in_one_place_always_changes_the_next_one(context: list[int], place: int, apart: int):
    """Single entries need no luck."""
    place %= len(context)
    other = language.FIRST + (context[place] - language.FIRST + apart) % language.TEXT

    assert language.next_token(context) != language.next_token([*context[:place], other, *context[place + 1 :]])


def test_a_token_that_stands_in_many_places_of_another_one_does_not_cancel_out():
    """Of a thousand ways to write one token over a run of another, as many change nothing as chance has it."""
    rng = np.random.default_rng(5)
    unseen = 0
    for _ in range(1000):
        one, other, start, count = (int(rng.integers(low, high)) for low, high in ((16, 4112), (16, 4112), (1, 60), (1, 64)))
        sums = [
            np.array([language.added(token, place) for place in range(start, start + count)]).sum(0)
            for token in (one, other)
        ]
        unseen += one != other and not ((sums[0] - sums[1]) % language.RADIX).any()

    assert unseen < 10


@given(st.lists(tokens, max_size=20), st.integers(1, 20))
def test_a_continuation_is_one_next_token_after_another(prompt: list[int], count: int):
    """The client's short way and the definition agree."""
    context = list(prompt)
    for _ in range(count):
        context.append(language.next_token(context))

    assert language.continuation(prompt, count) == tuple(context[len(prompt) :])


@given(st.integers(1, language.LARGEST), st.integers(4, 60), st.integers(0, 70), st.integers(0, 3))
def test_a_prompt_has_its_length_and_names_its_request_where_there_is_room(
    serial: int, length: int, shared: int, family: int
):
    """Prompts of one family begin alike; the name stands behind that."""
    prompt = language.prompt(serial, length, shared, family)
    front = max(1, min(shared, length))

    assert len(prompt) == length
    assert prompt[:front] == language.prompt(serial % language.LARGEST + 1, length, shared, family)[:front]
    assert language.serial_of(prompt) == (serial if length - front >= language.MARK else language.UNKNOWN)
    assert max(prompt) < language.VOCABULARY


def test_a_text_goes_through_many_tokens():
    """It neither stands still nor goes round in a small circle."""
    assert len(set(language.continuation(FIRST, 4000))) > 2000


def test_a_serial_that_three_tokens_cannot_hold_is_refused():
    """Zero means that nobody is named."""
    for serial in (0, language.LARGEST + 1):
        with pytest.raises(ValueError, match="a serial is between"):
            language.marked(serial)


def test_a_row_of_the_log_counts_entries_out_of_place():
    """As the other language's row: serial, start, new, torn, blocks, digest."""
    assert language.row(FIRST, [*range(12), 3, 13], 2, [5, 1, 3, 0]) == [258, 12, 2, 1, [5, 1, 3, 0], digest(FIRST)]
