"""Hand-written evidence about continuous batching: the iterations are drawn, and texts and ends follow from them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from batchproof.fixtures.evidence.generations import Asked, End, Generations, Iteration, Look, Piece, Row
from batchproof.reference_batcher.continuous import EngineConfig
from batchproof.targets.witness.language import continuation, prompt

MS = 1_000_000
CONFIG = EngineConfig(max_num_seqs=4, max_num_batched_tokens=16, block_size=4, num_blocks=32, max_model_len=32)


def asked(name: str, length: int = 4, most: int = 3, *, at: int = 0, serial: int = 0, **more: Any) -> Asked:
    """A request of `length` tokens for `most` more, sent after `at` iterations. Its serial comes from its name."""
    serial = serial or 1 + sum(ord(letter) * 131**place for place, letter in enumerate(name)) % 1_000_000
    given = {"prompt": prompt(serial, length), "id": name, **more}
    return Asked(name=name, serial=serial, max_tokens=most, sent_ns=at * MS, at=at, **given)


def ran(
    drawn: str, *requests: Asked, texts: Mapping[str, Any] | None = None, ends: Mapping[str, Any] | None = None,
    config: EngineConfig = CONFIG, looks: Mapping[str, tuple[int, Mapping[str, float]]] | None = None, **more: Any,
) -> Generations:
    """Evidence of these iterations: `r0:0+4 r1:0+4 | r0:4+1` is two, in which r0 computes 4 tokens from 0, and 1 from 4.

    `r0:0+4!2` has two entries out of place; `r0:0+4@1,2` is in blocks 1 and 2. An iteration that computes the last known
    token of a request makes the next one, which comes out at once; the text ends with the limit. texts: what came out
    instead, by name. ends: the ends instead, by name, each a reason or (reason, at). looks: gauges by name, each after so
    many iterations.
    """
    by_name = {one.name: one for one in requests}
    iterations, made = [], dict.fromkeys(by_name, 0)
    pieces: dict[str, list[Piece]] = {name: [] for name in by_name}
    ended: dict[str, list[End]] = {name: [] for name in by_name}
    for place, column in enumerate(drawn.split("|") if drawn.strip() else []):
        rows = []
        for cell in column.split():
            name, row = _row(cell, by_name)
            rows.append(row)
            one = by_name.get(name)
            if one is None or row.stop < len(one.prompt) + made[name] or ended[name]:
                continue
            token = continuation(one.prompt, made[name] + 1)[-1]
            made[name] += 1
            pieces[name].append(Piece(place + 1, (place + 1) * MS, (token,)))
            if made[name] == one.max_tokens or token in one.stop:
                reason = "stop" if token in one.stop else "length"
                ended[name].append(End(reason, place + 1, (place + 1) * MS))
        iterations.append(Iteration(place, place * MS, place * MS + MS // 2, tuple(rows)))
    for name, text in (texts or {}).items():
        at = pieces[name][-1].at if pieces[name] else len(iterations)
        pieces[name] = [Piece(at, at * MS, tuple(text))]
    for name, given in (ends or {}).items():
        ended[name] = [_end(one, len(iterations)) for one in given]
    found = tuple(replace(one, pieces=tuple(pieces[one.name]), ends=tuple(ended[one.name])) for one in requests)
    seen = tuple(Look(name, at, at * MS, gauges) for name, (at, gauges) in (looks or {}).items())
    return Generations(config.facts(), found, tuple(iterations), seen, **more)


def came_out(found: Generations, name: str, *parts: tuple[int, int]) -> Generations:
    """The same evidence, with a right text that came out in these parts: after so many iterations, so many tokens."""
    pieces, text = [], right(found[name], sum(count for _, count in parts))
    for at, count in parts:
        pieces.append(Piece(at, at * MS, text[:count]))
        text = text[count:]
    whole = (End("length", parts[-1][0], parts[-1][0] * MS),)
    asked_ = (replace(one, pieces=tuple(pieces), ends=whole) if one.name == name else one for one in found.requests)
    return replace(found, requests=tuple(asked_))


def right(one: Asked, count: int = 0) -> tuple[int, ...]:
    """The text of a request, or its first tokens."""
    return continuation(one.prompt, count or one.max_tokens)


def _row(cell: str, by_name: Mapping[str, Asked]) -> tuple[str, Row]:
    name, _, rest = cell.partition(":")
    rest, _, blocks = rest.partition("@")
    rest, _, torn = rest.partition("!")
    start, _, count = rest.partition("+")
    serial = by_name[name].serial if name in by_name else int(name.lstrip("?") or 0)
    numbers = tuple(int(one) for one in blocks.split(",")) if blocks else ()
    return name, Row(serial, int(start), int(count), int(torn or 0), numbers)


def _end(given: str | tuple[str, int], iterations: int) -> End:
    reason, at = (given, iterations) if isinstance(given, str) else given
    return End(reason, at, at * MS)
