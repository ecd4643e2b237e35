"""SGLang's engines, each in a fork of this process, which imports SGLang once. See `host.py`."""

from __future__ import annotations

import multiprocessing
import os
from importlib import import_module, metadata
from pathlib import Path
from typing import Any

import sglang_stubs
from engine_host import CannotHave, Host, serve

HERE = Path(__file__).parent
MODELS = "sglang_models"  # the package whose modules SGLang searches for architectures
END_S = 5.0


def imported() -> Any:
    """Import SGLang with the stubs and the witness in place, and return the module that runs engines."""
    folder = HERE / MODELS
    folder.mkdir(exist_ok=True)
    (folder / "__init__.py").touch()
    (folder / "witness.py").write_text("from sglang_witness import EntryClass\n", encoding="ascii")
    os.environ.update(SGLANG_EXTERNAL_MODEL_PACKAGE=MODELS, SGLANG_USE_CPU_ENGINE="1")
    sglang_stubs.install()
    return import_module("sglang_engine")


class SglangHost(Host):
    """One engine at a time."""

    name, version = "sglang", metadata.version("sglang") + sglang_stubs.LOCAL

    def __init__(self) -> None:
        super().__init__()
        self.engines = imported()
        self.child: Any = None
        self.line_to: Any = None

    def start(self, config: dict[str, Any]) -> None:
        """Open an engine."""
        self.stop()
        context = multiprocessing.get_context("fork")
        self.line_to, theirs = context.Pipe()
        self.child = context.Process(target=_serve, args=(theirs, self.line_to, self.engines.Engine, config), daemon=True)
        self.child.start()
        theirs.close()
        self._take(self.line_to.recv())

    def submit(self, request: dict[str, Any]) -> None:
        """Hand over a request."""
        self._call("submit", request)

    def step(self) -> bool:
        """Run an iteration."""
        return bool(self._call("step"))

    def abort(self, name: str) -> None:
        """Abort a request."""
        self._call("abort", name)

    def gauges(self) -> dict[str, float]:
        """Return what the engine says."""
        return dict(self._call("gauges"))

    def device(self, base_ns: int, token_ns: int) -> None:
        """Make each iteration take a set time."""
        self._call("device", base_ns, token_ns)

    def stop(self) -> None:
        """End the engine with its process."""
        if self.child is not None:
            self.child.kill()
            self.child.join(END_S)
            self.child = None

    def _call(self, do: str, *fields: Any) -> Any:
        self.line_to.send((do, fields))
        return self._take(self.line_to.recv())

    def _take(self, answer: tuple[Any, ...]) -> Any:
        found, lack, error, outputs, lines = answer
        for name, tokens, end, text in outputs:
            self.put(name, tokens, end, 0, text)
        self.lines += lines
        if lack:
            raise CannotHave(lack)
        if error:
            kind, text = error
            raise type(kind, (Exception,), {})(text)
        return found


def _serve(line: Any, other_end: Any, opened: Any, config: dict[str, Any]) -> None:
    """Run an engine: answer each (verb, arguments) with (result, what it lacks, error, outputs, lines).

    error: the class and the text of an exception, or empty.
    """
    other_end.close()  # so that this pipe closes when the parent ends
    engine, do, fields = None, "", ()
    while True:
        found, lack, error = None, "", ()
        try:
            if engine is None:
                engine = opened(config, HERE)
            else:
                found = getattr(engine, do)(*fields)
        except CannotHave as why:
            lack = str(why)
        except Exception as why:  # the engine's own failure, which is what is judged
            error = (type(why).__name__, str(why))
        outputs, lines = engine.news() if engine is not None else ([], [])
        line.send((found, lack, error, outputs, lines))
        if engine is None:
            return
        try:
            do, fields = line.recv()
        except EOFError:
            return


if __name__ == "__main__":
    serve(SglangHost())
