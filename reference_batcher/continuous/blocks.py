"""The blocks of the KV cache: who holds them, and what the free ones still know.

A block has room for `block_size` tokens. It is free if no sequence refers to it. The prefix cache gives each full block a
key: a digest of the block's tokens and of the previous block's key, so that a key identifies all tokens from the first one
on. Sequences with a common prefix refer to the same blocks. A free block keeps its key until it is allocated again; the
block that has been free for longest is allocated first.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from hashlib import blake2b
from itertools import islice
from struct import pack


def key_of(before: bytes, tokens: Sequence[int]) -> bytes:
    """Return the key of a full block. before: the key of the previous block; empty for the first one."""
    return blake2b(before + pack(f"<{len(tokens)}q", *tokens), digest_size=16).digest()


def keys_of(tokens: Sequence[int], size: int, known: Sequence[bytes] = ()) -> list[bytes]:
    """Return the keys of all full blocks of a text. known: the keys of its first blocks, if they are known already."""
    keys = list(known)
    for start in range(len(keys) * size, len(tokens) - size + 1, size):
        keys.append(key_of(keys[-1] if keys else b"", tokens[start : start + size]))
    return keys


class BlockPool:
    """A fixed number of blocks, numbered from 0."""

    def __init__(self, count: int) -> None:
        self.free: dict[int, None] = dict.fromkeys(range(count))  # in the order in which they are allocated
        self.references = [0] * count
        self._block_of: dict[bytes, int] = {}
        self._key_of: dict[int, bytes] = {}

    @property
    def used(self) -> int:
        """How many blocks are referred to."""
        return len(self.references) - len(self.free)

    def find(self, keys: Iterable[bytes]) -> list[int]:
        """Return the blocks of these keys, up to the first key that no block has."""
        found = []
        for key in keys:
            if key not in self._block_of:
                break
            found.append(self._block_of[key])
        return found

    def room(self, shared: Sequence[int], more: int) -> bool:
        """Return whether there are `more` free blocks besides the shared ones, some of which may be free themselves."""
        return more <= len(self.free) - sum(block in self.free for block in shared)

    def share(self, blocks: Iterable[int]) -> None:
        """Refer to blocks that hold something already."""
        for block in blocks:
            self.references[block] += 1
            self.free.pop(block, None)

    def take(self, count: int) -> list[int]:
        """Allocate free blocks; they lose their keys."""
        taken = list(islice(self.free, count))
        for block in taken:
            self._block_of.pop(self._key_of.pop(block, b""), None)
        self.share(taken)
        return taken

    def give_back(self, blocks: Sequence[int]) -> None:
        """Drop a reference to each of these blocks. The last one is reused first: texts begin alike and end differently."""
        for block in reversed(blocks):
            self.references[block] -= 1
            if not self.references[block]:
                self.free[block] = None

    def keep(self, block: int, key: bytes) -> None:
        """Record what a block holds, unless another block holds the same."""
        if key not in self._block_of:
            self._block_of[key], self._key_of[block] = block, key
