"""Each peer answers as its adapter promises, or is skipped with a reason."""

from __future__ import annotations

import threading
from importlib.util import find_spec
from typing import Any

import pytest

from batchproof.bench.peers import adapters
from batchproof.bench.peers.adapters import KINDS, Kind
from batchproof.bench.peers.device import Device
from batchproof.load.workload import Skipped

LONG = 30


HERE = [kind for kind in KINDS if kind.name != "ray-serve" or find_spec("ray")]  # Ray wants an environment of its own


@pytest.fixture(params=HERE, ids=lambda kind: kind.name)
def kind(request: pytest.FixtureRequest) -> Kind:
    """Each peer in turn; those of the extra `peers` are skipped where they are not installed."""
    try:
        request.param.version()
    except Skipped as reason:
        pytest.skip(str(reason))
    return request.param


@pytest.mark.filterwarnings("ignore")  # of the peers' own modules
def test_a_peer_answers_each_request_with_its_own(kind: Kind) -> None:
    """Every adapter batches, gives each request its own answer, passes on the model's exception, and ends."""
    sizes, threads = [], threading.active_count()

    def model(items: list[int]) -> list[int]:
        sizes.append(len(items))
        if -1 in items:
            raise ValueError("boom")
        return [2 * item for item in Device(2_000_000)(items)]

    peer = kind.open(model, 4, 1_000_000)
    try:
        answers = [future.result(LONG) for future in [peer.submit(number) for number in range(12)]]
        failed = peer.submit(-1).exception(LONG)
    finally:
        peer.close()

    assert answers == [2 * number for number in range(12)]
    assert 1 < max(sizes) <= 4
    assert failed is not None
    assert threading.active_count() <= threads + (kind.name == "ray-serve") * 8


def test_a_peer_that_is_not_installed_is_skipped() -> None:
    """A peer that is not installed, or has changed inside, is skipped with a reason."""
    absent = Kind("nobody", "no-such-distribution", adapters.Batched)

    def changed(*_: Any) -> Any:
        raise AttributeError("no _schedule")

    odd = Kind("odd", "numpy", changed)
    for one, reason in ((absent, "'no-such-distribution' is not installed"), (odd, "cannot be driven")):
        with pytest.raises(Skipped, match=reason):
            one.open(list, 4, 0)
