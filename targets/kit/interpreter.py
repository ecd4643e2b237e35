"""The interpreter that runs the server's half of an adapter: ours, or one of another environment (`?python=/path`)."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import weakref
from collections.abc import Mapping, Sequence
from pathlib import Path

from batchproof.host.scratch import scratch_folder
from batchproof.targets import witness
from batchproof.targets.protocol import Misuse, TargetError
from batchproof.targets.witness.counting import FOLDER

OURS = Path(witness.__file__).resolve().parents[1]
TRAVELS_AS = "batchproof_witness"
LOOK_S = 60.0
LOOK = """
import json, sys
from importlib import metadata
import numpy
def version(name):
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return ""
print(json.dumps({name: version(name) for name in sys.argv[1:]}))
"""


class Missing(TargetError):
    """This process's own interpreter does not have the stack; an environment of its own may have it."""


class Interpreter:
    """A Python that has a stack and numpy, and need not have Batchproof.

    python: its path, as the user gave it; empty for this process's own. needs: the distributions that the server's half
    imports; the first is the stack. hint: how to install them. Misuse if there is no such program, TargetError if it lacks
    numpy or one of them.
    """

    def __init__(self, python: str = "", needs: Sequence[str] = (), hint: str = "") -> None:
        self.path = str(Path(python).expanduser().absolute()) if python else sys.executable
        self.own = not python
        self._copies: Path | None = None
        look = [self.path, "-c", LOOK, *needs]
        try:
            ran = subprocess.run(look, capture_output=True, text=True, timeout=LOOK_S, check=False, stdin=subprocess.DEVNULL)
        except OSError as error:
            raise Misuse(f"?python={python}: {self.path} cannot be run: {error.strerror or error}") from None
        except subprocess.TimeoutExpired:
            raise Misuse(f"?python={python}: {self.path} is not a Python: no answer in {LOOK_S:g} s") from None
        try:
            self.versions: dict[str, str] = json.loads(ran.stdout)
        except ValueError:
            why = (ran.stderr.strip().splitlines() or ["it printed nothing that this module understands"])[-1]
            raise Misuse(f"?python={python}: {self.path} is not a Python with numpy: {why[:300]}") from None
        if missing := [name for name in needs if not self.versions.get(name)]:
            how = hint or f"{self.path} -m pip install {' '.join(missing)}"
            lacking = Missing if self.own else TargetError
            raise lacking(f"{self.path} does not have {', '.join(missing)}: {how}")

    def command(self, program: str | os.PathLike[str], *arguments: object) -> list[str]:
        """Return the command that runs a Python file with these arguments."""
        return [self.path, str(self._apart(Path(program))), *map(str, arguments)]

    def _apart(self, program: Path) -> Path:
        """Return the file, or a copy of one of ours.

        Python looks for modules next to its program first, and there ours have modules with the names of their stacks.
        """
        if not program.resolve().is_relative_to(OURS):
            return program
        if self._copies is None:
            self._copies = Path(scratch_folder())
            weakref.finalize(self, shutil.rmtree, self._copies, ignore_errors=True)
        return Path(shutil.copy(program, self._copies))

    def environment(self, folder: str | os.PathLike[str], more: Mapping[str, str] | None = None) -> dict[str, str]:
        """Return the environment of a server whose witnesses share this folder.

        In it, `import batchproof_witness` has what `batchproof.targets.witness` has: Witness, Witnesses, Counted. They find
        the folder by themselves. Nothing else of Batchproof is on the path, and one thread is enough for numpy.
        """
        path = Path(folder) / "path"
        path.mkdir(parents=True, exist_ok=True)
        if not (link := path / TRAVELS_AS).is_symlink():
            link.symlink_to(Path(witness.__file__).parent)
        kept = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON") or self.own}
        threads = dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
        before = [kept["PYTHONPATH"]] if kept.get("PYTHONPATH") else []
        ours = {"PYTHONPATH": os.pathsep.join([str(path), *before]), "PYTHONUNBUFFERED": "1", FOLDER: os.fspath(folder)}
        return {**kept, **threads, "PYTHONDONTWRITEBYTECODE": "1", **ours, **(more or {})}
