"""A deployment that is a server in a process of its own: what all adapters for servers have in common."""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Callable, Mapping
from concurrent.futures import Future

from batchproof.targets.deadlines import TooLate
from batchproof.targets.kit.cancelling import cancel
from batchproof.targets.kit.folder import Folder
from batchproof.targets.kit.interpreter import Interpreter
from batchproof.targets.kit.malformed import malformed
from batchproof.targets.kit.processes import Guarded
from batchproof.targets.kit.readiness import until
from batchproof.targets.kit.routes import route_of
from batchproof.targets.protocol import Request, Response

CLOSE_S = 120.0  # for the server to end in: longer than anybody waits for it, because who returns says that it has ended


class Server:
    """A server's half that runs with the witness in it: a deployment with its verbs.

    python: where it runs. program: the file of the server's half. arguments: what follows on its command line, as text.
    submit: sends a request, as the verb of this name; a client's `infer` with all but the request filled in. ready: as
    `Guarded` has it. name: what messages call the server. env: more variables. ends_by: the signal that `close` sends, as
    the stack's documentation says; SIGINT is Ctrl+C. checks_shapes: the stack is told which shapes the model takes, so that
    a request with another shape is malformed, and `submit_malformed` sends one. The server's current folder and its
    temporary files go with the deployment. Raises what `Guarded` raises.
    """

    cancel = staticmethod(cancel)

    def __init__(
        self,
        python: Interpreter,
        program: str | os.PathLike[str],
        *arguments: object,
        submit: Callable[[Request], Future[Response]],
        ready: Callable[[], object],
        name: str = "",
        env: Mapping[str, str] | None = None,
        ends_by: int = signal.SIGINT,
        checks_shapes: bool = False,
    ) -> None:
        self.submit, self.route = submit, route_of(submit)
        self.submit_malformed = (lambda: submit(malformed())) if checks_shapes else None
        self._folder, self._ends_by = Folder(), ends_by
        self.log, self.release, self.queued = self._folder.log, self._folder.release, self._folder.queued
        path = self._folder.path
        try:
            self.processes = Guarded(
                python.command(program, *arguments), cwd=path, env=python.environment(path, {"TMPDIR": path, **(env or {})}),
                ready=ready, name=name, grace_s=0,
            )  # fmt: skip
        except BaseException:
            self._folder.remove()
            raise

    @property
    def process_group(self) -> int:
        """The ancestor of all its processes."""
        return self.processes.process_group

    def close(self) -> None:
        """Ask the server to end, as its user would, and wait for that; a server that does not end is left to `finish`."""
        self.processes.send_signal(self._ends_by)
        with contextlib.suppress(TooLate):
            until(self.processes.ended, CLOSE_S, "the end of the server")

    def finish(self) -> None:
        """Kill what is left of the server, and remove its files."""
        self.processes.finish()
        self._folder.remove()
