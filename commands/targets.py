"""The names of targets, for help."""

from __future__ import annotations

from batchproof.targets.names import BUILT_IN, FORMS


def words() -> str:
    """Return every name and form that `--target` takes."""
    return ", ".join((*BUILT_IN, *FORMS))
