"""Configurations that fit: the smallest size and delay that a stack can have, by what it claims."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from math import ceil
from typing import Any

from batchproof.reference_batcher import BatcherConfig
from batchproof.targets.claims import noun_of, unmet, value_of

MS = 1_000_000
US = 1_000
SHORT_NS = 10 * MS  # the shortest delay where a stack can have any: time enough to gather what is queued
UNLIMITED = 1 << 20  # a max_batch_size that no rule fills, for a stack whose batches have no limit
ORDINARY = 8  # rows of a batch there, where traffic asks for a full one


def fitted(config: BatcherConfig, claims: Mapping[str, Any], *, gathered_ns: int = 0, least_ns: int = 0) -> BatcherConfig:
    """Return the configuration with the smallest size and delay that there are, where it has smaller ones.

    gathered_ns: how long the requests of one batch take to come; 0: no two of them wait at the same time. A stack that
    batches only with a delay gets one then. So does one whose batches do not grow while the model is busy, and there the
    delay is no shorter than this: the batch would leave before its requests have come. A delay of 0 stays 0 for a stack
    that cannot be told a delay at all: there is nothing to set. A stack whose batches have no limit gets one that is out of
    reach. least_ns: what stands in for no delay is no shorter than
    this where requests wait at the same time: a timer that ends while a batch is gathered would cut the batch short.
    """
    delay_ns = _delay_ns(config.max_queue_delay_ns, claims)
    gathers = value_of(claims, "batches_without_delay") and value_of(claims, "late_binding")
    if gathered_ns and not delay_ns and value_of(claims, "delay") and not gathers:
        delay_ns = _shortest_ns(claims)
    if gathered_ns and delay_ns and not config.max_queue_delay_ns:
        delay_ns = max(delay_ns, least_ns)
    if delay_ns and not config.max_queue_delay_ns and not value_of(claims, "late_binding"):
        delay_ns = max(delay_ns, gathered_ns)
    limited = value_of(claims, "batch_limit") or config.sequence is not None  # then it is the number of slots
    least = value_of(claims, "smallest_batch") if limited else UNLIMITED
    size = max(config.max_batch_size, least)
    return replace(config, max_batch_size=size, max_queue_delay_ns=delay_ns)


def full_rows(config: BatcherConfig) -> int:
    """Return how many rows traffic is made for: those of a full batch, or of an ordinary one where none is ever full."""
    return config.max_batch_size if config.max_batch_size < UNLIMITED else ORDINARY


def deployable(config: BatcherConfig, claims: Mapping[str, Any]) -> str:
    """Return the value of this configuration that the stack cannot have, in words; empty if it can have them all.

    What is not promised, such as a queue delay where `delay` is not claimed, may be there all the same: `deploy` knows.
    """
    if feature := unmet(claims, config.features()):
        return noun_of(feature)
    if config.max_batch_size < value_of(claims, "smallest_batch"):
        return size_words(config.max_batch_size)
    if config.max_batch_size < UNLIMITED and config.sequence is None and not value_of(claims, "batch_limit"):
        return noun_of("batch_limit")
    if config.max_queue_size % config.max_batch_size and value_of(claims, "queue_limit_unit") == "batches":
        return f"a queue limit of {config.max_queue_size} with batches of {config.max_batch_size}"
    if config.max_queue_delay_ns != _delay_ns(config.max_queue_delay_ns, claims):
        return delay_words(config.max_queue_delay_ns)
    return ""


def size_words(size: int) -> str:
    """Return a size limit as a stack lacks it: `a max_batch_size of 4`."""
    return "a batch of one" if size == 1 else f"a max_batch_size of {size}"


def delay_words(ns: int) -> str:
    """Return a delay as a stack lacks it: `a queue delay of 1 ms`."""
    for unit, size in (("h", 3_600_000 * MS), ("s", 1_000 * MS), ("ms", MS)):
        if ns >= size and ns % size == 0:
            return f"a queue delay of {ns // size} {unit}"
    return f"a queue delay of {ns / MS:g} ms" if ns else "a queue delay of 0"


def _delay_ns(delay_ns: int, claims: Mapping[str, Any]) -> int:
    """Return the smallest delay that can be had and that is not below this one."""
    if not value_of(claims, "delay"):
        return delay_ns
    if delay_ns:
        return max(delay_ns, _smallest_ns(claims))
    none = not _smallest_ns(claims) and value_of(claims, "zero_delay") == "off"
    return 0 if none else _shortest_ns(claims)


def _smallest_ns(claims: Mapping[str, Any]) -> int:
    """Return what is claimed as the smallest delay, in whole microseconds."""
    smallest_ms: float = value_of(claims, "smallest_delay_ms")
    return ceil(smallest_ms * MS / US) * US


def _shortest_ns(claims: Mapping[str, Any]) -> int:
    """Return the smallest delay that is not 0."""
    return _smallest_ns(claims) or SHORT_NS
