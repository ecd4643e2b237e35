"""Stubs for streams and events, so that transformers' asynchronous batching runs on a CPU. Copied into its interpreter.

Asynchronous batching prepares an iteration while a device computes the one before it, and needs streams to keep the two
apart. A CPU has none, and computes at once: here, everything on a stream is over when it has been called, and every event
has happened. The order in which the engine prepares, computes and updates its batches stays its own. What overlaps on a real
device does not overlap here, so a missing synchronisation cannot be seen.
"""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any

import torch
from transformers.generation.continuous_batching import continuous_api, input_outputs, model_runner, offloading_manager

LOCAL = "+stubs"  # ends the reported version: on a device, the engine does not run like this


class Stream:
    """A stream on which everything is over at once."""

    def record_event(self, event: Any = None) -> Any:
        """Do nothing: the event has happened."""
        return event

    def wait_event(self, event: Any) -> None:
        """Return at once."""

    def synchronize(self) -> None:
        """Return at once."""


class Event:
    """An event that has happened."""

    def __init__(self, *_: Any, **__: Any) -> None:
        pass

    def synchronize(self) -> None:
        """Return at once."""


def without_streams() -> None:
    """Put the stubs in place, in this interpreter."""
    torch.Event = Event
    input_outputs.create_device_stream = lambda _device: Stream()
    for module in (continuous_api, input_outputs, model_runner, offloading_manager):
        module.stream_context = lambda _stream: nullcontext()
    input_outputs.ContinuousBatchingAsyncIOs._supported_device_types = ("cpu",)  # noqa: SLF001
