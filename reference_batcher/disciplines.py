"""Which core a configuration asks for. A new scheduling discipline is a module with its core, and a line here."""

from __future__ import annotations

from .config import BatcherConfig
from .core import DynamicBatcher
from .protocol import Core


def core_of(config: BatcherConfig) -> Core:
    """Return a new core for the configuration. So far there is one discipline, the dynamic batcher."""
    return DynamicBatcher(config)
