"""Seeded mutants of a `config.pbtxt`: one or two spans of its text are cut and something else is put there.

The operators are what people and programs get wrong: values at edges, wrong types, unknown and repeated fields, braces,
comments and bytes, fields at the wrong place, steps of an ensemble that do not fit together.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from batchproof.commands.configurations.fragments import ENUMS, FIELDS, INTEGERS, NESTED, STRINGS, WHITESPACE

_INTEGER = re.compile(r"(?<=[\s:\[,])-?\d+(?=[\s,\]}])")
_STRING = re.compile(r"\"[^\"\n]*\"")
_ENUM = re.compile(r"\b(?:TYPE|KIND|FORMAT|CONTROL|BATCH)_[A-Z0-9_]+|\b(?:REJECT|DELAY|true|false)\b")
_FIELD = re.compile(r"\b[a-z][a-z_]+(?=\s*[:{])")
_LINE = re.compile(r"[^\n]*\n")
_TOKEN = re.compile(r"[{}]|[a-z_]+(?=\s*:?\s*\[?\s*\{)")
_BRACE = re.compile(r"[][{}]")
_STEP = re.compile(
    r"(?<=key:)\s*\"[^\"]*\"|(?<=value:)\s*\"[^\"]*\"|(?<=model_name:)\s*\"[^\"]*\"|(?<=model_version:)\s*-?\d+"
)


KNOWN_FIELD = 0.85  # the others are where they do not belong


@dataclass(frozen=True)
class Span:
    """`cut` characters from `at` on are replaced by `put`."""

    at: int
    cut: int
    put: str


def mutants(text: str, count: int, seed: int) -> Iterator[tuple[Span, ...]]:
    """Yield this many mutants of a text; the same seed gives the same."""
    source = random.Random(seed)
    operators = list(_OPERATORS)
    for _ in range(count):
        spans = [source.choice(operators)(text, source) for _ in range(source.choice((1, 1, 1, 2)))]
        spans.sort(key=lambda span: span.at)
        yield tuple(span for i, span in enumerate(spans) if not i or span.at >= spans[i - 1].at + spans[i - 1].cut)


def applied(text: str, spans: Sequence[Span]) -> str:
    """Return the text with these spans replaced; they are in order and do not overlap."""
    done, at = [], 0
    for span in spans:
        done += [text[at : span.at], span.put]
        at = span.at + span.cut
    return "".join([*done, text[at:]])


def as_bytes(text: str) -> bytes:
    r"""Return the file of a mutant: a lone surrogate such as '\udcff' stands for the byte 0xFF."""
    return text.encode("utf-8", "surrogateescape")


def _pick(pattern: re.Pattern[str], text: str, source: random.Random) -> re.Match[str] | None:
    found = list(pattern.finditer(text))
    return source.choice(found) if found else None


def _replaced(pattern: re.Pattern[str], values: Sequence[str]) -> Callable[[str, random.Random], Span]:
    def operator(text: str, source: random.Random) -> Span:
        one = _pick(pattern, text, source)
        value = source.choice(values)
        return Span(one.start(), len(one[0]), value) if one else _insert(text, source)

    return operator


def _insert(text: str, source: random.Random) -> Span:
    return Span(len(text), 0, f"{source.choice(FIELDS)}\n")


def _nest(text: str, source: random.Random) -> Span:
    """Put a field into a random message: mostly one that the message knows."""
    opened = _messages(text)
    if not opened:
        return _insert(text, source)
    at, fields = source.choice(opened)
    known = [one for one in NESTED if one.split(":")[0].split(" ")[0] in fields]
    return Span(at, 0, f" {source.choice(known if known and source.random() < KNOWN_FIELD else NESTED)} ")


def _messages(text: str) -> list[tuple[int, set[str]]]:
    """Return where each message of the text begins, and the fields that it knows, as far as its path can be told."""
    from tritonclient.grpc.model_config_pb2 import ModelConfig

    found: list[tuple[int, set[str]]] = []
    stack: list[Any] = [ModelConfig.DESCRIPTOR]
    word = ""
    for token in _TOKEN.finditer(text):
        if token[0] == "{":
            field = stack[-1].fields_by_name.get(word) if stack[-1] is not None else None
            stack.append(field.message_type if field is not None else None)
            found.append((token.end(), set(stack[-1].fields_by_name) if stack[-1] is not None else set()))
        elif token[0] == "}":
            stack = stack[:-1] or [None]
        else:
            word = token[0]
    return found


def _drop(text: str, source: random.Random) -> Span:
    line = _pick(_LINE, text, source)
    return Span(line.start(), len(line[0]), "") if line else _insert(text, source)


def _repeat(text: str, source: random.Random) -> Span:
    line = _pick(_LINE, text, source)
    return Span(line.start(), 0, line[0]) if line else _insert(text, source)


def _brace(text: str, source: random.Random) -> Span:
    one = _pick(_BRACE, text, source)
    return Span(one.start(), 1, source.choice(("", one[0] * 2, "<", ">", "(", "[", "}"))) if one else _insert(text, source)


def _space(text: str, source: random.Random) -> Span:
    line = _pick(_LINE, text, source)
    return Span(line.end() - 1 if line else len(text), 0, source.choice(WHITESPACE))


def _rename(text: str, source: random.Random) -> Span:
    """Misspell a field, or put another field's name there."""
    one = _pick(_FIELD, text, source)
    if one is None:
        return _insert(text, source)
    other = _pick(_FIELD, text, source)
    changed = (one[0][:-1], one[0] + "s", one[0].upper(), one[0].replace("_", "-"), other[0] if other else "nothing")
    return Span(one.start(), len(one[0]), source.choice(changed))


def _rewire(text: str, source: random.Random) -> Span:
    """Give a step of an ensemble another tensor, model or version."""
    one = _pick(_STEP, text, source)
    if one is None:
        return _insert(text, source)
    if one[0].strip()[-1] != '"':
        return Span(one.start(), len(one[0]), source.choice((" -1", " -2", " 0", " 1", " 7")))
    other = _pick(_STRING, text, source)
    return Span(one.start(), len(one[0]), " " + source.choice((other[0] if other else '""', '""', '"absent"')))


_OPERATORS = (
    *[_replaced(_INTEGER, INTEGERS)] * 3,
    *[_replaced(_STRING, STRINGS)] * 2,
    *[_replaced(_ENUM, ENUMS)] * 2,
    *[_insert] * 5,
    *[_nest] * 4,
    *[_rewire] * 3,
    _drop,
    _drop,
    _repeat,
    _brace,
    _space,
    _rename,
)
