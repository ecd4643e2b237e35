"""What a witness does with an engine's paged KV cache: it writes its entries and reads contexts back. This file travels.

An entry is (token, position). It is written through the engine's slot mapping and read through the engine's block table.
`rows_of` does that in a cache that the engine owns. `PagedCache` is for an engine that leaves the cache to its model.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from . import language
from .device import DEVICE
from .gate import Gate

Row = tuple[Sequence[int], int, Sequence[int]]  # new tokens, the place of the first of them, the block table
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
    write_new(entries, now)
    for row, context in rows_read(entries, now):
        yield row, language.next_token(context)


def write_new(entries: Any, now: Iteration) -> None:
    """Write what is new."""
    size = entries.shape[1]
    entries[now.slots // size, now.slots % size] = np.stack([now.tokens, now.positions], axis=1)


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


def merged(lines: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the lines of one step as one: for an engine that calls its model more than once in an iteration."""
    if not lines:
        return []
    first, last = lines[0], lines[-1]
    return [{**first, "exit_ns": last["exit_ns"], "rows": [row for line in lines for row in line["rows"]]}]


class PagedCache:
    """A KV cache of so many blocks of so many tokens, with the witness as the model that reads and writes it."""

    def __init__(self, blocks: int, size: int, gate: Gate | None = None) -> None:
        self._blocks, self._gate = blocks, gate
        self._entries = np.full((blocks + 2, size, 2), (0, LOST))  # one to write what has no block, and one to read it
        self._lines: list[dict[str, Any]] = []
        self._number = 0

    def run(self, rows: Sequence[Row]) -> list[int]:
        """Run an iteration; return the token that follows each row.

        rows: of each request, its new tokens, the place of the first of them in its context, and the block table that the
        engine keeps for it. The row of a prompt that is computed in part has a token, too, which the engine ignores. Where a
        table has no block for a place, or one that does not exist, the entry is lost.
        """
        return [following[-1] for following in self.verify(rows, [1] * len(rows))]

    def verify(self, rows: Sequence[Row], counts: Sequence[int]) -> list[list[int]]:
        """Run an iteration; return, for each row, what follows each of its last so many tokens: for speculative decoding.

        A row whose last `count - 1` tokens are guesses is right as far as each guess is what followed the token before it.
        """
        enter_ns = time.monotonic_ns()
        if self._gate:
            self._gate.wait()
        size = self._entries.shape[1]
        if not all(len(tokens) for tokens, _, _ in rows):
            raise ValueError("a row of the iteration has no tokens")
        places = [np.arange(start, start + len(tokens)) for tokens, start, _ in rows]
        read, write = ([self._table(row, none) for row in rows] for none in (self._blocks, self._blocks + 1))
        slots = [table[place // size] * size + place % size for table, place in zip(write, places, strict=True)]
        tokens = np.concatenate([np.asarray(new, int) for new, _, _ in rows])
        cuts = np.cumsum([0, *map(len, places)]).tolist()
        lengths = [int(place[-1]) + 1 for place in places]
        now = Iteration(tokens, np.concatenate(places), np.concatenate(slots), cuts, lengths, read)
        write_new(self._entries, now)
        told, contexts = zip(*rows_read(self._entries, now), strict=True)
        for row, context, count in zip(told, contexts, counts, strict=True):
            if count > 1:  # what is known of a context names its request, and guesses do not
                row[-1] = language.digest(token & 0xFFFF for token in context[: len(context) - count + 1])
        DEVICE.pace(enter_ns, len(now.tokens))
        self._number += 1
        times = {"enter_ns": enter_ns, "exit_ns": time.monotonic_ns()}
        self._lines.append({"number": self._number, **times, "rows": list(told)})
        return [
            [language.next_token(context[:stop]) for stop in range(len(context) - count + 1, len(context) + 1)]
            for context, count in zip(contexts, counts, strict=True)
        ]

    def read(self, block: int) -> Any:
        """Return a copy of what a block holds, for an engine that swaps it to other memory or copies it."""
        return self._entries[block].copy()

    def write(self, block: int, held: Any) -> None:
        """Write into a block what another one held."""
        self._entries[block] = held

    def _table(self, row: Row, none: int) -> Any:
        """Return a row's block table as long as its context needs it. none: stands for a block that is not there."""
        tokens, start, blocks = row
        need = -(-(start + len(tokens)) // self._entries.shape[1])
        given = np.asarray([*blocks, *[none] * max(0, need - len(blocks))], int)
        return np.where((given >= 0) & (given < self._blocks), given, none)

    def log(self) -> list[dict[str, Any]]:
        """Return the witness's new lines: the verb `log` of an `Engine`."""
        lines, self._lines = self._lines, []
        return lines
