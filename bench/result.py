"""What a measurement of a bench gives back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol


class Found(Protocol):
    """The figures of a measurement, in a frozen type of its own."""

    def facts(self) -> dict[str, Any]:
        """Return them as JSON data, with their units in their names."""


@dataclass(frozen=True)
class Result:
    """What a measurement gives; `bench.jsonl` has one line for each.

    valid: the figures are a result; if they are not, reasons say why. headline: the one line that a person reads first.
    verdict: PASS, FAIL or INCONCLUSIVE where the measurement has a gate; "" where it only measures. partly: it is not valid
    as a whole, but the part that the headline is about is. found: the figures in full; None if there are none.
    """

    valid: bool
    headline: str
    reasons: tuple[str, ...] = ()
    verdict: str = ""
    partly: bool = False
    found: Found | None = None

    @classmethod
    def nothing(cls, why: str) -> Result:
        """Return the result of a measurement that was not made."""
        return cls(valid=False, headline=why, reasons=(why,))

    def facts(self) -> dict[str, Any]:
        """Return JSON data: these fields, and the figures."""
        fields = {"valid": self.valid, "partly": self.partly, "reasons": list(self.reasons), "verdict": self.verdict}
        return {**fields, "headline": self.headline, **(self.found.facts() if self.found else {})}
