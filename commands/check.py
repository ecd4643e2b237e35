"""`batchproof check`: judge a target by the rules, with pytest in this process."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from batchproof.exit_status import ExitStatus
from batchproof.fixtures.run import run_suite


@dataclass(frozen=True)
class CheckOptions:
    """The options of the command line. Empty or None: the plugin's default."""

    target: str
    profile: str = ""
    rules: str = ""
    claims: Path | None = None
    known: Path | None = None
    seed: int = 1729
    patience: str = "normal"
    combinations: str = "fast"
    report: Path | None = None
    verbose: bool = False

    def for_pytest(self) -> list[str]:
        """Return these options as those of the pytest plugin."""
        given = {name: value for name, value in vars(self).items() if value not in (None, "", False)}
        named = {"target" if name == "target" else f"bp-{name}": value for name, value in given.items()}
        return [f"--{name}" if value is True else f"--{name}={value}" for name, value in named.items()]


def check(options: CheckOptions) -> ExitStatus:
    """Judge; return the exit status."""
    return run_suite(options.for_pytest())
