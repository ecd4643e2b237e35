"""Finds the language model that an engine runs, by the claim `text`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from batchproof.targets.witness import graph_language, language


class Language(Protocol):
    """A model whose text the client can compute; see `language`."""

    VOCABULARY: int

    def prompt(self, serial: int, length: int, shared: int = 0, family: int = 0) -> tuple[int, ...]:
        """Return a prompt of `length` tokens that names its request."""

    def continuation(self, prompt: Sequence[int], count: int) -> tuple[int, ...]:
        """Return the next tokens after a prompt."""

    def serial_of(self, context: Sequence[int]) -> int:
        """Return the serial that a context names, 0 if it names none."""


class TextUnknown(Exception):
    """The text of the language model cannot be computed."""


class Unknown:
    """An unknown language model: any prompt will do, and its text cannot be computed.

    Every model has the tokens of a prompt: an ID beyond a model's vocabulary ends some servers.
    """

    VOCABULARY = 256

    def prompt(self, serial: int, length: int, shared: int = 0, family: int = 0) -> tuple[int, ...]:
        """Return a prompt of so many tokens, those of the witness brought into the vocabulary."""
        room = self.VOCABULARY - language.FIRST
        return tuple(language.FIRST + token % room for token in language.prompt(serial, length, shared, family))

    def continuation(self, prompt: Sequence[int], count: int) -> tuple[int, ...]:
        """Raise TextUnknown."""
        del prompt, count
        raise TextUnknown("the language model is not known, so its text cannot be computed")

    def serial_of(self, context: Sequence[int]) -> int:
        """Return 0: there is no room for a name."""
        del context
        return 0


LANGUAGES: dict[str, Language] = {"witness": language, "graph": graph_language, "unknown": Unknown()}


def language_named(name: str) -> Language:
    """Return the language model of this name; ValueError if there is none."""
    if name not in LANGUAGES:
        raise ValueError(f"unknown language model '{name}': choose from {', '.join(LANGUAGES)}")
    return LANGUAGES[name]
