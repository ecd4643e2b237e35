"""The reference engine: an iteration-level scheduler for language models, as an executable specification."""

from .config import EngineConfig

__all__ = ["EngineConfig"]
