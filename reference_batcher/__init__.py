"""An executable model of a dynamic batcher: one set of decisions, a threaded shell and a virtual-time shell.

`Batcher` runs a callable or a `torch.nn.Module`; `BatcherConfig` reads and writes Triton's `config.pbtxt`; `core` holds
the decisions.
"""

from .config import BatcherConfig, ConfigError, QueuePolicy, TensorSpec
from .errors import BatcherError, Closed, Expired, Invalid, Oversize, QueueFull
from .threaded import Batcher

__all__ = [
    "Batcher",
    "BatcherConfig",
    "BatcherError",
    "Closed",
    "ConfigError",
    "Expired",
    "Invalid",
    "Oversize",
    "QueueFull",
    "QueuePolicy",
    "TensorSpec",
]
