"""Serves an engine to Batchproof from another interpreter: one JSON document per line, on standard input and output.

This file is copied into other interpreters: it needs only the standard library. An engine's program subclasses `Host` and
calls `serve`.

Each message has `do` and gets one answer, which also carries what is new: `outputs` ([name, sample, tokens, end, text]) and
`lines` (the witness's). An exception is answered as `error`; `unsupported` names what the engine cannot be configured with.

    start    config: EngineConfig.facts()   opens an engine and drops the previous one
    submit   request: a Generation's fields
    step                                    runs an iteration; the answer has `busy`
    abort    name
    gauges                                  the answer has `gauges`
    device   base_ns, token_ns              sets the time that an iteration takes from now on
    stop                                    ends the engine
    close                                   ends this program
"""

from __future__ import annotations

import json
import os
import sys
import traceback
from typing import Any


class CannotHave(Exception):
    """The engine cannot be configured like this. The text names what it lacks, worded to follow "without"."""


class Host:
    """One engine at a time.

    A subclass has `start(config)`, `submit(request)`, `step() -> bool` (whether work is left), `abort(name)`,
    `gauges() -> dict` and `stop()`. It calls `put` for what comes out, and `line` for each iteration of the witness.
    """

    name = version = ""
    pace: Any = None  # `batchproof_witness.device.DEVICE`, in a subclass whose witness paces itself

    def __init__(self) -> None:
        self.outputs: list[list[Any]] = []
        self.lines: list[dict[str, Any]] = []

    def put(self, name: str, tokens: Any = (), end: str = "", sample: int = 0, text: str = "") -> None:
        """Report output for a sample of a request."""
        self.outputs.append([name, sample, [int(token) for token in tokens], end, text])

    def line(self, number: int, enter_ns: int, exit_ns: int, rows: list[list[Any]]) -> None:
        """Report an iteration."""
        self.lines.append({"number": number, "enter_ns": enter_ns, "exit_ns": exit_ns, "rows": rows})

    def device(self, base_ns: int, token_ns: int) -> None:
        """Make each iteration take a set time, if the witness can pace itself; otherwise refuse."""
        if self.pace is None:
            raise CannotHave("a device of set speed")
        self.pace.set(base_ns, token_ns)

    def new(self) -> dict[str, Any]:
        """Return what is new, and forget it."""
        found = {"outputs": self.outputs, "lines": self.lines}
        self.outputs, self.lines = [], []
        return found


def serve(host: Any) -> None:
    """Answer messages until `close` or the end of the input. Anything else that prints goes to standard error."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    sys.stdout = sys.stderr

    def answer(**fields: Any) -> None:
        answers.write(json.dumps(fields) + "\n")
        answers.flush()

    answer(name=host.name, version=host.version)
    for text in sys.stdin:
        message = json.loads(text)
        do = message.pop("do")
        if do == "close":
            break
        try:
            found = _did(host, do, message)
        except CannotHave as lack:
            found = {"unsupported": str(lack)}
        except Exception as error:  # the engine's own failure, which is what is judged
            found = {"error": f"{type(error).__name__}: {error}", "trace": traceback.format_exc()[-2000:]}
        answer(**found, **host.new())
    sys.stderr.flush()
    os._exit(os.EX_OK)  # an engine may have threads that never end


def _did(host: Any, do: str, fields: dict[str, Any]) -> dict[str, Any]:
    if do == "step":
        return {"busy": bool(host.step())}
    if do == "gauges":
        return {"gauges": host.gauges()}
    verbs = {"start": "start", "submit": "submit", "abort": "abort", "device": "device", "stop": "stop"}
    getattr(host, verbs[do])(*fields.values())
    return {}
