"""The adapters of batched: what they serve, and what they say that it cannot have."""

from __future__ import annotations

from importlib.util import find_spec

import pytest

from batchproof.reference_batcher import BatcherConfig
from batchproof.targets import Kind, Payload, Refused, Request, Unsupported, resolve

# To import it takes torch, and each worker collects this file.
absent = find_spec("batched") is None
pytestmark = pytest.mark.skipif(absent, reason="batched is not installed: pip install 'batchproof[peers]'")
NAMES = ("batched", "batched-aio")
S = 1_000_000_000


@pytest.mark.parametrize("name", NAMES)
def test_requests_are_served(name: str) -> None:
    """Every request gets its own answer, nothing is left in the queue, and a model that raises is a failure."""
    deployment = resolve(name).deploy(BatcherConfig(max_batch_size=4, max_queue_delay_ns=S // 100))
    requests = [Request(f"r{number}", number) for number in range(1, 6)]

    answers = [future.result(10) for future in [deployment.submit(one) for one in requests]]
    failing = deployment.submit(Request("bad", 9, Payload(fail=True)))
    with pytest.raises(Refused) as refused:
        failing.result(10)
    queued = deployment.queued()
    deployment.finish()

    assert [answer.echo.tolist() for answer in answers] == [one.tensor().tolist() for one in requests]
    assert (refused.value.kind, queued) == (Kind.FAILED, 0)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("field", ["instances", "queue_timeout_ns", "max_queue_size"])
def test_what_it_cannot_have_is_unsupported(name: str, field: str) -> None:
    """It has no instances, no queue timeout and no queue limit."""
    with pytest.raises(Unsupported, match=field.removesuffix("_ns")):
        resolve(name).deploy(BatcherConfig(**{field: 3000}))


def test_only_the_thread_can_be_closed() -> None:
    """`shutdown` exists on the thread's processor, and not on the one of asyncio."""
    claims = {name: resolve(name).info.claims.get("close", False) for name in NAMES}

    assert claims == {"batched": True, "batched-aio": False}
