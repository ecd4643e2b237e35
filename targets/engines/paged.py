"""What a witness does with an engine's paged KV cache: it writes its entries and reads contexts back. This file travels.

An entry is (token, position). It is written through the engine's slot mapping and read through the engine's block table.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from batchproof_witness import language

LOST = -1  # the place of an entry that was written in this iteration and is not what is read back


class Iteration(NamedTuple):
    """The tables of an iteration: tokens [new], positions [new] and slots [new] of all rows one after another.

    cuts: where the rows begin among them, and the end. lengths: of each row's context. tables: each row's block table.
    """

    tokens: Any
    positions: Any
    slots: Any
    cuts: Sequence[int]
    lengths: Sequence[int]
    tables: Any


def rows_of(entries: Any, now: Iteration) -> Iterator[tuple[list[Any], int]]:
    """Write what is new, then yield for each row its line in the log (`language.row`) and its next token.

    entries: the cache as numbers [blocks, slots of a block, 2].
    """
    size = entries.shape[1]
    entries[now.slots // size, now.slots % size] = np.stack([now.tokens, now.positions], axis=1)
    for row, context in rows_read(entries, now):
        yield row, language.next_token(context)


def rows_read(
    entries: Any, now: Iteration, told: Callable[..., list[Any]] = language.row
) -> Iterator[tuple[list[Any], list[int]]]:
    """Yield each row's line in the log, as `told` writes it, and its context as it is read back; slots are not used.

    A new entry that is not read back as it was written counts as torn, as one does whose position is not its place.
    """
    size = entries.shape[1]
    for number, length in enumerate(now.lengths):
        new = slice(now.cuts[number], now.cuts[number + 1])
        count = int(new.stop - new.start)
        blocks = now.tables[number][: -(-length // size)]
        context = entries[blocks].reshape(-1, 2)[:length].astype(int)
        tokens, places = context[:, 0], context[:, 1]
        last = min(count, length)
        wrong = (tokens[-last:] != now.tokens[new][-last:]) | (places[-last:] != now.positions[new][-last:])
        places[-last:][wrong] = LOST
        read = tokens.tolist()
        yield told(read, places.tolist(), count, blocks.tolist()), read
