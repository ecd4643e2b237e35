"""Opening and failing under test: each way in which a history cannot be used is one message, and nothing is lost by it."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from batchproof.reports.history import HistoryError, HistoryUnavailable, Run
from batchproof.reports.history.queries import counted, entries
from batchproof.reports.history.store import opened
from batchproof.reports.history.writing import add
from batchproof.suites.selftest.reports.history.samples import run

if TYPE_CHECKING:
    from collections.abc import Iterator

    from batchproof.suites.selftest.postgres import Server


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A history with one run."""
    path = tmp_path / "history.sqlite"
    with opened(str(path), create=True) as store:
        list(add(store, [run(1)]))
    return path


def why_not(where: str | Path, **more: object) -> str:
    """Return the message of a history that cannot be opened."""
    with pytest.raises(HistoryError) as caught, opened(str(where), **more) as store:  # type: ignore[arg-type]
        list(entries(store))
    return str(caught.value)


def test_a_history_that_is_not_there_is_not_made_by_looking(tmp_path: Path) -> None:
    """The message says what makes one."""
    path = tmp_path / "gone.sqlite"

    assert why_not(path) == f"there is no history at {path}: `batchproof history add FOLDER` makes one"
    assert not path.exists()


def test_what_is_not_a_history_is_told_and_left_alone(tmp_path: Path) -> None:
    """A text, a picture, an empty file, another program's database, a folder, a folder that cannot be."""
    text, empty, other = tmp_path / "x.md", tmp_path / "empty", tmp_path / "other.db"
    text.write_text("# A page\n" * 100)
    empty.touch()
    with sqlite3.connect(other) as connection:
        connection.execute("CREATE TABLE songs (title TEXT)")
    before = other.read_bytes()

    assert "this is not a history, but some other file" in why_not(text)
    assert "this is not a history, but some other file" in why_not(text, create=True)
    assert "it is empty" in why_not(empty)
    assert "it holds other tables" in why_not(other)
    assert "it holds other tables" in why_not(other, create=True)
    assert "is a folder: name a file" in why_not(tmp_path)
    os.mkfifo(tmp_path / "pipe")
    assert "is a pipe or a device" in why_not(tmp_path / "pipe")  # and nobody waits for it
    assert "cannot be written: Not a directory; name another --store" in why_not(text / "below" / "x.sqlite", create=True)
    assert (text.read_text(), other.read_bytes()) == ("# A page\n" * 100, before)


def test_an_empty_file_becomes_a_history(tmp_path: Path) -> None:
    """As `touch` or mktemp leave it."""
    path = tmp_path / "x.sqlite"
    path.touch()

    with opened(str(path), create=True) as store:
        assert counted(store) == 0


def test_a_damaged_file_is_told(file: Path) -> None:
    """A file that was overwritten in its middle."""
    with opened(str(file), create=True) as store:
        list(add(store, [run(number) for number in range(2, 400)]))
    data = bytearray(file.read_bytes())
    data[8192:-4096] = os.urandom(len(data) - 12288)
    file.write_bytes(bytes(data))

    assert "the file is damaged" in why_not(file)


def test_a_cut_file_is_told(file: Path) -> None:
    """As a copy that did not end leaves it."""
    file.write_bytes(file.read_bytes()[:9000])

    assert "the file is damaged" in why_not(file)


def test_a_locked_file_is_told_after_a_while(file: Path) -> None:
    """Readers go on meanwhile."""
    holder = sqlite3.connect(file, isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")

    with pytest.raises(HistoryUnavailable) as caught, opened(str(file), write=True, wait_s=0.2) as store:
        list(add(store, [run(2)]))
    with opened(str(file)) as store:
        there = counted(store)
    holder.close()

    assert "another process has held it for too long" in str(caught.value)
    assert there == 1


def test_a_file_that_is_replaced_meanwhile_is_told(file: Path) -> None:
    """What went into a file that nobody will find is not called safe."""

    def runs() -> Iterator[Run]:
        for number in range(300):
            if number == 250:
                file.rename(file.with_name("moved"))
            yield run(number)

    with pytest.raises(HistoryUnavailable, match="was moved, removed or replaced"), opened(str(file), write=True) as store:
        list(add(store, runs()))


FILL = """
import resource, sys
from batchproof.reports.history import HistoryError
from batchproof.reports.history.store import opened
from batchproof.reports.history.writing import add
from batchproof.suites.selftest.reports.history.samples import run
if sys.argv[2] != "0":
    resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]), resource.RLIM_INFINITY))
safe = 0
try:
    with opened(sys.argv[1], create=True) as store:
        for added in add(store, (run(number) for number in range(20_000))):
            safe += 1
except HistoryError as error:
    print(safe, error)
"""


def fill(where: Path, limit: int) -> tuple[int, str]:
    """Add runs until it fails; return how many were safe, and the message."""
    done = subprocess.run([sys.executable, "-c", FILL, str(where), str(limit)], capture_output=True, text=True, timeout=90,
                          check=True)
    safe, _, message = done.stdout.partition(" ")
    return int(safe), message


def mount(*arguments: str) -> bool:
    """Mount something; return whether that was possible."""
    program = shutil.which("mount")
    return bool(program) and os.geteuid() == 0 and not subprocess.run(
        [str(program), *arguments], capture_output=True, check=False).returncode


def unmount(folder: Path) -> None:
    """Undo a mount."""
    subprocess.run([str(shutil.which("umount")), "-l", str(folder)], check=True)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of one MiB."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mounted = mount("-t", "tmpfs", "-o", "size=1m", "tmpfs", str(folder))
    yield folder if mounted else tmp_path / "limited"
    if mounted:
        unmount(folder)


def test_a_full_disk_loses_nothing_that_was_safe(small_disk: Path) -> None:
    """On a small disk, or, where none can be mounted, below a limit on the size of files."""
    where, limit = small_disk / "history.sqlite", 0 if small_disk.name == "disk" else 1 << 20
    safe, message = fill(where, limit)

    with opened(str(where)) as store:
        found = counted(store)

    assert ("full" in message, message.count("\n")) == (True, 1)
    assert found == safe > 0


def test_a_limit_on_the_size_of_files_is_told(tmp_path: Path) -> None:
    """Whatever the reason for which the system takes no more, the runs before are there."""
    safe, message = fill(tmp_path / "history.sqlite", 500_000)

    with opened(str(tmp_path / "history.sqlite")) as store:
        found = counted(store)

    assert "make room and run this again" in message
    assert found == safe > 0


@pytest.fixture
def read_only_disk(file: Path, tmp_path: Path) -> Iterator[Path]:
    """The history on a disk that cannot be written to."""
    folder = tmp_path / "readonly"
    folder.mkdir()
    if mount("--bind", str(tmp_path), str(folder)):
        assert mount("-o", "remount,bind,ro", str(folder))
        yield folder / file.name
        unmount(folder)
    elif os.geteuid():
        shutil.copy(file, folder)
        folder.chmod(0o555)
        yield folder / file.name
        folder.chmod(0o755)
    else:
        pytest.skip("root is not held up by permissions, and must not mount anything here")


def test_a_read_only_disk_is_read(read_only_disk: Path) -> None:
    """What can be read is; what would be written is refused in a sentence."""
    with opened(str(read_only_disk)) as store:
        found = counted(store)

    assert found == 1
    assert "cannot be written: " in why_not(read_only_disk, create=True)
    with pytest.raises(HistoryUnavailable, match=r"written to|opened"), opened(str(read_only_disk), write=True) as store:
        list(add(store, [run(2)]))


def test_a_server_that_goes_away_in_the_middle(postgres: Server) -> None:
    """What was said to be safe is there when it is back, and the message neither shows the password nor a traceback."""
    where = postgres.database("goes_away")

    def runs() -> Iterator[Run]:
        for number in range(5000):
            if number == 350:
                postgres.stop()
            yield run(number)

    try:
        with pytest.raises(HistoryUnavailable) as caught, opened(where, create=True) as store:
            list(add(store, runs()))
    finally:
        postgres.start()
    with opened(where) as store:
        found = counted(store)

    assert "the server cannot be reached, or has gone away" in str(caught.value)
    assert "s3cr3t-word" not in str(caught.value)
    assert ("\n" in str(caught.value), found) == (False, 300)


def test_a_server_that_is_not_there(tmp_path: Path) -> None:
    """Its place is named, and neither user nor password."""
    pytest.importorskip("psycopg", reason="the extra `postgresql` is not installed")
    said = why_not(f"postgresql://me:s3cr3t-word@/x?host={tmp_path}")

    assert said.startswith(f"postgresql://{tmp_path}/x: the server cannot be reached")
    assert "s3cr3t-word" not in said


def test_a_database_that_is_not_there(postgres: Server) -> None:
    """The server's own word for it is enough."""
    assert 'database "gone" does not exist' in why_not(postgres.url("gone"))
