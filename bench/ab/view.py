"""What a person sees while two sides are compared: one line that moves, and one for each answer."""

from __future__ import annotations

import time

from rich.console import Console
from rich.status import Status
from rich.text import Text

from batchproof.bench.ab.duel import Duel
from batchproof.bench.ab.question import Pair
from batchproof.reports.wording import line

STYLES = {"SLOWER": "bold red", "INVALID": "bold yellow", "UNPROVEN": "yellow", "FASTER": "green", "SAME": "green"}
EVERY_S = 10.0  # without a terminal, a line so often
FRESH_S = 0.5  # processor time for the view is lost to the measurement


class ABView:
    """A status line on a terminal; elsewhere a plain line now and then."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._status: Status | None = None
        self._shown_s = float("-inf")

    def say(self, text: str) -> None:
        """Show what is being done now."""
        if not self._console.is_terminal:
            return
        if self._status is None:
            self._status = self._console.status(Text(line(text)), refresh_per_second=4)
            self._status.start()
        else:
            self._status.update(Text(line(text)))

    def pair(self, duel: Duel, pair: Pair) -> None:
        """Show how far it has come."""
        now_s = time.monotonic()
        if now_s - self._shown_s < (FRESH_S if self._console.is_terminal else EVERY_S):
            return
        self._shown_s = now_s
        counted = [one for one in duel.pairs if one.load == pair.load and not one.dropped]
        text = f"{pair.at_s:.0f} s: {len(counted)} {pair.load} pairs count, {len(duel.pairs) - len(counted)} others"
        if self._console.is_terminal:
            self.say(text)
        else:
            self._console.print(Text(f"  {text}"))

    def answer(self, word: str, text: str) -> None:
        """Print an answer."""
        self._console.print(Text(f"{word:<9}", STYLES.get(word, "")).append(f" {line(text)}", "default"))

    def print(self, text: str) -> None:
        """Print a line that stays."""
        self._console.print(Text(text))

    def stop(self) -> None:
        """Take the moving line away. Safe to call twice."""
        if self._status is not None:
            self._status.stop()
            self._status = None
