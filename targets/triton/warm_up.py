"""The first calls to a witness model, before any rule makes one: they take tens of milliseconds for a Python model."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import Future, wait
from typing import Any

from batchproof.targets.deadlines import TooLate, more_time, timeout_s
from batchproof.targets.protocol import Kind, Refused, Request, Response, TargetError
from batchproof.targets.witness.probe import Payload

CALLS = 3
PATIENCE_S = 1.0  # then a sequence gets company


def warm_up_calls(config: dict[str, Any]) -> list[list[Request]]:
    """Return what a model is called with first: full batches, which leave at once, whatever the delay.

    No two requests are the same, or a response cache would answer the second one. A model of sequences gets sequences of a
    single request, as many at once as make full batches in every instance.
    """
    size = int(config.get("max_batch_size", 0)) or 1
    if (batching := config.get("sequence_batching")) is not None:
        instances = sum(int(group.get("count", 0)) or 1 for group in config.get("instance_group", [])) or 1
        oldest = batching.get("oldest", {})
        slots = int(oldest.get("max_candidate_sequences", 0)) or size
        full = max((one for one in oldest.get("preferred_batch_size", ()) if one <= slots), default=min(size, slots))
        return [[_sequence(id_) for id_ in range(1, instances * full * (slots // full) + 1)]]
    payload = Payload(rows=size, extra=int(any(spec["name"] == "EXTRA" for spec in config["input"])))
    return [[Request("warm-up", -number, payload)] for number in range(1, CALLS + 1)]


def warm_up(name: str, config: dict[str, Any], submit: Callable[[Request], Future[Response]], *, text_ids: bool) -> None:
    """Call the model, and wait until it has answered; TooLate or TargetError if it does not.

    text_ids: its correlation IDs are strings, which the server may refuse.

    A batch of sequences may leave before the last of them has come, and the rest waits for company then: for as long as the
    delay, which may be an hour. So another sequence is sent whenever nothing was answered for a second.
    """
    for requests in warm_up_calls(config):
        futures = [submit(request) for request in requests]
        deadline, seconds = time.monotonic() + timeout_s("WARM_UP_S"), timeout_s("WARM_UP_S")
        while wait(futures, min(PATIENCE_S, seconds)).not_done:
            if time.monotonic() > deadline:
                late = f"the witness '{name}' has not answered in {seconds:g} s"
                raise TooLate(f"{late}: {more_time('WARM_UP_S')}")
            if requests[0].payload.sequence:
                futures.append(submit(_sequence(len(futures) + 1)))
        for future in futures:
            _heard(name, future, text_ids=text_ids)


def _sequence(id_: int) -> Request:
    return Request("warm-up", -id_, Payload(sequence=id_, start=True, end=True))


def _heard(name: str, future: Future[Response], *, text_ids: bool) -> None:
    try:
        future.result()
    except Refused as refused:
        # Warm enough: the queue timeout is shorter than a slow first call, or IDs that are strings are refused, which a
        # rule tells.
        if refused.kind is not Kind.EXPIRED and not (text_ids and refused.kind is Kind.INVALID):
            raise TargetError(f"the witness '{name}' does not answer: {refused}") from None
