"""`batchproof check`: judge a target by the rules, with pytest in this process."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from batchproof.exit_status import ExitStatus
from batchproof.fixtures.run import run_suite
from batchproof.host.streams import STDERR, STDOUT
from batchproof.reports import Report
from batchproof.reports.alerts import to_github, to_sarif


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
    form: str = "text"

    def for_pytest(self) -> list[str]:
        """Return these options as those of the pytest plugin."""
        given = {name: value for name, value in vars(self).items() if name != "form" and value not in (None, "", False)}
        named = {"target" if name == "target" else f"bp-{name}": value for name, value in given.items()}
        return [f"--{name}" if value is True else f"--{name}={value}" for name, value in named.items()]


def check(options: CheckOptions) -> ExitStatus:
    """Judge; return the exit status.

    As `github`, workflow commands follow what people read. As `sarif`, standard output has the log and nothing else, and
    people read on standard error.
    """
    if options.form == "text":
        return run_suite(options.for_pytest())
    sarif = options.form == "sarif"
    return run_suite(options.for_pytest(), stream=STDERR if sarif else STDOUT, tell=_log if sarif else _annotate)


def _annotate(report: Report, folder: Path) -> None:
    for one in to_github(report, folder):
        print(one)


def _log(report: Report, _folder: Path) -> None:
    print(to_sarif(report))
