"""The adapter of PyTriton: how a configuration is said in PyTriton's words, without a server."""

from __future__ import annotations

from batchproof.reference_batcher import BatcherConfig, QueuePolicy
from batchproof.targets.stacks.pytriton import CLAIMS, settings


def test_a_configuration_is_passed_on_whole() -> None:
    """Times are microseconds there, and each priority level may have a policy of its own."""
    own = QueuePolicy(2_000_000, "DELAY", allow_timeout_override=True, max_queue_size=3)
    config = BatcherConfig(
        max_batch_size=4, max_queue_delay_ns=5_000_000, instances=2, queue_timeout_ns=1_000_000, preferred_batch_size=(2, 4),
        priority_levels=2, default_priority_level=2, priority_queue_policy=((1, own),),
    )  # fmt: skip

    assert settings(config) == {
        "instances": 2,
        "max_batch_size": 4,
        "max_queue_delay_microseconds": 5000,
        "preferred_batch_size": [2, 4],
        "preserve_ordering": False,
        "priority_levels": 2,
        "default_priority_level": 2,
        "default_policy": {
            "timeout_action": "REJECT", "default_timeout_microseconds": 1000, "allow_timeout_override": False,
            "max_queue_size": 0,
        },
        "priority_policies": {
            "1": {"timeout_action": "DELAY", "default_timeout_microseconds": 2000, "allow_timeout_override": True,
                  "max_queue_size": 3}
        },
    }  # fmt: skip


def test_it_claims_what_pytriton_documents() -> None:
    """Nothing about models that go away, and nothing about shapes, which the adapter does not ask for."""
    assert not {"close", "cancel", "shapes", "response_cache"} & set(CLAIMS)
