"""The adapter of async-batcher: what it serves, refuses and counts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from batchproof.host.clock import HOST_CLOCK
from batchproof.reference_batcher import BatcherConfig
from batchproof.targets import Kind, Refused, Request, Unsupported, resolve

pytest.importorskip("async_batcher", reason="async-batcher is not installed: pip install 'batchproof[peers]'")
S = 1_000_000_000


@pytest.fixture
def deployed() -> Iterator[Any]:
    """Yield a batcher of two, with a limit of two requests that wait."""
    deployment = resolve("async-batcher").deploy(BatcherConfig(max_batch_size=2, max_queue_size=2))
    yield deployment
    deployment.finish()


def test_it_is_found_by_name() -> None:
    """`--target async-batcher` is this adapter, and claims what the documentation promises."""
    info = resolve("async-batcher").info

    assert info.name == "async-batcher"
    assert info.claims["smallest_batch"] == 2
    assert "cancel" not in info.claims


@pytest.mark.parametrize(
    ("asked", "lacks"), [({"max_batch_size": 1}, "smallest_batch"), ({"queue_timeout_ns": S}, "queue_timeout")]
)
def test_what_it_cannot_have_is_unsupported(asked: dict[str, int], lacks: str) -> None:
    """A batch of one and a queue timeout are not failures of a rule that happens to use them."""
    with pytest.raises(Unsupported, match=lacks):
        resolve("async-batcher").deploy(BatcherConfig(**asked))


def test_a_backlog_is_counted_limited_and_served_in_batches(deployed: Any) -> None:
    """Behind a plug two requests wait and the third is refused as full; the two leave as one batch."""
    plug = deployed.submit(Request("plug", 1, hold=7))
    HOST_CLOCK.wait(lambda: any("serials" in line for line in deployed.log()), HOST_CLOCK.now_ns() + 10 * S)

    futures = [deployed.submit(Request(f"r{number}", number)) for number in (2, 3, 4)]
    with pytest.raises(Refused) as refused:
        futures[2].result(10)
    queued = deployed.queued()
    deployed.release(7)
    infos = [future.result(10).info for future in (plug, *futures[:2])]

    assert (refused.value.kind, queued) == (Kind.FULL, 2)
    assert [int(info[0, 3]) for info in infos] == [1, 2, 2]
    assert deployed.queued() == 0
