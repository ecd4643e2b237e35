"""The witness language model as a transformer, for engines that accept only real graphs; same functions as `language`.

This file is copied into other processes (an engine's own interpreter), so it needs only the standard
library and the file `language` next to it.

The next token has six digits in base 4. Each is a sum over the whole context, modulo 4, of what each token adds at its
position (`added`). Attention that weighs all entries of the KV cache equally computes such a sum, and small integers are
exact in float32, so the text is the same on every engine and in every batch.

A token and its position have six digits too. They are added, and then mixed in a way that depends on the position's class,
so that one token replaced by another in many positions does not cancel out. A single entry with another token always changes
the next token. Any other change to the context goes unnoticed in about one token in 4096, and the tokens after that differ
again. A sum does not depend on the order of the entries, but each entry includes its position.

A prompt begins with `BEGIN` and names its request in three tokens that are used for nothing else (`marked`).
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256
from typing import Any
from zlib import crc32

from .language import digest

RADIX = 4
DIGITS = 6
VALUES: list[int] = [RADIX**place for place in range(DIGITS)]
TEXT = RADIX * VALUES[-1]  # tokens that the model writes
BEGIN = 1
END_OF_TEXT = 2  # never generated: a text ends at its limit, or at one of its request's stop tokens
FIRST = 16
NAMES = FIRST + TEXT  # the tokens that name a request begin here: a range for each digit of the serial
NAME_RADIX = 256
MARK = 3  # how many tokens of a prompt name its request
VOCABULARY = NAMES + MARK * NAME_RADIX
LARGEST: int = NAME_RADIX**MARK - 1
UNKNOWN = 0  # the serial of a context that does not name one
TOKEN_STEP = 2909  # odd numbers, so that the result is a permutation
PLACE_STEP = 1597

CLASSES = 32  # positions with the same remainder modulo this are mixed in the same way

Digits = tuple[int, ...]


def mixing(place: int) -> list[tuple[int, int]]:
    """Return, for each digit of a sum, which digit of an entry of this class is added, and how many times: 1 or 3."""
    drawn = sha256(bytes((place,))).digest()
    order = sorted(range(DIGITS), key=lambda digit: drawn[digit])
    return [(source, 1 + 2 * (drawn[DIGITS + source] % 2)) for source in order]


MIXED = [mixing(place) for place in range(CLASSES)]


def digits(number: int) -> Digits:
    """Return the last six digits of a number, the lowest first."""
    return tuple(number // value % RADIX for value in VALUES)


def weight(token: int) -> Digits:
    """Return a token's digits; those of `BEGIN` are zero."""
    return digits((token - BEGIN) * TOKEN_STEP)


def shift(position: int) -> Digits:
    """Return a position's digits; those of the first one are zero."""
    return digits(position * PLACE_STEP)


def added(token: int, position: int) -> Digits:
    """Return what a token adds to the sums at a position."""
    one = [front + back for front, back in zip(weight(token), shift(position), strict=True)]
    return tuple(factor * one[source] for source, factor in MIXED[position % CLASSES])


def next_token(context: Sequence[int]) -> int:
    """Return the token that follows a context."""
    return _token(_sums(context))


def continuation(prompt: Sequence[int], count: int) -> tuple[int, ...]:
    """Return the next `count` tokens after a prompt."""
    sums, found = _sums(prompt), []
    for position in range(len(prompt), len(prompt) + count):
        found.append(_token(sums))
        _add(sums, found[-1], position)
    return tuple(found)


def marked(serial: int) -> tuple[int, ...]:
    """Return the tokens that name a request."""
    if not 0 < serial <= LARGEST:
        raise ValueError(f"a serial is between 1 and {LARGEST}, not {serial}")
    return tuple(NAMES + NAME_RADIX * place + serial // NAME_RADIX**place % NAME_RADIX for place in range(MARK))


def filler(count: int, seed: int) -> tuple[int, ...]:
    """Return `count` tokens that look like a text; with equal seeds, the shorter text is the beginning of the longer one."""
    found, known = [], crc32(seed.to_bytes(8, "little"))
    for _ in range(count):
        found.append(FIRST + known % TEXT)
        known = crc32(b"next", known)
    return tuple(found)


def prompt(serial: int, length: int, shared: int = 0, family: int = 0) -> tuple[int, ...]:
    """Return a prompt of `length` tokens that names its request.

    shared: how many of its first tokens all prompts of this family have in common; the name follows them. Every prompt
    begins with `BEGIN`, which is shared. A prompt too short for the name leaves it out.
    """
    if length < 1:
        return ()
    front = (BEGIN, *filler(max(0, min(shared, length) - 1), family))
    rest = length - len(front) - MARK
    if rest < 0:
        return (*front, *filler(length - len(front), serial))
    return (*front, *marked(serial), *filler(rest, serial))


def serial_of(context: Sequence[int]) -> int:
    """Return the serial that a context names, or `UNKNOWN`."""
    names = [token - NAMES for token in context if token >= NAMES]
    if [one // NAME_RADIX for one in names] != list(range(MARK)):
        return UNKNOWN
    low, middle, high = (one % NAME_RADIX for one in names)
    return low + NAME_RADIX * (middle + NAME_RADIX * high)


def row(context: Sequence[int], positions: Sequence[int], new: int, blocks: Sequence[int] = ()) -> list[Any]:
    """Return a row's entry in the log of an iteration, as `language.row` does."""
    torn = sum(place != position for place, position in enumerate(positions))
    read = digest(token & 0xFFFF for token in context)
    return [serial_of(context), len(context) - new, new, torn, list(blocks), read]


def _sums(context: Sequence[int]) -> list[int]:
    sums = [0] * DIGITS
    for position, token in enumerate(context):
        _add(sums, token, position)
    return sums


def _add(sums: list[int], token: int, position: int) -> None:
    for place, one in enumerate(added(token, position)):
        sums[place] += one


def _token(sums: Sequence[int]) -> int:
    return FIRST + sum(one % RADIX * value for one, value in zip(sums, VALUES, strict=True))
