"""A side as the comparison sees it: a process that serves one target, and is asked for blocks."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from batchproof import __version__
from batchproof.bench.ab.block import WAIT_NS, Block
from batchproof.load.out_of_process import Frames, send_blob
from batchproof.load.workload import Skipped, Work
from batchproof.targets.protocol import Misuse, TargetError, TargetGone

START_S = 400.0  # a server, with what it has to pull and to load
END_S = 30.0  # for a target to end in
LAST_WORDS_S = 5.0
PROGRAM = "batchproof.commands.ab_side"


@dataclass(frozen=True)
class Spec:
    """One side. name: base or new. target: as `--target` takes it.

    config: of `BatcherConfig.facts`; None: the default. instances: 0: as configured. python: the interpreter. path: folders
    that come first when it imports. folder: where it runs; "": here. revision: what the user asked for, or "".
    """

    name: str
    target: str
    config: Mapping[str, Any] | None = None
    instances: int = 0
    python: str = sys.executable
    path: tuple[str, ...] = ()
    folder: str = ""
    revision: str = ""


@dataclass
class Side:
    """One side's process; `close` ends it, and what it has started. Errors name the side.

    about: what `serve` found: the target's description, and the configuration that is in force.
    """

    spec: Spec
    about: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Start the process; Misuse if the interpreter cannot be run."""
        self._said = tempfile.TemporaryFile()  # noqa: SIM115 - closed by `close`
        self._ours, theirs = socket.socketpair()
        self._frames = Frames(self._ours)
        spec, before = self.spec, [os.environ["PYTHONPATH"]] if os.environ.get("PYTHONPATH") else []
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join([*spec.path, *before])}
        command = [spec.python, "-m", PROGRAM, str(theirs.fileno()), str(os.getpid())]
        try:
            with theirs:
                self._process = subprocess.Popen(
                    command, pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL, stdout=self._said, stderr=self._said,
                    cwd=spec.folder or None, env=environment, start_new_session=True,  # Ctrl-C is for the parent to handle
                )  # fmt: skip
        except OSError as error:
            self._ours.close()
            self._said.close()
            raise Misuse(f"{spec.name}: cannot run {spec.python}: {error.strerror or error}") from None

    def order(self, **order: Any) -> None:
        """Send an order, whose answer `answer` waits for."""
        with contextlib.suppress(OSError):  # `answer` says why
            send_blob(self._ours, json.dumps(order).encode())

    def answer(self, limit_s: float) -> dict[str, Any]:
        """Return the answer to the last order; TargetGone if the process has ended, or what went wrong in it."""
        self._ours.settimeout(limit_s)
        try:
            found: dict[str, Any] = json.loads(self._frames.blob(next(self._frames)[1]))
        except OSError as error:
            raise self._lost(error, limit_s) from None
        if "error" in found:
            raise _error(found["error"], f"{self.spec.name}: {found['message']}")
        return found

    def begin_serving(self, work: Work) -> None:
        """Order the target to be started and the work to be served."""
        spec = self.spec
        config = None if spec.config is None else dict(spec.config)
        self.order(order="serve", target=spec.target, config=config, instances=spec.instances, work=vars(work))

    def serving(self) -> None:
        """Wait until it serves; Misuse if what it serves is not what was asked for."""
        self.about = self.answer(START_S)
        if self.about["batchproof"] != __version__:
            have = self.about["batchproof"]
            raise Misuse(
                f"{self.spec.name}: {self.spec.python} has Batchproof {have}, and this is {__version__}: install the same"
            )
        files = self.about.pop("files")
        if self.spec.revision and not any(one.startswith(f"{top}/") for one in files for top in self.spec.path):
            raise Misuse(
                f"{self.spec.name}: nothing that {self.spec.target} imports comes from revision {self.spec.revision}: "
                "name an adapter as module:attribute, and a module that is in the repository of this folder"
            )

    def saturate(self, clients: int, requests: int) -> Block:
        """Return a block in a closed loop."""
        self.order(order="saturate", clients=clients, requests=requests)
        return Block(**self.answer(WAIT_NS / 1e9 * 4))

    def pace(self, rate: float, seconds: float, seed: int) -> Block:
        """Return a block in an open loop."""
        self.order(order="pace", rate=rate, seconds=seconds, seed=seed)
        return Block(**self.answer(WAIT_NS / 1e9 * 4 + seconds))

    def leave(self) -> None:
        """Tell it to end, without waiting."""
        with contextlib.suppress(OSError):
            self._ours.shutdown(socket.SHUT_RDWR)
        self._ours.close()

    def close(self) -> None:
        """End it; by force if it takes too long. Safe to call twice."""
        self.leave()
        try:
            self._process.wait(END_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        finally:
            self._said.close()

    def _lost(self, error: OSError, limit_s: float) -> TargetError:
        name = self.spec.name
        if isinstance(error, TimeoutError):
            return TargetGone(f"{name}: no answer from its process in {limit_s:.0f} s")
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(LAST_WORDS_S)
        self._said.seek(0)
        told = self._said.read()[-2000:].decode(errors="replace").strip()
        if not self.about and "No module named" in told:
            lacks = told.splitlines()[-1].rpartition("No module named ")[2]
            need = f"{self.spec.python} -m pip install batchproof=={__version__}"
            return Misuse(f"{name}: {self.spec.python} cannot run Batchproof, because it has no module {lacks}: {need}")
        status = self._process.poll()
        if status is not None and status >= 0 and not self.about and not told:
            return Misuse(
                f"{name}: {self.spec.python} ended with status {status} before it served anything, and said nothing: "
                "is it an interpreter of Python?"
            )
        how = f"by signal {-status}" if status is not None and status < 0 else f"with status {status}"
        return TargetGone(f"{name}: its process ended {how}: {told.splitlines()[-1] if told else 'it wrote nothing'}")


def close_all(sides: Sequence[Side]) -> None:
    """End all of them at the same time."""
    for side in sides:
        side.leave()
    for side in sides:
        side.close()


def _error(word: str, message: str) -> Exception:
    kinds: dict[str, type[Exception]] = {"misuse": Misuse, "skipped": Skipped, "gone": TargetGone}
    return kinds.get(word, TargetError)(message)


def in_tree(folder: str | Path) -> tuple[str, ...]:
    """Return the folders of a source tree from which Python imports."""
    return tuple(str(one) for one in (Path(folder), Path(folder) / "src") if one.is_dir())
