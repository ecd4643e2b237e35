"""One batch: put the requests' rows together, run the model, give each request its own rows back.

Shared by both shells. Inputs and outputs are trees: a tensor (anything with a first dimension: `torch.Tensor`,
`numpy.ndarray`, `list`), or a tuple or dict of trees. Rows are the first dimension; concatenated and split along it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future
from typing import Any

from .decisions import Entry
from .errors import Expired

Tree = Any
Model = Callable[[Tree], Tree]


def rows_of(tree: Tree) -> int:
    """Rows of a request: the length of the first dimension, which all its tensors share (else ValueError)."""
    leaves: list[Any] = []
    _leaves(tree, leaves)
    sizes = {len(leaf) for leaf in leaves}
    if len(sizes) != 1:
        raise ValueError(f"all tensors of a request need the same number of rows, got {sorted(sizes) or 'no tensor'}")
    return int(sizes.pop())


def run(model: Model, batch: Sequence[Entry]) -> None:
    """Execute one batch and settle the Future of each of its requests; an exception of the model fails all of them."""
    futures = [entry.item[1] for entry in batch]
    try:
        outputs = model(concatenate([entry.item[0] for entry in batch]))
        parts = split(outputs, [entry.rows for entry in batch])
    except Exception as error:  # noqa: BLE001 - whatever a model raises belongs to its requests
        for future in futures:
            future.set_exception(error)
        return
    for future, part in zip(futures, parts, strict=True):
        future.set_result(part)


def reject(entries: Sequence[Entry]) -> None:
    """Refuse requests whose queue timeout is over."""
    for entry in entries:
        entry.item[1].set_exception(Expired("request timeout expired"))


def concatenate(trees: Sequence[Tree]) -> Tree:
    """Join the same-shaped trees of several requests along the first dimension."""
    first = trees[0]
    if len(trees) == 1:
        return first
    if isinstance(first, dict):
        return {key: concatenate([tree[key] for tree in trees]) for key in first}
    if isinstance(first, tuple):
        return tuple(concatenate(column) for column in zip(*trees, strict=True))
    if isinstance(first, list):
        return [row for tree in trees for row in tree]
    if type(first).__module__.startswith("torch"):
        import torch

        return torch.cat(list(trees))
    import numpy as np

    return np.concatenate(trees)


def split(outputs: Tree, sizes: Sequence[int]) -> list[Tree]:
    """Cut a batch's outputs back into one tree a request; ValueError if the model lost or added rows."""
    if isinstance(outputs, dict):
        columns = {key: split(value, sizes) for key, value in outputs.items()}
        return [{key: column[i] for key, column in columns.items()} for i in range(len(sizes))]
    if isinstance(outputs, tuple):
        return list(zip(*(split(value, sizes) for value in outputs), strict=True))
    if len(outputs) != sum(sizes):
        raise ValueError(f"the model returned {len(outputs)} rows for a batch of {sum(sizes)}")
    parts, start = [], 0
    for size in sizes:
        parts.append(outputs[start : start + size])
        start += size
    return parts


def _leaves(tree: Tree, into: list[Any]) -> None:
    if isinstance(tree, dict):
        for value in tree.values():
            _leaves(value, into)
    elif isinstance(tree, tuple):
        for value in tree:
            _leaves(value, into)
    else:
        into.append(tree)


def new_item(inputs: Tree) -> tuple[Tree, Future[Tree]]:
    """Make what the shells queue as `Entry.item`: the request's inputs and its Future, already running.

    A running Future cannot be cancelled by its holder: a request leaves the queue by being served or refused only.
    """
    future: Future[Tree] = Future()
    future.set_running_or_notify_cancel()
    return inputs, future
