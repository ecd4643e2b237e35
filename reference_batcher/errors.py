"""The reasons for which a request is refused. Each reaches the caller through the request's own Future.

`status` is the gRPC status that Triton gives for the same reason.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


class ConfigError(ValueError):
    """The text is not a model configuration, or asks for something that this batcher cannot do."""


class BatcherError(Exception):
    """Any refusal by the batcher itself. An exception of the model is not one: it is passed on as it is."""

    status = "INTERNAL"


class Invalid(BatcherError):
    """The request lacks an input that is not optional, or brings one that the configuration does not name."""

    status = "INVALID_ARGUMENT"


class Oversize(Invalid):
    """The request has no rows, or more than `max_batch_size`: it can never be part of a batch."""


class QueueFull(BatcherError):
    """The queue holds `max_queue_size` requests already; this one was never executed."""

    status = "UNAVAILABLE"


class Expired(BatcherError):
    """The request waited in the queue for longer than its queue timeout; it was never executed."""

    status = "UNAVAILABLE"


class Cancelled(BatcherError):
    """Another request of the same sequence was cancelled before this one ran; it was never executed."""

    status = "CANCELLED"


class StrategyError(BatcherError):
    """A hook of the batching strategy raised, so the batch that was being formed has failed; it was never executed.

    batch: its requests, as the core knows them.
    """

    batch: Sequence[Any] = ()


class Closed(BatcherError):
    """The batcher is closed or closing and takes no new requests."""

    status = "UNAVAILABLE"
