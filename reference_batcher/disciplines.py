"""Which core a configuration asks for. A new scheduling discipline is a module with its core, and a line here."""

from __future__ import annotations

from .config import BatcherConfig
from .core import DynamicBatcher
from .direct import DirectBatcher
from .oldest import OldestBatcher
from .protocol import Core
from .sequence_config import OLDEST


def core_of(config: BatcherConfig) -> Core:
    """Return a new core for the configuration."""
    if config.sequence is None:
        return DynamicBatcher(config)
    return (OldestBatcher if config.sequence.strategy == OLDEST else DirectBatcher)(config, config.sequence)
