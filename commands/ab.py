"""`batchproof ab`: two targets side by side, until it is decided whether the new one is slower."""

from __future__ import annotations

from dataclasses import replace

from batchproof.bench.ab.options import AbOptions, Wanted, margin_of
from batchproof.bench.ab.run import run
from batchproof.exit_status import ExitStatus, refuse
from batchproof.load.spread.ask import Wanted as Crewed
from batchproof.targets.protocol import Misuse

__all__ = ["AbOptions", "Crewed", "Wanted", "ab"]


def ab(margin: str, options: AbOptions) -> ExitStatus:
    """Compare; return the exit status. margin: as written on the command line; it takes the place of the options' own."""
    try:
        share = margin_of(margin)
    except Misuse as error:
        return refuse(error)
    return run(replace(options, margin=share))
