"""Servers of our own that die: the target says so, also of one with a rate limiter, and keeps what they logged."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from importlib.util import find_spec
from typing import Any

import pytest

from batchproof.targets.protocol import TargetError
from batchproof.targets.triton.embedded import EmbeddedServer, embedded_triton
from batchproof.targets.triton.owned import OwnTriton, over_grpc

pytestmark = pytest.mark.skipif(not find_spec("pytriton"), reason="needs the embedded Triton (batchproof[triton])")
STARTED = "Started GRPCInferenceService"


@pytest.fixture
def target() -> Iterator[Any]:
    """A running server."""
    running = embedded_triton()
    yield running
    running.close()


def kill(server: Any) -> None:
    """Kill a server and the processes of its models."""
    os.killpg(server.process_group, signal.SIGKILL)


def test_a_new_server_keeps_the_log_of_the_one_before(target: Any) -> None:
    """Why a server died is in its log, which the report has to have."""
    first = target.grpc
    kill(target)
    died = target.alive()
    target.restart()

    assert "was killed by SIGKILL" in died
    assert target.alive() == ""
    assert target.server_log().count(STARTED) == 2
    assert first in target.server_log()


def test_the_death_of_a_server_with_a_rate_limiter_is_noticed(target: Any) -> None:
    """A rule that was judged on it would fail for what it lost; the next one gets a new server."""
    target.repository({"slots": 1})
    (other,) = target._others.values()
    alive = target.alive()
    kill(other)
    died = target.alive()
    target.repository({"slots": 1})

    assert alive == ""
    assert died.startswith("with a rate limiter, tritonserver was killed by SIGKILL")
    assert target.alive() == ""


def dying(times: int) -> Any:
    """Return a way to connect that finds a dead server so many times."""
    left = iter([True] * times)

    def connect(server: Any) -> Any:
        if next(left, False):
            os.killpg(server.process_group, signal.SIGKILL)
        return over_grpc(server)

    return connect


def test_a_server_that_dies_at_its_start_is_started_again() -> None:
    """A busy host can starve the process of the first model, and that ends a Triton."""
    running = OwnTriton(EmbeddedServer, "triton", connect=dying(1))
    alive = running.alive()
    running.close()

    assert alive == ""


def test_a_server_that_dies_at_each_start_is_given_up() -> None:
    """The error says how it ended."""
    with pytest.raises(TargetError, match=r"triton died at each start, before it could be used: .*killed by SIGKILL"):
        OwnTriton(EmbeddedServer, "triton", connect=dying(9))
