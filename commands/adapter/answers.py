"""Answers: whether each one is a Response of the right shape, and belongs to its request."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from batchproof.commands.adapter.finding import Finding, ms, note, ok, wrong
from batchproof.targets import Response
from batchproof.targets.witness.probe import COLUMNS, INFO, VERSION

RETURN = "hand the request to a thread or an event loop of the adapter's own, and return its Future at once"
PAYLOAD = "send request.tensor() unchanged: int64, all columns"
NO_RESPONSE = "not a Response"
BUILD = "build the Response from what Witness.execute returned: echo, info"
SAME = [INFO.index(name) for name in ("version", "clock_id", "serial")]  # in all rows, even if they are split
WORKED = 0.8  # of the time that the model was asked to work: less means that the payload was lost


@dataclass(frozen=True)
class Ended:
    """How a request ended. answered: its Future was settled in time. error: what it raised. kind: of a Refused, or empty."""

    answered: bool
    error: str = ""
    kind: str = ""
    troubles: tuple[str, ...] = ()
    witnessed: bool = True


@dataclass(frozen=True)
class First:
    """The first request, which asks the model to work for a while.

    raised: by `submit`. took_ns: how long `submit` took; None if it has not returned. returned: the type of what it returned
    if that is not a Future. worked_ns: how long the witness says that it worked; None if it does not say.
    """

    asked_ns: int
    took_ns: int | None
    raised: str = ""
    returned: str = ""
    ended: Ended = Ended(answered=False)
    worked_ns: int | None = None


@dataclass(frozen=True)
class Burst:
    """Requests that were sent at once: how each of them ended, by name."""

    ended: tuple[tuple[str, Ended], ...]


def troubles(tensor: Any, response: object) -> tuple[str, ...]:
    """Return what is wrong with the answer to the request with this tensor."""
    if not isinstance(response, Response):
        return (f"the Future gives {_a(response)}, {NO_RESPONSE}",)
    found = [_echo(tensor, response.echo)]
    if response.info is not None:
        found.append(_info(int(tensor[0, 0]), len(tensor), response.info))
    return tuple(filter(None, found))


def _a(thing: object) -> str:
    return "None" if thing is None else f"a {type(thing).__name__}"


def _array(name: str, value: object, shape: tuple[int, int]) -> str:
    if not isinstance(value, np.ndarray):
        return f"Response.{name} is {_a(value)}, not a numpy array"
    if value.shape != shape:
        return f"Response.{name} has the shape {value.shape}, not {shape}"
    return "" if value.dtype == np.int64 else f"Response.{name} has the type {value.dtype}, not int64"


def _echo(tensor: Any, echo: Any) -> str:
    if found := _array("echo", echo, (len(tensor), len(COLUMNS))):
        return found
    if np.array_equal(echo, tensor):
        return ""
    if echo[0, 0] != tensor[0, 0]:
        return f"Response.echo belongs to another request: serial {echo[0, 0]}, not {tensor[0, 0]}"
    changed = [name for name, same in zip(COLUMNS, (echo == tensor).all(axis=0), strict=True) if not same]
    return f"Response.echo is not what was sent: {', '.join(changed)} differ"


def _info(serial: int, rows: int, info: Any) -> str:
    if found := _array("info", info, (rows, len(INFO))):
        return found
    if info[0, 0] != VERSION:
        return f"Response.info does not come from this witness: its version is {info[0, 0]}, not {VERSION}"
    if not (info[:, SAME] == info[0, SAME]).all():
        return "Response.info: its rows belong to different requests"
    stated = int(info[0, INFO.index("serial")])
    return "" if stated == serial else f"Response.info belongs to another request: serial {stated}, not {serial}"


def lost(first: First) -> bool:
    """Return whether nothing else can be tried: there is no Future, or no answer."""
    return (
        bool(first.raised or first.returned) or first.took_ns is None or not first.ended.answered or bool(first.ended.error)
    )


def unanswered(first: First | None, burst: Burst | None) -> str:
    """Return which of these requests were never answered, in words; empty if all were, or if `submit` did not take them."""
    if first is None or first.raised or first.returned or first.took_ns is None:
        return ""
    if not first.ended.answered:
        return "the first request was never answered"
    silent = sum(not ended.answered for _, ended in burst.ended) if burst else 0
    return f"{silent} of {len(burst.ended)} requests were never answered" if burst and silent else ""


def waited(first: First) -> bool:
    """Return whether `submit` took about as long as the model, so that it may have waited for the answer."""
    return first.took_ns is not None and first.took_ns >= WORKED * first.asked_ns


def judge_first(first: First) -> tuple[Finding, ...]:
    """Judge `submit` and the first answer."""
    return (*_submit(first), *_answer(first))


def _submit(first: First) -> tuple[Finding, ...]:
    took = first.took_ns
    if first.raised:
        says = f"`submit` raised {first.raised}"
        return (
            wrong(
                "submit", says, "submit", "return a Future in every case; an error is set on it as Refused(kind, message)"
            ),
        )
    if took is None:
        return (wrong("submit", "`submit` has not returned", "submit", RETURN),)
    if first.returned:
        return (wrong("submit", f"`submit` returned {first.returned}, not a Future", "submit", RETURN),)
    if waited(first):
        return (wrong("submit", f"`submit` returned after {ms(took)}: it waited for the answer", "submit", RETURN),)
    return (ok("submit", f"returns a Future after {ms(took)}"),)


def _answer(first: First) -> tuple[Finding, ...]:
    ended = first.ended
    if first.raised or first.returned or first.took_ns is None:
        return ()
    if not ended.answered:
        return (
            wrong("answer", "the first request was never answered", "submit", "settle the Future when the answer comes"),
        )
    if ended.error:
        mend = "see that the model is ready when deploy returns, and that it takes the payload" if ended.kind else REFUSED
        return (wrong("answer", f"the first request ended with {ended.error}", "submit", mend),)
    if ended.troubles:
        return tuple(wrong("answer", one, "submit" if NO_RESPONSE in one else "Response", BUILD) for one in ended.troubles)
    if not ended.witnessed:
        lack = "Response.info is None: no witness answers, so what happens in the model is only seen in the log"
        return (note("answer", lack, "Response", "deploy `Witness` as the model, and put its info into the Response"),)
    if first.worked_ns is not None and first.worked_ns < WORKED * first.asked_ns:
        says = f"the model was asked to work for {ms(first.asked_ns)}, and took {ms(first.worked_ns)}"
        return (wrong("answer", says, "submit", PAYLOAD),)
    return (ok("answer", "echo and info have the right shape and type"),)


REFUSED = "turn each error into Refused(kind, message); `relay` does so for any Future"


def judge_burst(burst: Burst) -> tuple[Finding, ...]:
    """Judge whether each request of a burst got its own answer."""
    silent = [name for name, ended in burst.ended if not ended.answered]
    failed = [(name, ended.error) for name, ended in burst.ended if ended.error]
    strange = [(name, trouble) for name, ended in burst.ended for trouble in ended.troubles]
    if silent:
        says = f"{len(silent)} of {len(burst.ended)} requests sent at once were never answered ({silent[0]})"
        return (wrong("own answer", says, "submit", "let every request have a Future of its own"),)
    if failed:
        return (
            wrong(
                "own answer",
                f"{failed[0][0]} of {len(burst.ended)} requests sent at once ended with {failed[0][1]}",
                "submit",
                REFUSED,
            ),
        )
    if strange:
        mend = "give each request its own part of the batch's answer, in the order of the batch"
        return (wrong("own answer", f"{strange[0][0]}: {strange[0][1]}", "Response", mend),)
    return (ok("own answer", f"{len(burst.ended)} requests at once: each gets its own"),)
