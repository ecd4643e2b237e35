"""`batchproof tune`: find a configuration, and write it as config.pbtxt."""

from __future__ import annotations

from batchproof.bench.engines.options import TextOptions
from batchproof.bench.engines.tuning.command import EngineTuneOptions
from batchproof.bench.tune.command import TuneOptions, run_tune
from batchproof.commands.under_load import look_for
from batchproof.exit_status import ExitStatus

__all__ = ["EngineTuneOptions", "TextOptions", "TuneOptions", "tune"]


def tune(options: TuneOptions) -> ExitStatus:
    """Search; return the exit status."""
    return run_tune(options, judges=look_for)
