"""The witness's tensors, as a configuration names them."""

from __future__ import annotations

from dataclasses import replace

from batchproof.reference_batcher import BatcherConfig, TensorSpec
from batchproof.targets.witness.probe import COLUMNS, INFO

# What Triton claims. The reference batcher has the same semantics, and so the same claims.
TRITON_CLAIMS = {
    "rows": "counted",
    "delay": True,
    "delay_anchor": "oldest-enqueue",
    "queue_timeout": True,
    "instances": True,
    "crowd": True,
    "close": True,
    "config": True,
    "preferred_sizes": True,
    "ordering": True,
    "priorities": True,
    "max_queue_size": True,
    "timeout_delay": True,
    "timeout_override": True,
    "cancel": True,
    "shapes": True,
    "ragged": True,
    "optional_inputs": True,
    "counts_results": True,
    "response_cache": True,
    "statistics": True,
    "error_status": True,
    "sequences": "both",
}
# What the reference batcher claims besides: `BatcherConfig` documents what it does with nothing set.
REFERENCE_CLAIMS = {
    **TRITON_CLAIMS,
    "closing_ends": "settled",
    "sequence_state": "several",
    "custom_batching": True,
    "defaults": True,
    "default_batch": 8,
    "default_delay_ms": 0,
}
INPUTS = (TensorSpec("IN", "TYPE_INT64", (len(COLUMNS),)),)
OUTPUTS = (TensorSpec("OUT", "TYPE_INT64", (len(COLUMNS),)), TensorSpec("INFO", "TYPE_INT64", (len(INFO),)))


def witnessed(config: BatcherConfig, name: str = "batchproof_witness", **parameters: str) -> BatcherConfig:
    """Return the configuration with the witness's inputs before its own, and the witness's outputs, name and parameters."""
    return replace(config, name=name, inputs=INPUTS + config.inputs, outputs=OUTPUTS, parameters=parameters)


def extra(*, optional: bool = False, ragged: bool = False) -> tuple[TensorSpec, ...]:
    """Return the inputs of a configuration whose requests carry a second tensor, with any number of columns."""
    return (TensorSpec("EXTRA", "TYPE_INT64", (-1,), optional, ragged),)


def correlation_id(sequence: int | str, id_type: str) -> int | str:
    """Return the correlation ID with which a request of this sequence is sent, given the model's type of IDs.

    A model of strings gets a number above 0 written out (`sequence-5`). An ID of the wrong type is sent as it is: a string
    to a model of numbers, and -5 as the number 5 to a model of strings.
    """
    if isinstance(sequence, str) or id_type != "TYPE_STRING":
        return sequence
    return f"sequence-{sequence}" if sequence > 0 else -sequence
