"""What one claim is: the values that it can have, the one that it has unless something is said, and its words for people."""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite

Value = bool | int | float | str
YES_OR_NO = (False, True)
OR_NOTHING = (False,)  # for a number that need not be claimed


@dataclass(frozen=True)
class Claim:
    """One claim.

    says: what a stack says with it. noun: what a stack lacks whose value is not the one that a rule needs ("without ...").
    noun_of_value: the same for a rule that needs certain values of it, where that is something else.
    values: those that can be claimed, of which the first is the default; False as a default means: it promises nothing.
    least: for a claim that is a number, the smallest one, which is the default unless `values` says otherwise. whole: the
    number is an integer.
    true: the value that `true` stands for. changes: what the value changes, apart from which rules apply.
    """

    name: str
    says: str
    noun: str
    values: tuple[bool | str, ...] = YES_OR_NO
    least: int | None = None
    whole: bool = True
    true: str = ""
    changes: str = ""
    noun_of_value: str = ""

    @property
    def default(self) -> Value:
        """The value of a stack that does not say anything about it."""
        return self.values[0] if self.least is None or self.values != YES_OR_NO else self.least

    @property
    def choices(self) -> str:
        """The values that can be claimed, for people to read."""
        if self.least is not None:
            other = "".join(f"{text(value)}, or " for value in self.values if self.values != YES_OR_NO)
            return f"{other}{'an integer' if self.whole else 'a number'} of {self.least} or more"
        return " or ".join(", ".join(map(text, self.values)).rsplit(", ", 1))

    def accepts(self, value: object) -> bool:
        """Return whether this can be claimed."""
        if self.least is None:
            return any(value is one or (isinstance(one, str) and value == one) for one in self.values) or (
                bool(self.true) and value is True
            )
        if isinstance(value, bool):
            return self.values != YES_OR_NO and value in self.values
        if not isinstance(value, int if self.whole else int | float):
            return False
        return isfinite(value) and value >= self.least


def text(value: object) -> str:
    """Return a value as a need or a TOML file has it, without quotation marks."""
    if isinstance(value, bool):
        return str(value).lower()
    return f"{value:g}" if isinstance(value, int | float) else str(value)
