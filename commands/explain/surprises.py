"""What is known to surprise about a configuration that a server accepts: the findings of docs/findings.md that apply."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from batchproof.commands.explain.instances import instances
from batchproof.fixtures.judging.checkers.config.common import enum_name
from batchproof.fixtures.judging.checkers.config.model import BATCH_BY_THEMSELVES
from batchproof.fixtures.judging.checkers.config.sequence import STRATEGY
from batchproof.targets.triton.completion import backend_of

if TYPE_CHECKING:
    from tritonclient.grpc.model_config_pb2 import ModelConfig

FINDINGS = "docs/findings.md#"
FEW = 3  # priorities that a sentence lists


@dataclass(frozen=True)
class Surprise:
    """What happens, in words, and where it is proven."""

    text: str
    finding: str


def policies(config: ModelConfig) -> Iterator[tuple[str, str, Any]]:
    """Yield each queue policy that some request has: whose requests these are (empty: all), its name, and the policy.

    The server looks at the policies of levels only where there are levels, and at the default one where a level has none.
    """
    batching = config.dynamic_batching
    own = sorted(batching.priority_queue_policy) if batching.priority_levels else []
    if not own:
        yield "", "default_queue_policy", batching.default_queue_policy
    elif len(own) < batching.priority_levels:
        yield _without(own, batching.priority_levels), "default_queue_policy", batching.default_queue_policy
    for level in own:
        yield f" of priority {level}", "its priority_queue_policy", batching.priority_queue_policy[level]


def _without(own: list[int], levels: int) -> str:
    """Return the priorities that have no policy of their own, in words. own: those that have one."""
    if levels - len(own) > FEW:
        return " of a priority without a policy of its own"
    others = [str(level) for level in range(1, levels + 1) if level not in own]
    return f" of priority {' or '.join(others)}"


def has_strategy(config: ModelConfig) -> bool:
    """Return whether the configuration names a library that decides which requests join a batch."""
    return config.HasField("dynamic_batching") and config.max_batch_size > 1 and STRATEGY in config.parameters


def limited(config: ModelConfig) -> bool:
    """Return whether requests can be refused while they wait: a timeout, or a bounded queue."""
    return any(policy.default_timeout_microseconds or policy.max_queue_size for _, _, policy in policies(config))


def stages(config: ModelConfig) -> bool:
    """Return whether batches are formed ahead, behind a busy instance, where nothing can take requests out any more."""
    batching = config.dynamic_batching
    policy = batching.default_queue_policy
    bounded = policy.default_timeout_microseconds or policy.allow_timeout_override or policy.max_queue_size
    return config.HasField("dynamic_batching") and not batching.priority_levels and not bounded


def varies(config: ModelConfig) -> bool:
    """Return whether requests can have shapes that do not fit into one batch."""
    return any(-1 in tensor.dims and not tensor.allow_ragged_batch for tensor in config.input)


def slots(config: ModelConfig) -> int:
    """Return how many sequences an instance serves at a time; a batch has one request of each at most, of one row."""
    oldest = config.sequence_batching.oldest
    return int(oldest.max_candidate_sequences) if oldest.max_candidate_sequences > 0 else max(1, config.max_batch_size)


def _in_any_order(config: ModelConfig) -> bool:
    """Return whether batches are formed of sequences' requests by a dynamic batcher, which each instance has."""
    return bool(config.sequence_batching.HasField("oldest"))


def _forming(config: ModelConfig) -> tuple[Any, int]:
    """Return the settings of the dynamic batcher, or of the one behind the strategy oldest, and the most rows of a batch."""
    if _in_any_order(config):
        return config.sequence_batching.oldest, min(config.max_batch_size, slots(config))
    return config.dynamic_batching, config.max_batch_size


def _delays(config: ModelConfig) -> bool:
    batching, most = _forming(config)
    awaited = batching.preferred_batch_size or (config.max_batch_size,)
    return bool(batching.max_queue_delay_microseconds) and most > 1 and 1 not in awaited


def _sizes(config: ModelConfig) -> list[int]:
    """Return the preferred sizes that a batch can have, if batches are formed ahead."""
    batching, most = _forming(config)
    ahead = stages(config) or _in_any_order(config)
    return sorted({size for size in batching.preferred_batch_size if size <= most}) if ahead else []


def _grows(config: ModelConfig) -> bool:
    """Return whether a batch of the largest preferred size can take one request more: it waits, and has room."""
    (batching, most), sizes = _forming(config), _sizes(config)
    return bool(batching.max_queue_delay_microseconds and sizes and sizes[-1] < most)


def _shrinks(config: ModelConfig) -> bool:
    """Return whether a backlog leaves in batches of the smallest preferred size: nothing waits, and there are several."""
    return not _forming(config)[0].max_queue_delay_microseconds and len(_sizes(config)) > 1


def _unscheduled(config: ModelConfig) -> bool:
    return not config.WhichOneof("scheduling_choice") and config.backend not in BATCH_BY_THEMSELVES


def _limits(config: ModelConfig) -> bool:
    """Return whether the instances of the model need resources or a priority of the server's rate limiter."""
    return any(one.rate_limiter.resources or one.rate_limiter.priority for one in config.instance_group)


def _ids(config: ModelConfig) -> str:
    """Return the type of the correlation IDs that the model is told, an empty string if it is told none."""
    for one in config.sequence_batching.control_input:
        for control in one.control:
            if enum_name(control, "kind") == "CONTROL_SEQUENCE_CORRID":
                return enum_name(control, "data_type")
    return ""


def _bounded(config: ModelConfig) -> bool:
    return any(policy.max_queue_size for _, _, policy in policies(config))


_KNOWN: tuple[tuple[str, Callable[[ModelConfig], bool], str], ...] = (
    (
        "f-2026-02",
        lambda config: _delays(config) and instances(config).fewest == 1 and stages(config),
        "With a queue delay and one instance, a backlog does not leave in full batches: a small batch is among them.",
    ),
    (
        "f-2026-02",
        lambda config: _delays(config) and _in_any_order(config),
        "With a queue delay, an instance's backlog does not leave in full batches: a small batch is among them.",
    ),
    (
        "f-2026-14",
        lambda config: _delays(config) and not varies(config) and stages(config),
        "A batch that waits behind a busy instance stops growing when its delay is over, for up to 500 ms.",
    ),
    (
        "f-2026-06",
        lambda config: _delays(config) and not varies(config),
        "A request that is cancelled or times out while it waits for its delay can make the next one up to 500 ms late.",
    ),
    ("f-2026-13", _delays, "A model that is unloaded keeps its waiting requests for the rest of their queue delay."),
    ("f-2026-07", _grows, "Behind a busy instance, a batch of the largest preferred size can take one request more."),
    ("f-2026-07", _shrinks, "Behind a busy instance, a backlog leaves in batches of the smallest preferred size."),
    (
        "f-2026-03",
        lambda config: bool(limited(config) or config.dynamic_batching.priority_levels),
        "With a queue timeout, a bounded queue or priorities, a free instance can idle for 500 ms while requests wait.",
    ),
    (
        "f-2026-12",
        _bounded,
        "With a bounded queue, a model that is offered twice what it can do serves only a part of what it could.",
    ),
    (
        "f-2026-09",
        stages,
        "A cancelled request is executed if its batch is formed already, behind a busy instance.",
    ),
    (
        "f-2026-09",
        _bounded,
        "A cancelled request keeps its place in the bounded queue until a batch is formed, and others are refused for it.",
    ),
    ("f-2026-09", _unscheduled, "A cancelled request is executed all the same: nothing takes it out of the queue."),
    (
        "f-2026-04",
        lambda config: config.response_cache.enable,
        "The response cache, where the server has one, keeps failed answers, and returns them as successes without outputs.",
    ),
    (
        "f-2026-05",
        lambda config: config.response_cache.enable and config.dynamic_batching.preserve_ordering,
        "With preserve_ordering, one hit in the response cache blocks every executed request after it, for good.",
    ),
    (
        "f-2026-17",
        lambda config: has_strategy(config) and stages(config),
        "Behind a busy instance, a batch can exceed the limit of the strategy library, and its records are never ended.",
    ),
    (
        "f-2026-18",
        lambda config: has_strategy(config) and _delays(config) and not varies(config),
        "A batch that the strategy library has closed waits for the rest of its queue delay.",
    ),
    (
        "f-2026-19",
        has_strategy,
        "A request that the strategy library refuses even alone is never answered, nor is any behind it.",
    ),
    (
        "f-2026-20",
        lambda config: config.HasField("sequence_batching"),
        "A model that is unloaded keeps the sequences that wait for a place until an open one was idle for long enough.",
    ),
    (
        "f-2026-30",
        lambda config: config.sequence_batching.HasField("oldest"),
        "A new sequence can wait behind the last request of another, although places are free.",
    ),
    (
        "f-2026-32",
        lambda config: _ids(config) == "TYPE_STRING",
        "A correlation ID that has not exactly 128 bytes is refused, and one of 125 to 127 bytes ends the model's process.",
    ),
    (
        "f-2026-33",
        lambda config: _ids(config) not in ("", "TYPE_STRING"),
        "A correlation ID that is a string is not refused: it is written over the server's memory, and can end the server.",
    ),
    (
        "f-2026-25",
        _limits,
        "By default the rate limiter is off; with --rate-limit=execution_count, a wait for its resources stops every model.",
    ),
    (
        "f-2026-11",
        lambda config: backend_of(config) == "python" and instances(config).fewest == 1,
        "If the process of a Python model dies, every request is refused until the model is loaded again.",
    ),
    (
        "f-2026-24",
        lambda config: backend_of(config) == "python" and instances(config).fewest > 1,
        "If the process of an instance dies, it keeps its turn: what it gets is refused until the model is loaded again.",
    ),
)


def surprises(config: ModelConfig) -> Iterator[Surprise]:
    """Yield what applies, in the order in which it matters for batching; nothing where nothing is executed."""
    if instances(config).none and not config.HasField("ensemble_scheduling"):
        return
    for finding, applies, text in _KNOWN:
        if applies(config):
            yield Surprise(text, f"{FINDINGS}{finding}")
    for whose, where, policy in policies(config):
        if policy.allow_timeout_override and policy.default_timeout_microseconds:
            text = f"The timeout of a request{whose} only counts if it is shorter than that of {where}."
            yield Surprise(text, "model_config.proto, ModelQueuePolicy.allow_timeout_override")
        if enum_name(policy, "timeout_action") == "DELAY" and policy.default_timeout_microseconds:
            late = "it is served after all others of its level, however late."
            yield Surprise(
                f"A request{whose} whose timeout is over is not refused: {late}",
                "model_config.proto, ModelQueuePolicy.timeout_action",
            )
