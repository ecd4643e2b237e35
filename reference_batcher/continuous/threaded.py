"""The threaded shell: one thread forms iterations and runs the model; requests may be submitted from any thread.

Callbacks run on that thread, in order, and before the model runs again. So a token is delivered as soon as it is there,
nothing follows an end, and a slow callback holds up every request.
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

    model: called with the rows of an iteration. It writes their new tokens into its KV cache at the rows' blocks, and
    returns the next token of each row, or None where `row.last` is false. If it raises, the requests in that iteration end
    with `error`, and the others continue.
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

        callback: called with everything that comes out for the request. If it raises, the request is aborted.
        """
        with self._changed:
            refusal = "the engine is closed" if self._closing else self._scheduler.add(request)
            if refusal is None:
                self._callbacks[request.name] = callback
                self._changed.notify_all()
            return refusal

    def abort(self, name: str) -> None:
        """Abort a request; nothing happens if it is not under way."""
        with self._changed:
            self._take(self._scheduler.abort(name))
            self._changed.notify_all()

    def gauges(self) -> dict[str, int]:
        """Return the scheduler's gauges."""
        with self._changed:
            return self._scheduler.gauges()

    def close(self) -> None:
        """Abort what is under way, and end the thread."""
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
        """Queue output for the callbacks. The lock is held."""
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
            except Exception:  # noqa: BLE001 - the model's own; the requests in the iteration end with `error`
                said = None
            with self._changed:
                scheduler = self._scheduler
                self._take(scheduler.failed(iteration) if said is None else scheduler.finished(iteration, said))

    def _tell(self, callback: Callback, one: Said) -> None:
        try:
            callback(one)
        except Exception:  # noqa: BLE001 - the client's own: there is nobody to deliver the rest to
            self.abort(one.name)
