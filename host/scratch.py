"""Temporary folders that say whose they are, so that a later run removes what a killed one has left behind."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import tempfile
from functools import cache
from pathlib import Path
from zlib import crc32

from batchproof.host.lives import born

PREFIX = "batchproof-"
NOWHERE = "0"  # without /proc nobody can tell who lives
_OWNED = re.compile(rf"{PREFIX}(\d+)-([0-9a-f]+)-")


def scratch() -> str:
    """Return how the names of this process's temporary folders begin; the first call removes those of dead processes."""
    _sweep()
    return f"{PREFIX}{os.getpid()}-{_here()}-"


def scratch_folder() -> str:
    """Make a temporary folder, which the caller removes."""
    return tempfile.mkdtemp(prefix=scratch())


@cache
def _here() -> str:
    """Return where a process id means this process: in this boot of this machine, and in this container."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_bytes()
        return f"{crc32(boot + b'%d' % Path('/proc/self/ns/pid').stat().st_ino):08x}"
    except OSError:
        return NOWHERE


@cache
def _sweep() -> None:
    """Remove the folders of processes that are dead. Whoever shares the place from another machine keeps theirs."""
    with contextlib.suppress(OSError):
        for path in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
            owner = _OWNED.match(path.name)
            if owner and owner[2] == _here() != NOWHERE and not born(owner[1]):
                shutil.rmtree(path, ignore_errors=True)
