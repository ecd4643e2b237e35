"""The reference engine: an iteration-level scheduler for language models, as an executable specification.

Who wants to know what it decides reads `scheduler`.
"""

from .config import EngineConfig, EngineConfigError
from .requests import Iteration, Request, Row, Said
from .scheduler import Scheduler

__all__ = ["EngineConfig", "EngineConfigError", "Iteration", "Request", "Row", "Said", "Scheduler"]
