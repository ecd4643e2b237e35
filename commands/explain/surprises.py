"""What is known to surprise about a configuration that a server accepts: the findings of docs/findings.md that apply."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from batchproof.commands.explain.instances import instances
from batchproof.fixtures.judging.checkers.config.common import enum_name

if TYPE_CHECKING:
    from tritonclient.grpc.model_config_pb2 import ModelConfig

FINDINGS = "docs/findings.md#"


@dataclass(frozen=True)
class Surprise:
    """What happens, in words, and where it is proven."""

    text: str
    finding: str


def limited(config: ModelConfig) -> bool:
    """Return whether requests can be refused while they wait: a timeout, or a bounded queue."""
    batching = config.dynamic_batching
    policies = [batching.default_queue_policy, *batching.priority_queue_policy.values()]
    return any(policy.default_timeout_microseconds or policy.max_queue_size for policy in policies)


def stages(config: ModelConfig) -> bool:
    """Return whether batches are formed ahead, behind a busy instance, where nothing can take requests out any more."""
    batching = config.dynamic_batching
    policy = batching.default_queue_policy
    bounded = policy.default_timeout_microseconds or policy.allow_timeout_override or policy.max_queue_size
    return config.HasField("dynamic_batching") and not batching.priority_levels and not bounded


def varies(config: ModelConfig) -> bool:
    """Return whether requests can have shapes that do not fit into one batch."""
    return any(-1 in tensor.dims and not tensor.allow_ragged_batch for tensor in config.input)


def _delays(config: ModelConfig) -> bool:
    batching, most = config.dynamic_batching, config.max_batch_size
    return bool(batching.max_queue_delay_microseconds) and most > 1 and 1 not in (batching.preferred_batch_size or (most,))


def _bounded(config: ModelConfig) -> bool:
    batching = config.dynamic_batching
    return any(one.max_queue_size for one in (batching.default_queue_policy, *batching.priority_queue_policy.values()))


_KNOWN: Mapping[str, tuple[Callable[[ModelConfig], bool], str]] = {
    "f-2026-02": (
        lambda config: _delays(config) and instances(config).fewest == 1 and not limited(config),
        "With a queue delay and one instance, a backlog does not leave in full batches: a small batch is among them.",
    ),
    "f-2026-14": (
        lambda config: _delays(config) and not varies(config),
        "A batch that waits behind a busy instance stops growing when its delay is over, for up to 500 ms.",
    ),
    "f-2026-06": (
        lambda config: _delays(config) and not varies(config),
        "A request that is cancelled or times out while it waits for its delay can make the next one up to 500 ms late.",
    ),
    "f-2026-13": (_delays, "A model that is unloaded keeps its waiting requests for the rest of their queue delay."),
    "f-2026-07": (
        lambda config: bool(config.dynamic_batching.preferred_batch_size) and not limited(config),
        "Behind a busy instance, a batch of a preferred size can take one request more.",
    ),
    "f-2026-03": (
        lambda config: config.HasField("dynamic_batching") and limited(config),
        "With a queue timeout or a bounded queue, a free instance can stand idle for up to 500 ms while requests wait.",
    ),
    "f-2026-12": (
        _bounded,
        "With a bounded queue, a model that is offered twice what it can do serves only a part of what it could.",
    ),
    "f-2026-09": (
        lambda config: stages(config) or _bounded(config),
        "A cancelled request is executed if its batch is formed already, and until then it takes its place in the queue.",
    ),
    "f-2026-04": (
        lambda config: config.response_cache.enable,
        "The response cache keeps failed answers, and returns them as successes without outputs.",
    ),
    "f-2026-05": (
        lambda config: config.response_cache.enable and config.dynamic_batching.preserve_ordering,
        "With preserve_ordering, one hit in the response cache blocks every executed request after it, for good.",
    ),
    "f-2026-11": (
        lambda config: config.backend == "python",
        "If the process of a Python model dies, every request is refused until the model is loaded again.",
    ),
}


def surprises(config: ModelConfig) -> Iterator[Surprise]:
    """Yield what applies, in the order in which it matters for batching."""
    for finding, (applies, text) in _KNOWN.items():
        if applies(config):
            yield Surprise(text, f"{FINDINGS}{finding}")
    for where, policy in (("default_queue_policy", config.dynamic_batching.default_queue_policy),):
        if policy.allow_timeout_override and policy.default_timeout_microseconds:
            text = f"The timeout of a request only counts if it is shorter than that of {where}."
            yield Surprise(text, "model_config.proto, ModelQueuePolicy.allow_timeout_override")
        if enum_name(policy, "timeout_action") == "DELAY" and policy.default_timeout_microseconds:
            text = (
                "A request whose timeout is over is not refused: it is served after all others of its level, however late."
            )
            yield Surprise(text, "model_config.proto, ModelQueuePolicy.timeout_action")
