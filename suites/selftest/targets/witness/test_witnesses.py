"""Witnesses that number themselves, on threads, tasks and processes; and batches whose rows were merged."""

from __future__ import annotations

import asyncio
import contextlib
import os
import threading
from typing import TYPE_CHECKING

import numpy as np
import pytest

from batchproof.targets import read_log, release
from batchproof.targets.protocol import Request
from batchproof.targets.witness import Payload, Witness, WitnessError, Witnesses, split_rows
from batchproof.targets.witness.probe import COLUMNS, INFO

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

BATCH, INSTANCE, REQUESTS, ROWS, POSITION, SERIAL = map(
    INFO.index, ("batch", "instance", "requests", "rows", "position", "serial")
)


@pytest.fixture
def witnesses(tmp_path: Path) -> Iterator[Witnesses]:
    one = Witnesses(tmp_path)
    yield one
    one.close()


def tensor(serial: int, rows: int = 1, hold: int = 0) -> np.ndarray:
    return Request(f"r{serial}", serial, Payload(rows=rows), hold).tensor()


def test_one_execution_after_another_is_one_instance(witnesses: Witnesses) -> None:
    """Whatever thread it runs on."""
    instances = []

    def run(serial: int) -> None:
        instances.append(int(witnesses.execute([tensor(serial)])[0][1][0, INSTANCE]))

    for serial in range(3):
        thread = threading.Thread(target=run, args=(serial,))
        thread.start()
        thread.join()

    assert instances == [0, 0, 0]


def test_executions_at_the_same_time_are_instances(tmp_path: Path, witnesses: Witnesses) -> None:
    """While one is held, the next has another number, and afterwards the lowest is taken again."""
    answers = {}

    async def serve() -> None:
        held = asyncio.ensure_future(witnesses.execute_async([tensor(1, hold=9)]))
        await asyncio.sleep(0)
        answers["second"] = await witnesses.execute_async([tensor(2)])
        release(tmp_path, 9)
        answers["first"] = await held
        answers["third"] = await witnesses.execute_async([tensor(3)])

    asyncio.run(serve())

    places = {name: int(answer[0][1][0, INSTANCE]) for name, answer in answers.items()}
    assert places == {"first": 0, "second": 1, "third": 0}


def test_processes_that_share_a_folder_have_different_numbers(tmp_path: Path, witnesses: Witnesses) -> None:
    """A fork does not go on with the numbers of its parent."""
    witnesses.execute([tensor(1)])
    if (child := os.fork()) == 0:
        witnesses.execute([tensor(2)])
        os._exit(0)
    os.waitpid(child, 0)
    other = Witnesses(tmp_path)
    other.execute([tensor(3)])
    other.close()

    entered = {line["instance"]: line["serials"] for line in read_log(tmp_path, {})[0] if "serials" in line}
    assert entered == {0: [1], 1: [2], 2: [3]}


def test_the_log_says_which_witnesses_take_turns(tmp_path: Path, witnesses: Witnesses) -> None:
    """Their numbers do not tell instances apart, and that of a witness which belongs to one instance does."""
    with contextlib.closing(Witnesses(tmp_path)) as other, contextlib.closing(Witness(tmp_path, 7)) as own:
        for each in (witnesses, witnesses, other, own):
            each.execute([tensor(1)])
        lines, _ = read_log(tmp_path, {})

    pools = {(line["instance"], line.get("pool", "")) for line in lines if "enter_ns" in line}
    assert {number for number, _ in pools} == {0, 1, 7}
    assert (7, "") in pools
    assert len({pool for _, pool in pools}) == 3


def test_an_execution_that_is_cancelled_is_in_the_log(tmp_path: Path, witnesses: Witnesses) -> None:
    """It has left the model, and has failed."""

    async def serve() -> None:
        task = asyncio.ensure_future(witnesses.execute_async([tensor(1, hold=9)]))
        await asyncio.sleep(0)
        task.cancel()
        await task

    with pytest.raises(asyncio.CancelledError):
        asyncio.run(serve())

    assert [line.get("failed") for line in read_log(tmp_path, {})[0]] == [None, True]
    assert int(witnesses.execute([tensor(2)])[0][1][0, INSTANCE]) == 0


@pytest.mark.parametrize("sizes", [[1, 3, 2], None], ids=["sizes known", "sizes not known"])
def test_a_merged_batch_is_taken_apart(tmp_path: Path, witnesses: Witnesses, sizes: list[int] | None) -> None:
    """Each request has its place, and the answer is merged again in the same order."""
    tensors = [tensor(11), tensor(12, 3), tensor(13, 2)]

    echo, info = witnesses.execute_rows(np.concatenate(tensors), sizes)

    assert np.array_equal(echo, np.concatenate(tensors))
    assert info[:, SERIAL].tolist() == [11, 12, 12, 12, 13, 13]
    assert info[:, POSITION].tolist() == [0, 1, 1, 1, 2, 2]
    assert {tuple(row) for row in info[:, [REQUESTS, ROWS]].tolist()} == {(3, 6)}
    assert read_log(tmp_path, {})[0][0]["rows"] == [1, 3, 2]


def test_a_merged_batch_may_lack_the_rows_of_its_first_request(witnesses: Witnesses) -> None:
    """All of them, also if no other request is in the batch."""
    short = Request("short", 2, Payload(rows=2, short=True)).tensor()

    echo, info = witnesses.execute_rows(np.concatenate([tensor(1, 3), short]))
    nothing = witnesses.execute_rows(short)

    assert echo[:, 0].tolist() == info[:, SERIAL].tolist() == [2, 2]
    assert [part.shape for part in nothing] == [(0, len(COLUMNS)), (0, len(INFO))]


def test_a_merged_batch_on_an_event_loop(witnesses: Witnesses) -> None:
    """It is the same batch."""
    merged = np.concatenate([tensor(1, 2), tensor(2)])

    echo, info = asyncio.run(witnesses.execute_rows_async(merged))

    assert np.array_equal(echo, merged)
    assert info[:, SERIAL].tolist() == [1, 1, 2]


@pytest.mark.parametrize(
    ("rows", "sizes"),
    [
        ([tensor(1, 4)[:3]], [3]),
        ([tensor(1, 4)[3:], tensor(2, 2)], [1, 2]),
        ([tensor(1), tensor(1)], [1, 1]),
        ([tensor(1, 2), tensor(2, 4)[:1]], [2, 1]),
    ],
    ids=["the beginning of a request", "the end of one", "one request twice", "cut behind one"],
)
def test_rows_say_where_a_request_begins(rows: list[np.ndarray], sizes: list[int]) -> None:
    """So a request may be spread over batches, or come twice."""
    assert [len(one) for one in split_rows(np.concatenate(rows))] == sizes


@pytest.mark.parametrize(
    "merged", [tensor(1).astype(np.float64), tensor(1)[0], tensor(1)[:, :4]], ids=["floats", "flat", "columns are missing"]
)
def test_a_tensor_that_was_changed_is_refused(merged: np.ndarray) -> None:
    """The message has its type and shape."""
    with pytest.raises(TypeError, match=rf"the witness got a tensor .*\[.*\], not int64 \[rows, {len(COLUMNS)}\]"):
        split_rows(merged)


def test_a_batch_that_fails_frees_its_witness(witnesses: Witnesses) -> None:
    """The next batch runs in the same instance."""
    bad = Request("bad", 1, Payload(fail=True)).tensor()

    with pytest.raises(WitnessError):
        witnesses.execute_rows(bad)

    assert int(witnesses.execute([tensor(2)])[0][1][0, INSTANCE]) == 0
