"""The threaded shell: one thread forms iterations and runs the model; anybody may submit, from any thread.

What comes out is told on that thread, in order, and before the next run of the model. So a token is told once it is there,
nothing is told after an end, and a callback that takes long holds up everybody.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import TYPE_CHECKING

from .config import EngineConfig
from .requests import Request, Row, Said
from .scheduler import Scheduler

if TYPE_CHECKING:
    from typing_extensions import Self

LanguageModel = Callable[[Sequence[Row]], Sequence[int | None]]
Callback = Callable[[Said], object]


class Engine:
    """An engine on a thread of its own.

    model: called with the rows of an iteration. It writes their new tokens into its KV cache where the rows' blocks say, and
    returns for each row the next token, or None where the row is not its sequence's last. If it raises, the requests in that
    iteration end with `error`, and the others go on.
    """

    def __init__(self, config: EngineConfig, model: LanguageModel) -> None:
        self._scheduler = Scheduler(config)
        self._model = model
        self._changed = threading.Condition()
        self._callbacks: dict[str, Callback] = {}
        self._out: list[tuple[Callback, Said]] = []
        self._closing = False
        self._thread = threading.Thread(target=self._run, name="engine", daemon=True)
        self._thread.start()

    def submit(self, request: Request, callback: Callback) -> str | None:
        """Queue a request, or return why it is refused.

        callback: called with everything that comes out for it. If it raises, its request is taken back.
        """
        with self._changed:
            refusal = "the engine is closed" if self._closing else self._scheduler.add(request)
            if refusal is None:
                self._callbacks[request.name] = callback
                self._changed.notify_all()
            return refusal

    def abort(self, name: str) -> None:
        """Take a request back; nothing happens if it is not under way."""
        with self._changed:
            self._take(self._scheduler.abort(name))
            self._changed.notify_all()

    def gauges(self) -> dict[str, int]:
        """Return what the scheduler counts."""
        with self._changed:
            return self._scheduler.gauges()

    def close(self) -> None:
        """Take back what is under way, and end the thread."""
        with self._changed:
            self._closing = True
            for name in tuple(self._callbacks):
                self._take(self._scheduler.abort(name))
            self._changed.notify_all()
        if threading.current_thread() is not self._thread:
            self._thread.join()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def _take(self, said: Sequence[Said]) -> None:
        """Note what is to be told. The lock is held."""
        self._out += [(self._callbacks[one.name], one) for one in said]
        for name in {one.name for one in said if one.end}:
            if not self._scheduler.under_way(name):
                del self._callbacks[name]

    def _run(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._out or self._scheduler.busy or self._closing)
                out, self._out = self._out, []
                iteration = self._scheduler.schedule() if self._scheduler.busy else None
            for callback, one in out:
                self._tell(callback, one)
            if iteration is None:
                if self._closing and not self._out:
                    return
                continue
            try:
                said = self._model(iteration.rows)
            except Exception:  # noqa: BLE001 - the model's own; who was in the iteration is told
                said = None
            with self._changed:
                scheduler = self._scheduler
                self._take(scheduler.failed(iteration) if said is None else scheduler.finished(iteration, said))

    def _tell(self, callback: Callback, one: Said) -> None:
        try:
            callback(one)
        except Exception:  # noqa: BLE001 - the client's own: nobody hears the rest
            self.abort(one.name)
