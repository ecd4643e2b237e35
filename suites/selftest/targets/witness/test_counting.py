"""Who waits is counted exactly, in one process and across processes, whatever the order in which the notes are read."""

from __future__ import annotations

import asyncio
import os
import shutil
from concurrent.futures import Future
from typing import TYPE_CHECKING

import pytest

from batchproof.targets.protocol import Request
from batchproof.targets.witness import Counted, Witnesses, counting

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def witnesses(tmp_path: Path) -> Iterator[Witnesses]:
    one = Witnesses(tmp_path)
    yield one
    one.close()


def test_a_request_waits_until_it_enters_the_model(witnesses: Witnesses) -> None:
    """`accepted` begins the wait, and an execution ends it before the witness has said a word."""
    counted = Counted(witnesses)
    tensors = [Request(f"r{serial}", serial).tensor() for serial in (1, 2, 3)]
    for serial in (1, 2, 3):
        counted.accepted(serial)
    assert counted.queued() == 3

    counted.execute(tensors[:2])
    assert counted.queued() == 1
    counted.execute_rows(tensors[2])
    assert counted.queued() == 0


def test_a_request_that_leaves_otherwise_waits_no_longer(tmp_path: Path) -> None:
    """It was refused, cancelled, or lost with its handler."""
    counted = Counted(tmp_path)
    future: Future[None] = Future()

    assert counted.track(5, future) is future
    with counted.waiting([[6, 0]]):
        assert counted.queued() == 2
    assert counted.queued() == 1
    future.cancel()
    assert counted.queued() == 0


def test_an_execution_on_an_event_loop_counts_too(witnesses: Witnesses) -> None:
    """The methods for event loops end the wait as the others do."""
    counted = Counted(witnesses)
    tensor = Request("r0", 9).tensor()

    async def serve() -> int:
        counted.accepted(9)
        await counted.execute_async([tensor])
        counted.accepted(10)
        await counted.execute_rows_async(Request("r1", 10).tensor())
        return counted.queued()

    assert asyncio.run(serve()) == 0


def test_processes_share_a_folder(tmp_path: Path, witnesses: Witnesses) -> None:
    """One accepts, another executes, and a third asks; a fork writes to a file of its own."""
    accepting, executing, asking = Counted(tmp_path), Counted(witnesses), Counted(tmp_path)
    accepting.accepted(1)
    assert asking.queued() == 1

    if (child := os.fork()) == 0:
        accepting.accepted(2)
        os._exit(0)
    os.waitpid(child, 0)
    assert asking.queued() == 2

    executing.execute([Request("r0", 1).tensor()])
    assert asking.queued() == 1
    assert len(list((tmp_path / "counts").iterdir())) == 3


def test_notes_may_be_read_in_any_order(tmp_path: Path) -> None:
    """Who has left before its acceptance is read does not wait, and a second note that it has left changes nothing."""
    counted = Counted(tmp_path)

    counted.left(1)
    counted.left(1)
    assert counted.queued() == 0
    counted.accepted(1)
    counted.accepted(2)

    assert counted.queued() == 1


def test_a_note_that_is_half_written_is_read_later(tmp_path: Path) -> None:
    """The reader takes whole notes only."""
    counted = Counted(tmp_path)
    note = (2 * 7).to_bytes(8, "little")
    path = tmp_path / "counts" / "other"
    path.write_bytes(note[:3])
    assert counted.queued() == 0

    path.write_bytes(note)

    assert counted.queued() == 1


def test_memory_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of the requests that have left, only the latest are remembered."""
    monkeypatch.setattr(counting, "KEPT", 10)
    counted = Counted(tmp_path)
    for serial in range(1, 101):
        counted.accepted(serial)
        counted.left(serial)

    assert counted.queued() == 0
    assert len(counted._gone) == 10


def test_the_environment_names_the_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a server's process nobody has to pass it on."""
    monkeypatch.setenv("BATCHPROOF_WITNESS", str(tmp_path))

    assert Counted().folder == Witnesses().folder == str(tmp_path)


def test_closing_is_repeatable(tmp_path: Path) -> None:
    """A note after that opens a new file."""
    counted = Counted(tmp_path)
    counted.accepted(1)
    counted.close()
    counted.close()
    counted.accepted(2)

    assert counted.queued() == 2


def test_whoever_leaves_after_the_end_is_not_noted(tmp_path: Path) -> None:
    """A request may be given up after its deployment is finished and its folder is removed."""
    folder = tmp_path / "witnesses"
    counted = Counted(folder)
    shutil.rmtree(folder)

    counted.left(1)

    assert not folder.exists()
