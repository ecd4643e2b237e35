"""The reference engine: an iteration-level scheduler for language models, as an executable specification.

Its decisions are all in `scheduler`.
"""

from .config import EngineConfig, EngineConfigError
from .requests import Iteration, Request, Row, Said
from .scheduler import Scheduler

__all__ = ["EngineConfig", "EngineConfigError", "Iteration", "Request", "Row", "Said", "Scheduler"]
