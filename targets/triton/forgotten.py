"""What a tritonserver that is killed leaves in /tmp, which it uses whatever TMPDIR says."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import stat
from pathlib import Path

TEMPORARY = Path("/tmp")  # noqa: S108 - the server's own choice
PROCESSES = Path("/proc")
_NAME = re.compile(r"(?:python_env_|folder)\w{6}")  # as mkdtemp makes them


def remove_forgotten(since: float) -> None:
    """Remove an empty folder of its Python backend, and one for each model that it was given without a repository.

    They are recognized by name, owner, mode, content and time. While another server runs on this host, they may be that
    one's, so they stay. since: when the server was started, in seconds since the epoch.
    """
    with contextlib.suppress(OSError):
        if any(_name(process) == "tritonserver" for process in PROCESSES.iterdir() if process.name.isdigit()):
            return
        for path in filter(lambda one: _NAME.fullmatch(one.name), TEMPORARY.iterdir()):
            found = path.lstat()
            private = stat.S_ISDIR(found.st_mode) and stat.S_IMODE(found.st_mode) == stat.S_IRWXU
            if not private or found.st_uid != os.getuid() or found.st_ctime < since:
                continue
            if path.name.startswith("folder") and (path / "config.pbtxt").is_file():
                shutil.rmtree(path, ignore_errors=True)
            elif path.name.startswith("python_env_"):
                with contextlib.suppress(OSError):  # an environment was unpacked into it
                    path.rmdir()


def _name(process: Path) -> str:
    """Return the name of a process; "" if it has ended and is only not collected yet."""
    try:
        text = (process / "stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
    name, _, rest = text.partition("(")[2].rpartition(")")
    return "" if rest.split()[:1] == ["Z"] else name
