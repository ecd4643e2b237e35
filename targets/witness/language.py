"""The witness language model: a model without weights whose text proves where its context came from.

This file is copied into other processes (an engine's own interpreter), so it needs only the standard library.

The next token is a function of the whole context *as the engine's KV cache holds it*. The client computes the same text, so
an entry that is stale, torn, shifted or from another request changes the text from there on.

Tokens are below `VOCABULARY`; the model never generates those below `FIRST`. A prompt names its request: `SERIAL` and the
three tokens after it encode the request's serial, so that the model knows whose context it reads.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from struct import pack
from typing import Any
from zlib import crc32

VOCABULARY = 4096
FIRST = 16
END_OF_TEXT = 2  # never generated: a text ends at its limit, or at one of its request's stop tokens
SERIAL = 8
MARK = 4  # how many tokens of a prompt name its request
BASE = VOCABULARY - FIRST
LARGEST = BASE**3 - 1
UNKNOWN = 0  # the serial of a context that does not name one


def digest(tokens: Iterable[int], before: int = 0) -> int:
    """Return the digest of a context. before: the digest of everything in front of these tokens."""
    all_ = tuple(tokens)
    return crc32(pack(f"<{len(all_)}H", *all_), before)


def next_token(context: Sequence[int]) -> int:
    """Return the token that follows a context."""
    return FIRST + digest(context) % BASE


def continuation(prompt: Sequence[int], count: int) -> tuple[int, ...]:
    """Return the next `count` tokens after a prompt."""
    known, found = digest(prompt), []
    for _ in range(count):
        token = FIRST + known % BASE
        found.append(token)
        known = digest((token,), known)
    return tuple(found)


def marked(serial: int) -> tuple[int, ...]:
    """Return the tokens that name a request."""
    if not 0 < serial <= LARGEST:
        raise ValueError(f"a serial is between 1 and {LARGEST}, not {serial}")
    return (SERIAL, FIRST + serial // BASE**2, FIRST + serial // BASE % BASE, FIRST + serial % BASE)


def filler(count: int, seed: int) -> tuple[int, ...]:
    """Return `count` tokens that look like a text; with equal seeds, the shorter text is the beginning of the longer one."""
    return continuation(marked(seed % LARGEST + 1), count)


def prompt(serial: int, length: int, shared: int = 0, family: int = 0) -> tuple[int, ...]:
    """Return a prompt of `length` tokens that names its request.

    shared: how many of its first tokens all prompts of this family have in common; the name follows them. A prompt shorter
    than `MARK` has no room for a name: the model does not know its request.
    """
    front = filler(shared, family)
    rest = length - shared - MARK
    if rest < 0:
        return filler(length, serial) if not shared else (*front, *filler(length - shared, serial))
    return (*front, *marked(serial), *filler(rest, serial))


def serial_of(context: Sequence[int]) -> int:
    """Return the serial that a context names, or `UNKNOWN`."""
    for place, token in enumerate(context):
        if token == SERIAL and place + MARK <= len(context):
            high, middle, low = (one - FIRST for one in context[place + 1 : place + MARK])
            return max(0, (high * BASE + middle) * BASE + low)
    return UNKNOWN


def row(context: Sequence[int], positions: Sequence[int], new: int, blocks: Sequence[int] = ()) -> list[Any]:
    """Return a row's entry in the log of an iteration: [serial, start, new, torn, blocks, digest].

    context, positions: what was read back, with the row's new tokens at the end. An entry is torn if its position is not its
    place. start: how many tokens there were before this iteration. digest: names the request before its name is read.
    """
    torn = sum(place != position for place, position in enumerate(positions))
    return [serial_of(context), len(context) - new, new, torn, list(blocks), digest(token & 0xFFFF for token in context)]
