"""`batchproof image build`: make a Triton image, with a live line."""

from __future__ import annotations

from rich.console import Console

from batchproof.exit_status import ExitStatus, refuse
from batchproof.host.announce import heard_by
from batchproof.host.live_line import LiveLine
from batchproof.targets.protocol import TargetError
from batchproof.targets.triton.image import build


def print_build(tag: str, base: str) -> ExitStatus:
    """Build the image, and print its name, size and base. A missing engine or mirror is UNAVAILABLE."""
    line = LiveLine(Console(stderr=True, highlight=False, soft_wrap=True))
    try:
        with heard_by(line.say):
            built = build(tag, base)
    except TargetError as error:
        line.stop()
        return refuse(error, ExitStatus.UNAVAILABLE)
    finally:
        line.stop()
    print(f"{built.tag}: {built.size / 1e6:.0f} MB, base {built.base}, made in {built.seconds:.0f} s")
    print(f"then: batchproof check --target triton-docker --image {built.tag}")
    return ExitStatus.FINE
