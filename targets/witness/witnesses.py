"""Witnesses that number themselves, for stacks that run the model in several threads, tasks or processes.

This file is copied into other processes, as `probe.py` is: it needs numpy, the standard library, and the files next to it.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import secrets
import threading
from collections.abc import Iterator
from typing import Any

import numpy as np

from .counting import witness_folder
from .probe import COLUMNS, INFO, ROW, Ints, Witness


class Witnesses:
    """All the witnesses of one process: each execution takes one that is free, and the others stay as they are.

    So the number of instances that a timeline shows is the number of executions that ran at the same time. Their numbers
    differ from those of every other process that shares the folder.

    folder: where their logs go; by default the folder that the environment names. Safe to use from several threads.
    """

    def __init__(self, folder: str | os.PathLike[str] | None = None) -> None:
        self.folder = witness_folder(folder)
        self._lock = threading.Lock()
        self._free: list[Witness] = []
        self._all: list[Witness] = []
        self._owner, self._name = os.getpid(), secrets.token_hex(4)

    def execute(self, tensors: list[Ints], extras: list[Ints | None] | None = None) -> list[tuple[Ints, Ints]]:
        """Run one batch: a list of tensors, one for each request -> a list of (echo, info), as `Witness.execute`."""
        with self._one() as witness:
            return witness.execute(tensors, extras)

    async def execute_async(self, tensors: list[Ints], extras: list[Ints | None] | None = None) -> list[tuple[Ints, Ints]]:
        """Run one batch without blocking the event loop, as a model does that waits for something else."""
        with self._one() as witness:
            return await witness.execute_async(tensors, extras)

    def execute_rows(self, merged: Any, sizes: list[int] | None = None) -> tuple[Ints, Ints]:
        """Run one batch of requests whose rows the stack has merged: [rows, columns] -> echo and info, [rows, ...] each.

        sizes: how many rows each request has; if the stack does not say, the rows themselves do. A request whose rows are
        spread over several batches is seen in each of them. If one asks for it (`Payload.short`), the rows of the first one
        are missing.
        """
        tensors = split_rows(merged, sizes)
        return merged_rows(self.execute(tensors))

    async def execute_rows_async(self, merged: Any, sizes: list[int] | None = None) -> tuple[Ints, Ints]:
        """Run such a batch without blocking the event loop."""
        tensors = split_rows(merged, sizes)
        return merged_rows(await self.execute_async(tensors))

    def close(self) -> None:
        """Close the logs."""
        with self._lock:
            for witness in self._all:
                witness.close()

    @contextlib.contextmanager
    def _one(self) -> Iterator[Witness]:
        with self._lock:
            if self._owner != os.getpid():  # a fork needs witnesses of its own
                self._free, self._all, self._owner, self._name = [], [], os.getpid(), secrets.token_hex(4)
            if not self._free:
                self._free.append(numbered(self.folder, self._name))
                self._all.append(self._free[-1])
            witness = self._free.pop(0)
        try:
            yield witness
        finally:
            with self._lock:
                self._free.append(witness)
                self._free.sort(key=lambda one: one.instance)


def numbered(folder: str | os.PathLike[str], pool: str) -> Witness:
    """Return a witness with the lowest number that no other witness of this folder has, in this process or another.

    pool: whose it is, for its log.
    """
    os.makedirs(folder, mode=0o700, exist_ok=True)
    for number in itertools.count():
        with contextlib.suppress(FileExistsError):
            os.close(os.open(os.path.join(folder, f"{number}.jsonl"), os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
            return Witness(folder, number, pool)
    raise AssertionError


def split_rows(merged: Any, sizes: list[int] | None = None) -> list[Ints]:
    """Return the requests in a merged tensor [rows, columns], in its order.

    Each row says which request it belongs to and which row of it this is, so a request begins where the serial changes or
    where the rows do not go on. TypeError if the stack has changed the type or the shape, since the numbers are then lost.
    """
    rows = np.asarray(merged)
    if rows.ndim != 2 or rows.shape[1] != len(COLUMNS) or rows.dtype.kind != "i":
        raise TypeError(f"the witness got a tensor {rows.dtype} {list(rows.shape)}, not int64 [rows, {len(COLUMNS)}]")
    if sizes is not None:
        return np.split(rows, np.cumsum(sizes)[:-1])
    begins = (rows[1:, 0] != rows[:-1, 0]) | (rows[1:, ROW] != rows[:-1, ROW] + 1)
    return np.split(rows, np.flatnonzero(begins) + 1)


def merged_rows(answers: list[tuple[Ints, Ints]]) -> tuple[Ints, Ints]:
    """Return echo and info of a whole batch, [rows, ...] each; without any answer, none of either."""
    if not answers:
        return np.empty((0, len(COLUMNS)), dtype=np.int64), np.empty((0, len(INFO)), dtype=np.int64)
    echoes, infos = zip(*answers, strict=True)
    return np.concatenate(echoes), np.concatenate(infos)
