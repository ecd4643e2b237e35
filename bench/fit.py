"""A bench fitted to what its target claims: the nearest configuration that there is, and what differs, in words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from batchproof.reference_batcher.config import BatcherConfig
from batchproof.targets import fitting
from batchproof.targets.claims import as_claimed, contradicted, value_of

BATCHES = ("batches_without_delay",)  # needed by whatever compares batches: it is met by a target that batches with a delay
AS_SIMULATED = ("late_binding", "delay_anchor=oldest-enqueue")  # how the simulator forms batches


def fitted(config: BatcherConfig, claims: Mapping[str, Any], *, crowded: bool = True) -> BatcherConfig:
    """Return the nearest configuration that the target can have. No delay is set where none is claimed.

    crowded: several requests wait at the same time, as in every measurement but that of lone batches.
    """
    if not value_of(claims, "delay"):
        config = replace(config, max_queue_delay_ns=0)
    return fitting.fitted(config, claims, gathered_ns=fitting.SHORT_NS if crowded and config.max_batch_size > 1 else 0)


def departures(claims: Mapping[str, Any]) -> tuple[str, ...]:
    """Return in what the configurations of this target differ from those of others, a clause each."""
    told = []
    least = value_of(claims, "smallest_batch")
    if least > 1:
        told.append(f"a max_batch_size of {least} stands in for smaller ones")
    if not value_of(claims, "delay"):
        told.append("no queue delay is set, because none is claimed")
    elif delay_ns := fitted(BatcherConfig(max_batch_size=max(2, least)), claims).max_queue_delay_ns:
        told.append(f"{fitting.delay_words(delay_ns)} stands in for none")
    return tuple(told)


def another_way(claims: Mapping[str, Any]) -> str:
    """Return the first claim by which the target forms batches in another way than the simulator; empty if there is none."""
    need = contradicted(claims, AS_SIMULATED)
    return as_claimed(claims, need) if need else ""
