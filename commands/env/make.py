"""Makes an environment under a temporary name, and renames it once it is complete."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import re
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from packaging.specifiers import SpecifierSet

from batchproof.commands.env.pip import Failed, Hear, Progress, pip, run, surroundings
from batchproof.targets.environments import MARKER, Environment, complete, python_in
from batchproof.targets.protocol import Misuse, TargetError

ROOM = 1.25  # free space needed, as a multiple of the installed size: downloads are unpacked next to it
MB = 1_000_000
LOOK_S = 30.0


@dataclass(frozen=True)
class Made:
    """A complete environment. seconds, downloaded (in bytes): 0 if it existed before."""

    place: Path
    seconds: float = 0.0
    downloaded: int = 0


def version_of(python: str) -> str:
    """Return the version of an interpreter; Misuse if there is none."""
    look = [python, "-I", "-c", "import platform; print(platform.python_version())"]
    try:
        ran = subprocess.run(look, capture_output=True, text=True, timeout=LOOK_S, check=False, stdin=subprocess.DEVNULL)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise Misuse(f"--python {python} cannot be run: {error}") from None
    if not re.match(r"\d+\.\d+", ran.stdout):
        raise Misuse(f"--python {python} is not a Python: {(ran.stderr or ran.stdout).strip()[:200]}")
    return ran.stdout.strip()


def check_python(wanted: Environment, python: str) -> str:
    """Return the interpreter's version; Misuse if there are no packages for it."""
    version = version_of(python)
    if not SpecifierSet(wanted.python).contains(version, prereleases=True):
        raise Misuse(
            f"{wanted.name} {wanted.version} needs Python {wanted.python}, and {python} is Python {version}: "
            "name another one with --python"
        )
    return version


def make(wanted: Environment, folder: Path, python: str, version: str, hear: Hear) -> Made:
    """Make an environment with this interpreter, or find it; TargetError says why it cannot be made."""
    place = wanted.at(folder)
    if complete(place):
        return Made(place)
    began = time.monotonic()
    with _half_made(wanted, folder) as half:
        if complete(place):  # another process has made it in the meantime
            return Made(place)
        downloaded = _fill(half, wanted, python, version, hear)
        _move(half, place)
    return Made(place, time.monotonic() - began, downloaded)


def _fill(half: Path, wanted: Environment, python: str, version: str, hear: Hear) -> int:
    """Install everything; return the number of bytes downloaded."""
    progress = Progress(wanted.download_mb * MB, hear)
    try:
        hear(f"making an environment with Python {version}", 0, 0)
        if status := run([python, "-I", "-m", "venv", str(half)], progress.line, surroundings(half)):
            said = " ".join(line.strip() for line in progress.lines if line.strip())
            raise Failed(f"{python} -m venv ended with status {status}: {said[:400]}")
        progress.lines.clear()
        held = _held(half, wanted, version)
        if alone := [text for text in wanted.packages if text in wanted.alone]:
            pip(half, ["install", *held, "--no-deps", *alone], progress)
        pip(half, ["install", *held, *(text for text in wanted.packages if text not in alone)], progress)
        if wanted.remove:
            pip(half, ["uninstall", "--yes", *wanted.remove], progress)
        hear(f"trying to import {wanted.imports}", 0, 0)
        said_last: list[str] = []
        if run([str(python_in(half)), "-I", "-c", f"import {wanted.imports}"], said_last.append):
            raise Failed(f"{wanted.imports} cannot be imported: {(said_last or ['no message'])[-1].strip()[:400]}")
        facts = {"name": wanted.name, "version": wanted.version, "python": version, "downloaded": progress.done}
        (half / MARKER).write_text(json.dumps(facts) + "\n", encoding="utf-8")
    except Failed as failure:
        raise TargetError(f"cannot make the environment {wanted.folder_name}: {failure}. Nothing was left behind") from None
    return progress.done


def _held(half: Path, wanted: Environment, version: str) -> list[str]:
    """Return the arguments that pin pip to the tested versions, if they were tested with this Python."""
    if not wanted.locked or not version.startswith(f"{wanted.locked_for}."):
        return []
    path = half / "constraints.txt"
    path.write_text("\n".join(wanted.locked) + "\n", encoding="utf-8")
    return ["--constraint", str(path)]


@contextlib.contextmanager
def _half_made(wanted: Environment, folder: Path) -> Iterator[Path]:
    """Provide an empty, locked folder to make an environment in; it is removed if that fails."""
    half = folder / f".{wanted.folder_name}.half"
    with contextlib.ExitStack() as stack:
        try:
            half.mkdir(parents=True, exist_ok=True)
            stack.enter_context(alone(half))
        except BlockingIOError:
            raise TargetError(f"another process is making {wanted.folder_name} in {folder}: wait for it") from None
        except OSError as error:
            raise TargetError(f"{folder} cannot be written: {error.strerror}; name another one with --folder") from None
        try:
            _empty(half)  # left behind by an earlier process that was killed
            _check_room(wanted, folder)
            yield half
        finally:
            with _undisturbed():
                shutil.rmtree(half, ignore_errors=True)


@contextlib.contextmanager
def alone(folder: Path) -> Iterator[None]:
    """Lock a folder; BlockingIOError if another process holds the lock, or held it until now."""
    lock = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if not folder.exists() or not os.path.samestat(folder.stat(), os.fstat(lock)):
            raise BlockingIOError(f"{folder} has just been removed, or has got another name")
        yield
    finally:
        os.close(lock)


def _empty(folder: Path) -> None:
    for path in folder.iterdir():
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink()


def _check_room(wanted: Environment, folder: Path) -> None:
    needed, free = int(wanted.installed_mb * MB * ROOM), shutil.disk_usage(folder).free
    if free < needed:
        raise TargetError(
            f"{wanted.folder_name} needs about {needed / MB:.0f} MB in {folder}, and {free / MB:.0f} MB are free: make "
            "room, or name another folder with --folder"
        )


def _move(half: Path, place: Path) -> None:
    """Rename an environment. Its programs begin with the path of their interpreter, which changes."""
    shutil.rmtree(half / "tmp", ignore_errors=True)
    before, after = os.fsencode(half), os.fsencode(place)
    for path in (half / "bin").iterdir():
        if path.is_file() and not path.is_symlink():
            text = path.read_bytes()
            if before in text and b"\0" not in text:
                path.write_bytes(text.replace(before, after))
    if place.exists():  # incomplete, or it would have been found
        shutil.rmtree(place)
    half.rename(place)


@contextlib.contextmanager
def _undisturbed() -> Iterator[None]:
    """Ignore signals during a removal, so that a second Ctrl-C does not leave part of it behind."""
    signals = (signal.SIGINT, signal.SIGTERM)
    before = [signal.signal(number, signal.SIG_IGN) for number in signals]
    try:
        yield
    finally:
        for number, handler in zip(signals, before, strict=True):
            signal.signal(number, handler)
