"""Whether a process lives. One that has ended keeps its place in /proc until somebody has asked how."""

from __future__ import annotations

from pathlib import Path

PROC = Path("/proc")
ENDED = ("Z", "X")  # states of a process


def born(pid: int | str, proc: Path = PROC) -> str:
    """Return when a process started, in the kernel's ticks, or an empty string if none with this id lives."""
    try:
        text = (proc / str(pid) / "stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
    fields = text.rpartition(")")[2].split()
    return fields[19] if len(fields) > 19 and fields[0] not in ENDED else ""
