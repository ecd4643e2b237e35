"""The log of a batching strategy's hooks: one line for each call, in the order of the calls.

The reference batcher writes it through `Logged`, and the strategy library for Triton (`triton/strategy.c`) by itself. A line
has `hook` (one of the five, `gave_up` or `reported`) and, where they apply, `record` (its number in this deployment),
`serial` (of the request), `joins` (the answer of `include`) and `error` (what the hook raised, or the server reported).

`gave_up` stands for something that no strategy should have to do: our library lets a request in that the server has offered
to an empty batch again and again, because the server would ask for ever.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

from batchproof.reference_batcher import BatchStrategy
from batchproof.reference_batcher.config import BatcherConfig
from batchproof.reference_batcher.strategies import strategy_of
from batchproof.targets.protocol import UnknownTarget
from batchproof.targets.witness.probe import VOLUME

Write = Callable[[dict[str, Any]], object]


def logged_strategy(
    config: BatcherConfig | None, write: Write, own: Callable[[], BatchStrategy] | None = None
) -> BatchStrategy | None:
    """Return the strategy that a configuration names, if any, with a log; it measures the witness's requests.

    own: makes a user's strategy, which takes its place.
    """
    strategy = own() if own else strategy_of(config.strategy, volume_of) if config else None
    return Logged(strategy, write) if strategy else None


def maker_of(path: str) -> Callable[[], BatchStrategy]:
    """Return the class or function `module:attribute` that makes a strategy; UnknownTarget if there is none."""
    module, _, name = path.partition(":")
    see_this_folder()
    try:
        found = getattr(import_module(module), name)
    except (ImportError, AttributeError, ValueError) as error:
        raise UnknownTarget(f"the option strategy={path} has to be module:attribute, a class: {error}") from None
    if not callable(found):
        raise UnknownTarget(f"the option strategy={path} has to be a class or a function that makes a strategy")
    maker: Callable[[], BatchStrategy] = found
    return maker


def see_this_folder() -> None:
    """Let a module be imported from the current folder, as `python -m batchproof` does. What is installed comes first."""
    here = str(Path.cwd())
    if not {"", here} & set(sys.path):
        sys.path.append(here)


def volume_of(inputs: Any) -> int:
    """Return the volume of a witness's request."""
    return int(inputs["IN"][0, VOLUME])


class Logged:
    """A strategy that writes a line for each call of one of its hooks."""

    def __init__(self, strategy: BatchStrategy, write: Write) -> None:
        self._strategy, self._write = strategy, write
        self._records = 0

    def batcher_initialize(self, config: BatcherConfig) -> None:
        """Pass on, and log."""
        self._logged(lambda: self._strategy.batcher_initialize(config), "batcher_initialize")

    def batch_initialize(self) -> tuple[int, Any]:
        """Pass on, and log; return the record with its number."""
        self._records += 1
        number = self._records
        return number, self._logged(self._strategy.batch_initialize, "batch_initialize", record=number)

    def include(self, request: Any, record: tuple[int, Any]) -> bool:
        """Pass on, and log with the answer, or with what was raised."""
        line = {"hook": "include", "record": record[0], "serial": int(request.inputs["IN"][0, 0])}
        try:
            joins = self._strategy.include(request, record[1])
        except Exception as error:
            self._write({**line, "error": str(error)})
            raise
        self._write({**line, "joins": joins})
        return joins

    def batch_finalize(self, record: tuple[int, Any]) -> None:
        """Pass on, and log."""
        self._logged(lambda: self._strategy.batch_finalize(record[1]), "batch_finalize", record=record[0])

    def batcher_finalize(self) -> None:
        """Pass on, and log."""
        self._logged(self._strategy.batcher_finalize, "batcher_finalize")

    def _logged(self, call: Callable[[], Any], hook: str, **of: int) -> Any:
        """Return what a hook returns; its line says what it has raised, if it has."""
        line: dict[str, Any] = {"hook": hook, **of}
        try:
            return call()
        except Exception as error:
            line["error"] = str(error)
            raise
        finally:
            self._write(line)
