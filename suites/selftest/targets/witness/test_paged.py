"""A witness in a paged KV cache, by hand: what is read back is what counts."""

from __future__ import annotations

import numpy as np
import pytest

from batchproof.targets.witness import language
from batchproof.targets.witness.paged import Iteration, PagedCache, merged, rows_of

SIZE = 4
FIRST, SECOND = language.prompt(1, 6), language.prompt(2, 5)


def prefill(slots: list[int], tables: list[list[int]], entries: np.ndarray | None = None) -> list:
    """Compute both prompts in one iteration, the first in blocks 3 and 1, the second in blocks 2 and 4."""
    cache = np.zeros((6, SIZE, 2), np.float32) if entries is None else entries
    positions = [*range(6), *range(5)]
    now = Iteration(np.array([*FIRST, *SECOND]), np.array(positions), np.array(slots), [0, 6, 11], [6, 5], np.array(tables))
    return list(rows_of(cache, now))


RIGHT = [12, 13, 14, 15, 4, 5, 8, 9, 10, 11, 16]
TABLES = [[3, 1], [2, 4]]
NEXT = [language.next_token(FIRST), language.next_token(SECOND)]


def test_right_tables_give_the_right_text():
    """Each row names its request, its blocks and nothing torn; the next token is the client's."""
    rows = prefill(RIGHT, TABLES)

    assert [row[:5] for row, _ in rows] == [[1, 0, 6, 0, [3, 1]], [2, 0, 5, 0, [2, 4]]]
    assert [token for _, token in rows] == NEXT


def test_a_context_goes_on_where_it_was_left():
    """A later iteration reads what earlier ones have written, and starts behind it."""
    cache = np.zeros((6, SIZE, 2), np.float32)
    prefill(RIGHT, TABLES, cache)
    now = Iteration(np.array(NEXT), np.array([6, 5]), np.array([6, 17]), [0, 1, 2], [7, 6], np.array(TABLES))
    rows = list(rows_of(cache, now))

    assert [row[:5] for row, _ in rows] == [[1, 6, 1, 0, [3, 1]], [2, 5, 1, 0, [2, 4]]]
    assert [token for _, token in rows] == [language.continuation(FIRST, 2)[1], language.continuation(SECOND, 2)[1]]


@pytest.mark.parametrize(
    ("slots", "tables", "seen"),
    [
        (RIGHT, TABLES[::-1], [[2, 0, 6, 3, [2, 4]], [1, 0, 5, 2, [3, 1]]]),
        (RIGHT, [[2, 1], [2, 4]], [[2, 0, 6, 1, [2, 1]], [2, 0, 5, 0, [2, 4]]]),
        ([12, 13, 14, 15, 4, 0, *RIGHT[6:]], TABLES, [[1, 0, 6, 1, [3, 1]], [2, 0, 5, 0, [2, 4]]]),
        ([slot + 1 for slot in RIGHT], TABLES, [[0, 0, 6, 6, [3, 1]], [1, 0, 5, 5, [2, 4]]]),
    ],
    ids=["swapped tables", "foreign block", "stale entry", "one slot late"],
)
def test_a_wrong_table_is_seen_as_a_place_and_as_a_text(slots: list, tables: list, seen: list):
    """A fault shows as torn entries or another request's serial, and as another next token."""
    rows = prefill(slots, tables)

    assert [row[:5] for row, _ in rows] == seen
    assert [token for _, token in rows] != NEXT


def test_a_cache_of_its_own_does_the_same_and_keeps_a_log():
    """The rows are what an engine gives its model: new tokens, where they begin, and the block table."""
    cache = PagedCache(6, SIZE)
    first = cache.run([(FIRST, 0, [3, 1]), (SECOND, 0, [2, 4])])
    then = cache.run([(NEXT[:1], 6, [3, 1])])
    lines = cache.log()

    assert (first, then) == (NEXT, [language.continuation(FIRST, 2)[1]])
    assert [[row[:5] for row in line["rows"]] for line in lines] == [
        [[1, 0, 6, 0, [3, 1]], [2, 0, 5, 0, [2, 4]]], [[1, 6, 1, 0, [3, 1]]],
    ]  # fmt: skip
    assert [line["number"] for line in lines] == [1, 2]
    assert cache.log() == []


def test_what_was_never_written_is_out_of_place():
    """A row that begins behind what is in the cache is torn."""
    cache = PagedCache(6, SIZE)
    cache.run([((20,), 3, [2])])

    assert cache.log()[0]["rows"][0][:5] == [0, 3, 1, 3, [2]]


@pytest.mark.parametrize("blocks", [[3], [3, 99], [3, -1]], ids=["too short", "no such block", "nothing"])
def test_what_a_table_has_no_block_for_is_lost(blocks: list[int]):
    """It is out of place at once, and nobody else's entry is touched."""
    cache = PagedCache(6, SIZE)
    cache.run([(FIRST, 0, blocks), (SECOND, 0, [2, 5])])
    mine, other = cache.log()[0]["rows"]

    assert mine[3] == 2
    assert other[3] == 0


def test_the_calls_of_one_step_are_one_line():
    """An engine may compute prompts and next tokens in calls of their own."""
    cache = PagedCache(6, SIZE)
    cache.run([(FIRST, 0, [3, 1])])
    cache.run([(SECOND, 0, [2, 4])])
    lines = cache.log()
    (line,) = merged(lines)

    assert [row[0] for row in line["rows"]] == [1, 2]
    assert (line["number"], line["enter_ns"], line["exit_ns"]) == (1, lines[0]["enter_ns"], lines[1]["exit_ns"])
    assert merged([]) == []


def test_guesses_are_verified_at_once():
    """Of a row with two guesses, one is right: what follows each token says so, and the next row overwrites the other."""
    cache = PagedCache(4, SIZE)
    first = cache.run([(FIRST, 0, [0, 1])])[0]
    second, third = language.continuation(FIRST, 3)[1:]

    (following,) = cache.verify([([first, second, second], 6, [0, 1, 2])], [3])
    after = cache.run([([third], 8, [0, 1, 2])])

    assert following[:2] == [second, third]
    assert after == [language.continuation(FIRST, 4)[3]]
    assert [[row[:5] for row in line["rows"]] for line in cache.log()] == [
        [[1, 0, 6, 0, [0, 1]]], [[1, 6, 3, 0, [0, 1, 2]]], [[1, 8, 1, 0, [0, 1, 2]]],
    ]  # fmt: skip


def test_a_block_can_be_held_elsewhere():
    """What a block held comes back in another one, whatever was written into it meanwhile."""
    cache = PagedCache(4, SIZE)
    (first,) = cache.run([(FIRST, 0, [0, 1])])
    held = [cache.read(block) for block in (0, 1)]
    cache.run([(SECOND, 0, [0, 1])])
    for block, one in zip((2, 3), held, strict=True):
        cache.write(block, one)

    assert cache.run([([first], 6, [2, 3])]) == [language.continuation(FIRST, 2)[1]]


def test_the_digest_of_a_row_with_guesses_leaves_them_out():
    """What is known of a context names its request; a wrong guess would hide that."""
    cache = PagedCache(4, SIZE)
    guessed = (*FIRST, 77, 78)
    cache.verify([(guessed, 0, [0, 1])], [3])

    (row,) = cache.log()[0]["rows"]
    assert row[2] == len(guessed)
    assert row[5] == language.digest(FIRST)
