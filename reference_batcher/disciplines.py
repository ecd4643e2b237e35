"""Which core a configuration asks for. A new scheduling discipline is a module with its core, and a line here."""

from __future__ import annotations

from .config import BatcherConfig
from .core import DynamicBatcher
from .direct import DirectBatcher
from .oldest import OldestBatcher
from .protocol import Core
from .sequence_config import OLDEST
from .strategies import strategy_of
from .strategy import BatchStrategy


def core_of(config: BatcherConfig, strategy: BatchStrategy | None = None) -> Core:
    """Return a new core for the configuration.

    strategy: of the dynamic batcher, in place of the batching strategy that the configuration names.
    """
    if config.sequence is None:
        return DynamicBatcher(config, strategy_of(config.strategy) if strategy is None else strategy)
    return (OldestBatcher if config.sequence.strategy == OLDEST else DirectBatcher)(config, config.sequence)
