"""Joins the rows of several requests to one batch, and gives each request its own rows of the outputs back.

Inputs and outputs are trees. A tree is a tensor (anything with a first dimension: `torch.Tensor`, `numpy.ndarray`, `list`),
or a tuple or dict of trees. Rows are the first dimension: trees are concatenated and split along it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Sequence
from typing import Any

Tree = Any
Model = Callable[[Tree], Tree]


def rows_of(tree: Tree) -> int:
    """Return the length of the first dimension; ValueError if the tensors of the tree differ in it."""
    if not isinstance(tree, (dict, tuple)):
        return len(tree)
    sizes = {len(leaf) for leaf in leaves(tree)}
    if len(sizes) != 1:
        raise ValueError(f"all tensors of a request need the same number of rows, got {sorted(sizes) or 'no tensor'}")
    return int(sizes.pop())


def shape_of(tree: Tree, ragged: Collection[str] = ()) -> Hashable:
    """Return what all requests of a batch must share: the names, types and shapes of their tensors without the rows.

    ragged: names of the inputs whose shapes may differ.
    """
    if not isinstance(tree, (dict, tuple)):
        shape = getattr(tree, "shape", None)
        return None if shape is None else (tree.dtype, tuple(shape[1:]))
    if isinstance(tree, tuple):
        return tuple(shape_of(part) for part in tree)
    return tuple((name, None if name in ragged else shape_of(tree[name])) for name in sorted(tree))


def concatenate(trees: Sequence[Tree], ragged: Collection[str] = ()) -> Tree:
    """Join trees of the same shape along the first dimension. Each ragged input becomes a list of tensors."""
    first = trees[0]
    if isinstance(first, dict):
        columns = {name: [tree[name] for tree in trees] for name in first}
        return {name: column if name in ragged else concatenate(column) for name, column in columns.items()}
    if len(trees) == 1:
        return first
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
    """Cut a batch's outputs into one tree for each request; ValueError if the model lost or added rows."""
    if isinstance(outputs, dict):
        columns = {key: split(value, sizes) for key, value in outputs.items()}
        return [{key: column[i] for key, column in columns.items()} for i in range(len(sizes))]
    if isinstance(outputs, tuple):
        return list(zip(*(split(value, sizes) for value in outputs), strict=True))
    if len(outputs) != sum(sizes):
        raise ValueError(f"the model returned {len(outputs)} rows for a batch of {sum(sizes)}")
    if type(outputs).__module__.startswith("torch"):
        return list(outputs.split(list(sizes)))  # one call into torch: a slice of a tensor costs more than a microsecond
    parts, start = [], 0
    for size in sizes:
        parts.append(outputs[start : start + size])
        start += size
    return parts


def leaves(tree: Tree) -> Iterable[Any]:
    """Yield every tensor of a tree."""
    if isinstance(tree, dict):
        for value in tree.values():
            yield from leaves(value)
    elif isinstance(tree, tuple):
        for value in tree:
            yield from leaves(value)
    else:
        yield tree
