"""Mutants of a configuration: seeded, many kinds, and spans that can be applied again."""

from __future__ import annotations

from importlib.resources import files

import pytest

from batchproof.commands.configurations.mutation import Span, applied, as_bytes, mutants

FOLDER = files("batchproof.suites.selftest.commands.configurations")
FULL = (FOLDER / "full.pbtxt").read_text(encoding="utf-8")


def test_a_seed_gives_the_same_mutants() -> None:
    """Another seed gives others."""
    assert list(mutants(FULL, 50, 1)) == list(mutants(FULL, 50, 1)) != list(mutants(FULL, 50, 2))


def test_most_mutants_differ() -> None:
    """Of 300 at least 200 are texts of their own, and few are the text itself."""
    texts = [applied(FULL, spans) for spans in mutants(FULL, 300, 3)]

    assert len(set(texts)) >= 200
    assert texts.count(FULL) < 30


def test_spans_are_applied_from_left_to_right() -> None:
    """Each cuts from the text as it was."""
    assert applied("abcdef", (Span(1, 2, "X"), Span(5, 0, "YY"))) == "aXdeYYf"


def test_a_lone_surrogate_is_a_byte() -> None:
    """So that a mutant can hold what is not UTF-8."""
    assert as_bytes("ü\udcff") == b"\xc3\xbc\xff"


@pytest.mark.parametrize("text", ["", "}", "}}{", "name", '"'])
def test_any_text_has_mutants(text: str) -> None:
    """An empty one and one that is not a configuration, too."""
    assert len(list(mutants(text, 40, 5))) == 40
