"""Waiting until something is ready: errors mean "not yet", and an end or a deadline says why."""

from __future__ import annotations

import itertools
import socket

import pytest

from batchproof.targets.deadlines import TooLate
from batchproof.targets.kit import free_port, free_ports, listens, until
from batchproof.targets.protocol import TargetError


def test_an_error_means_not_yet() -> None:
    """It returns when `ready` is true, whatever it raised before."""
    answers = itertools.chain([ConnectionRefusedError("not yet"), 0], itertools.repeat(1))

    def ready() -> int:
        answer = next(answers)
        if isinstance(answer, Exception):
            raise answer
        return answer

    until(ready, 30, "it")

    assert next(answers) == 1


def test_a_deadline_quotes_the_last_error() -> None:
    """The message says what was not ready, after how long, and what went wrong last."""
    with pytest.raises(TooLate, match=r"^the server was not ready after 0.01 s \(ZeroDivisionError: .*\)$"):
        until(lambda: 1 // 0, 0.01, "the server")


def test_an_end_is_not_waited_for() -> None:
    """What has ended will never be ready."""
    with pytest.raises(TargetError, match=r"^it has ended$"):
        until(lambda: False, 3600, "it", lambda: "it has ended")


def test_ports_are_free_and_differ() -> None:
    """Nothing listens there until we do."""
    ports = free_ports(8)

    assert len(set(ports)) == 8
    assert not listens(ports[0])
    with socket.create_server(("127.0.0.1", free_port())) as server:
        assert listens(server.getsockname()[1])
