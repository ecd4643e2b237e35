"""`batchproof bench`: measure a target, with a live view."""

from __future__ import annotations

from batchproof.bench.engines.options import TextOptions
from batchproof.bench.options import Options
from batchproof.bench.run import run
from batchproof.commands.under_load import look_for
from batchproof.exit_status import ExitStatus
from batchproof.load.spread.ask import Wanted

__all__ = ["Options", "TextOptions", "Wanted", "bench"]


def bench(options: Options) -> ExitStatus:
    """Measure; return the exit status."""
    return run(options, judges=look_for)
