"""An executable specification of a batcher: cores that decide, and shells that do what a core says.

What users import is here. `Batcher` runs a callable or a `torch.nn.Module` on background threads, and `BatcherConfig` reads
and writes Triton's `config.pbtxt`. Who wants to know what a dynamic batcher decides reads `core`; who writes another
scheduling discipline reads `protocol`.
"""

from .config import BatcherConfig, QueuePolicy, TensorSpec
from .errors import BatcherError, Cancelled, Closed, ConfigError, Expired, Invalid, Oversize, QueueFull, StrategyError
from .sequence_config import SequenceBatching, StateSpec
from .strategy import BatchStrategy
from .threaded import Batcher

__all__ = [
    "BatchStrategy",
    "Batcher",
    "BatcherConfig",
    "BatcherError",
    "Cancelled",
    "Closed",
    "ConfigError",
    "Expired",
    "Invalid",
    "Oversize",
    "QueueFull",
    "QueuePolicy",
    "SequenceBatching",
    "StateSpec",
    "StrategyError",
    "TensorSpec",
]
