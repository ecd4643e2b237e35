"""The response cache: inputs that were answered before are answered again without an execution."""

from __future__ import annotations

import copy
import functools
import hashlib
import threading
from collections import OrderedDict

from .execution import Tree

DEFAULT_BYTES = 64 << 20
_name = functools.cache(str)  # of a type of numpy's, which takes longer to print than the digest of a request


class ResponseCache:
    """Maps the content of inputs to outputs. Thread-safe.

    max_bytes: when the outputs take more than this, the least recently used ones are dropped.
    """

    def __init__(self, max_bytes: int = DEFAULT_BYTES) -> None:
        self._max_bytes = max_bytes
        self._bytes = 0
        self._known: OrderedDict[bytes, tuple[Tree, int]] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: bytes) -> tuple[Tree] | None:
        """Return a copy of the outputs, in a tuple of one; None if this key has no outputs."""
        with self._lock:
            if key not in self._known:
                return None
            self._known.move_to_end(key)
            return (copy.deepcopy(self._known[key][0]),)

    def put(self, key: bytes, outputs: Tree) -> None:
        """Remember a copy of the outputs, unless they alone are larger than the cache."""
        size = _bytes_of(outputs)
        if size > self._max_bytes:
            return
        with self._lock:
            self._bytes += size - self._known.pop(key, (None, 0))[1]
            self._known[key] = (copy.deepcopy(outputs), size)
            while self._bytes > self._max_bytes:
                self._bytes -= self._known.popitem(last=False)[1][1]


def key_of(inputs: Tree) -> bytes:
    """Return a digest of the inputs' structure, types, shapes and every byte."""
    digest = hashlib.sha256()
    _feed(digest, inputs)
    return digest.digest()


def _feed(digest: hashlib._Hash, tree: Tree) -> None:
    if isinstance(tree, dict):
        for name in sorted(tree):
            digest.update(f"{{{name}:".encode())
            _feed(digest, tree[name])
    elif isinstance(tree, (tuple, list)):
        digest.update(f"{type(tree).__name__}{len(tree)}".encode())
        for one in tree:
            _feed(digest, one)
    elif hasattr(tree, "dtype"):
        array = tree.detach().cpu().numpy() if hasattr(tree, "detach") else tree
        digest.update(f"{_name(array.dtype)}{array.shape}".encode())
        digest.update(array.tobytes())
    else:
        digest.update(f"{type(tree).__name__}{tree!r}".encode())


def _bytes_of(tree: Tree) -> int:
    if isinstance(tree, dict):
        return sum(_bytes_of(one) for one in tree.values())
    if isinstance(tree, (tuple, list)):
        return sum(_bytes_of(one) for one in tree)
    return int(getattr(tree, "nbytes", 64))
