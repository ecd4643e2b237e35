"""Drives an engine through its adapter, and records what each verb returns. It judges nothing."""

from __future__ import annotations

import itertools
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from batchproof.commands.adapter.caller import Caller
from batchproof.commands.adapter.probe import Broken
from batchproof.targets.deadlines import timeout_s
from batchproof.targets.engines import Generation

IDLE = 3  # steps in a row that bring nothing, after which an engine that is stepped has nothing more to say
STEPS = 400
FREE_S = 10.0  # for an engine that iterates by itself
VERBS = ("submit", "step", "abort", "log", "gauges", "close")


@dataclass(frozen=True)
class Step:
    """What one `step` returned, and what `log` had behind it. returned: as it is, whatever it is."""

    returned: Any
    lines: Any

    @property
    def outputs(self) -> list[Any]:
        """Return the outputs, if there are any that one can read."""
        return list(self.returned[0]) if self.readable else []

    @property
    def readable(self) -> bool:
        """Whether it is a pair of a list and a truth value."""
        pair = isinstance(self.returned, tuple) and len(self.returned) == 2
        return pair and isinstance(self.returned[0], list) and isinstance(self.returned[1], bool | int)

    @property
    def busy(self) -> bool:
        """Whether work is left, as the adapter says."""
        return bool(self.returned[1]) if self.readable else False


@dataclass
class Trial:
    """One engine, what was sent to it, and what came out. raised: by verbs, with the name of the verb."""

    requests: Sequence[Generation] = ()
    steps: list[Step] = field(default_factory=list)
    gauges: list[Any] = field(default_factory=list)
    raised: list[Broken] = field(default_factory=list)
    aborted: str = ""
    aborted_ns: int = 0

    @property
    def outputs(self) -> list[Any]:
        """Return all outputs, in their order."""
        return [one for step in self.steps for one in step.outputs]

    @property
    def lines(self) -> list[Any]:
        """Return all lines of the log."""
        return [line for step in self.steps if isinstance(step.lines, list) for line in step.lines]

    def ended(self) -> bool:
        """Whether each request has an end."""
        ends = {getattr(one, "name", None) for one in self.outputs if getattr(one, "end", "")}
        return {one.name for one in self.requests} <= ends


class Driver:
    """Calls the verbs of one engine, each with a limit. Broken if one raises where it must not; Hung if it hangs."""

    def __init__(self, engine: Any, *, stepped: bool) -> None:
        self.engine, self.stepped = engine, stepped
        self._caller = Caller()

    def call(self, verb: str, *arguments: Any) -> Any:
        """Call a verb."""

        def do() -> Any:
            try:
                return getattr(self.engine, verb)(*arguments)
            except Exception as error:
                raise Broken(verb, error) from error

        return self._caller.call(verb, do, timeout_s("CALL_S"))

    def drive(self, *requests: Generation, abort: str = "", after: int = 1, ask: bool = False) -> Trial:
        """Send requests, and step until each has ended, or nothing happens any more.

        abort: aborted after so many steps, then once more, and a name that nobody sent. ask: for gauges after each step.
        """
        trial = Trial(requests, aborted=abort)
        for request in requests:
            self._bravely(trial, "submit", request)
        until_s, idle = time.monotonic() + FREE_S, 0
        for number in itertools.count(1):
            step = Step(self.call("step"), self.call("log"))
            trial.steps.append(step)
            if ask:
                trial.gauges.append(self.call("gauges"))
            if abort and number == after:
                trial.aborted_ns = time.monotonic_ns()
                for name in (abort, abort, "nobody"):
                    self._bravely(trial, "abort", name)
            idle = 0 if step.outputs or step.lines else idle + 1
            over = idle >= IDLE if self.stepped else time.monotonic() > until_s
            if not step.readable or (trial.ended() and number > after and not step.busy) or over or number >= STEPS:
                return trial
        raise AssertionError

    def close(self) -> None:
        """Close the engine, and end the thread that calls it."""
        try:
            self.call("close")
        finally:
            self._caller.close()

    def _bravely(self, trial: Trial, verb: str, *arguments: Any) -> None:
        try:
            self.call(verb, *arguments)
        except Broken as broken:
            trial.raised.append(broken)
