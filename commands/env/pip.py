"""Runs pip in an environment that is being made, reports its progress, and says briefly why it failed."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from itertools import takewhile
from pathlib import Path

from batchproof.host import guard
from batchproof.targets.environments import python_in

Hear = Callable[[str, int, int], None]
OTHERS = ("PIP_CONSTRAINT", "PIP_REQUIREMENT", "PIP_TARGET", "PIP_PREFIX", "PIP_USER", "PIP_ROOT", "PIP_DRY_RUN")
UNITS = {"bytes": 1, "kB": 1000, "MB": 1000**2, "GB": 1000**3}
FILE = re.compile(r"^\s*(?:Downloading|Using cached) (\S+) \(([\d.]+) (bytes|kB|MB|GB)\)")
LOCAL = re.compile(r"^\s*Processing (?:file://)?(/\S+\.whl)(?: \(from|$)")
CONFLICT = "The conflict is caused by:"
NO_SPACE = "No space left on device"
NO_INDEX = re.compile(r"connection broken by '(\w+)\(.*?(?:\[Errno -?\d+\] )?([A-Z][\w ]+)[')\"]")
SHOWN = 400
END_S = 5.0


class Failed(Exception):
    """A program that makes an environment failed; the message says why in one line."""


class Progress:
    """pip's progress, from its output. done, expected: bytes downloaded so far, and in all."""

    def __init__(self, expected: int, hear: Hear) -> None:
        self.done, self.lines = 0, list[str]()
        self._expected, self._hear = expected, hear

    def line(self, line: str) -> None:
        """Take one line of pip's."""
        self.lines.append(line.rstrip())
        if found := FILE.match(line):
            name, number, unit = found.groups()
            if not name.endswith(".metadata"):
                self._hear(f"downloading {name.rpartition('/')[2]} ({number} {unit})", self.done, self._expected)
            self.done += int(float(number) * UNITS[unit])
        elif found := LOCAL.match(line.rstrip()):  # a file of an index on this machine
            with contextlib.suppress(OSError):
                self.done += Path(found[1]).stat().st_size
        elif line.startswith("Installing collected packages:"):
            self._hear(f"installing {line.count(',') + 1} packages", 0, 0)


def pip(place: Path, arguments: Sequence[str], progress: Progress) -> None:
    """Run the environment's pip with the user's configuration. Failed, with pip's own message, if it fails."""
    usual = ["--no-input", "--no-color", "--disable-pip-version-check"]
    command = [str(python_in(place)), "-I", "-m", "pip", *usual, *arguments]
    status = run(command, progress.line, surroundings(place))
    if status:
        raise Failed(why(progress.lines, status))


def surroundings(place: Path) -> dict[str, str]:
    """Return the environment variables of programs that fill this folder; their temporary files go into it as well."""
    temporary = place / "tmp"
    temporary.mkdir(exist_ok=True)
    kept = {key: value for key, value in os.environ.items() if key not in OTHERS}
    return {**kept, "TMPDIR": str(temporary), "PIP_PROGRESS_BAR": "off"}


def run(command: Sequence[str], hear: Callable[[str], None], environment: dict[str, str] | None = None) -> int:
    """Run a program, pass its lines to `hear`, and return its status. It ends with this call, however that ends."""
    guarded = [sys.executable, "-S", "-E", guard.__file__, str(os.getpid()), *command]
    process = subprocess.Popen(
        guarded, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=environment,
        text=True, errors="replace", start_new_session=True,
    )  # fmt: skip
    assert process.stdout is not None
    try:
        for line in process.stdout:
            hear(line)
        return process.wait()
    finally:
        _end(process)
        process.stdout.close()


def _end(process: subprocess.Popen[str]) -> None:
    """End a program and everything that it has started in its session."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, number)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(END_S)
            return


def why(lines: Sequence[str], status: int) -> str:
    """Return why pip failed, as one line of its output."""
    if any(NO_SPACE in line for line in lines):
        return "there is no space left on the device"
    errors = [line.removeprefix("ERROR: ") for line in lines if line.startswith("ERROR: ")]
    if CONFLICT in lines:
        named = takewhile(str.strip, lines[lines.index(CONFLICT) + 1 :])
        errors = [f"{errors[0]} {', '.join(map(str.strip, named))}"] if errors else errors
    last = next((line for line in reversed(lines) if line.strip()), "it printed nothing")
    said = "; ".join(dict.fromkeys(errors[:2])) or last
    unreachable = next((found for line in lines if (found := NO_INDEX.search(line))), None)
    reached = f" (its index cannot be reached: {unreachable[2].strip()})" if unreachable else ""
    return f"pip ended with status {status}: {said[:SHOWN]}{reached}"
