"""The messages, both ways: what is written, what is read, and what is wrong with it. The schemas say how they look."""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np

from batchproof.reference_batcher import BatcherConfig
from batchproof.targets.protocol import Kind, Refused, Request, Response
from batchproof.targets.witness.probe import VERSION, Ints, clock_id

PROTOCOL = 1
EXACT = 2**53 - 1  # the largest integer that every language's JSON keeps
BASIC = ("max_batch_size", "max_queue_delay_ns", "instances", "queue_timeout_ns")
FEATURES = (
    "timeout_action", "allow_timeout_override", "max_queue_size", "preferred_batch_size", "preserve_ordering",
    "priority_levels", "default_priority_level", "priority_queue_policy", "response_cache",
)  # fmt: skip
NOT_CARRIED = ("shapes", "ragged", "optional_inputs", "custom_batching")  # a second tensor, and a function
ASKED = ("rows", "work_ns", "row_work_ns", "fail", "priority", "timeout_ns")
DONE = ("release", "cancel", "stop")
TO, FROM = "to_adapter.json", "from_adapter.json"
ROWS, CHECKED = ("input", "echo"), 16  # rows of a message that are held against the schema
UNKNOWN_CLOCK = 0
SHOWN = 300  # characters of what is wrong with a message
UNREADABLE = (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError)  # for lack of a schema


def portable(number: int) -> int | str:
    """Return an integer as JSON carries it to any language."""
    return number if -EXACT <= number <= EXACT else str(number)


def configuration(config: BatcherConfig) -> dict[str, Any]:
    """Return a configuration as a message has it: what matters to every stack, and the features that are asked for."""
    plain = BatcherConfig()
    asked = [name for name in FEATURES if getattr(config, name) != getattr(plain, name)]
    values = {name: list(value) if isinstance(value := getattr(config, name), tuple) else value for name in (*BASIC, *asked)}
    if config.priority_queue_policy:
        own = config.priority_queue_policy
        values["priority_queue_policy"] = [{"level": level, **vars(policy)} for level, policy in own]
    return {**values, "sequence": config.facts()["sequence"]} if config.sequence else values


def not_carried(config: BatcherConfig) -> str:
    """Return a feature of a configuration that no message can ask for, or an empty string."""
    return next((name for name in config.features() if name in NOT_CARRIED), "")


def inference(request: Request) -> dict[str, Any]:
    """Return a request's part of its message."""
    ask = {name: getattr(request.payload, name) for name in ASKED}
    ask |= {"serial": portable(request.serial), "hold": portable(request.hold), "fail": bool(request.payload.fail)}
    if request.payload.short:
        ask["short"] = True
    if id_ := request.payload.sequence:
        own = {name: bool(getattr(request.payload, name)) for name in ("start", "end")}
        ask |= {"sequence": id_ if isinstance(id_, str) else portable(id_), **own}
    return {"ask": ask, "input": [[portable(value) for value in row] for row in request.tensor().tolist()]}


def response(answer: dict[str, Any], *, monotonic: bool) -> Response:
    """Return the Response that an answer to `infer` carries; raise Refused if it carries that."""
    if refused := answer.get("refused"):
        raise Refused(Kind(refused["kind"]), refused["message"], refused.get("status", ""))
    echo, info = tensor(answer["echo"]), answer["info"]
    clock = clock_id() if monotonic else UNKNOWN_CLOCK
    row = [VERSION, *(int(info[name]) for name in ("batch", "instance", "requests", "rows", "position"))]
    row += [int(info["enter_ns"]), int(info["exit_ns"]), clock, int(info["serial"])]
    return Response(echo, np.tile(np.array([row], dtype=np.int64), (len(echo), 1)))


def tensor(rows: list[list[int | str]]) -> Ints:
    """Return rows of integers, some of them as strings, as an array."""
    return np.array([[int(value) for value in row] for row in rows], dtype=np.int64)


def log_line(line: dict[str, Any]) -> dict[str, Any]:
    """Return a line of the log with all its integers as integers."""
    whole: dict[str, Any] = {name: int(line[name]) for name in ("batch", "enter_ns", "exit_ns") if name in line}
    if "serials" in line:
        whole["serials"] = [int(one) for one in line["serials"]]
    if "places" in line:
        whole["places"] = [[*map(int, place)] for place in line["places"]]
    return {**line, **whole}


def wrong(document: object, file: str, name: str) -> str:
    """Return what is wrong with a message, by its definition in a schema: the place and the fault; empty if it fits."""
    from jsonschema.exceptions import best_match

    try:
        error = best_match(_validator(file, name).iter_errors(_short(document)))
    except RecursionError:
        return "it is nested too deeply"
    if error is None:
        return ""
    where = ".".join(map(str, error.absolute_path))
    return f"{where}: {error.message}"[:SHOWN] if where else error.message[:SHOWN]


def _short(document: object) -> object:
    """Return a message with no more rows than a schema can be held against in a moment: two thousand take three seconds."""
    if not isinstance(document, dict):
        return document
    long = {name: rows for name in ROWS if isinstance(rows := document.get(name), list) and len(rows) > CHECKED}
    return {**document, **{name: [*rows[: CHECKED - 1], rows[-1]] for name, rows in long.items()}}


def unreadable(answer: object, do: str, error: BaseException) -> str:
    """Return what is wrong with an answer that could not be read, by the schema if that says it."""
    return f"the answer to '{do}' does not fit {FROM}: {wrong(answer, FROM, definition(do)) or described(error)}"


def described(error: BaseException) -> str:
    """Return an exception in words: a KeyError says only the name that is missing."""
    return f"{type(error).__name__}: {error}"[:SHOWN]


def definition(do: str) -> str:
    """Return the name of the definition that the answer to this message has to fit."""
    return "done" if do in DONE else "configure" if do == "deploy_defaults" else do


@cache
def _validator(file: str, name: str) -> Any:
    from jsonschema import Draft202012Validator

    schema = json.loads((files("batchproof.targets.stdio.schema") / file).read_text(encoding="utf-8"))
    return Draft202012Validator({"$ref": f"#/$defs/{name}", "$defs": schema["$defs"]})
