"""Answers that do not end: every client gives them up, and says so."""

from __future__ import annotations

import contextlib
import http.client

import pytest

from batchproof.suites.selftest.targets.evil_server import WAYS, EvilServer
from batchproof.targets import TargetError, resolve
from batchproof.targets.kit import HttpClient
from batchproof.targets.kit.bounded import BoundedConnection, Endless
from batchproof.targets.triton.metrics import Metrics

LARGEST = 2**20


def asked(line: http.client.HTTPConnection) -> bytes:
    """Return the body of an answer."""
    line.request("GET", "/")
    return line.getresponse().read()


@pytest.mark.parametrize("way", WAYS)
def test_an_answer_ends_or_is_given_up(way: str) -> None:
    """Whatever part of it does not end."""
    with EvilServer(way) as server:
        line = BoundedConnection("127.0.0.1", server.port, seconds=0.3, largest=LARGEST)
        with contextlib.closing(line), pytest.raises((Endless, http.client.HTTPException)):
            asked(line)


def test_each_answer_has_time_and_bytes_of_its_own() -> None:
    """A connection that is kept open can be used for longer than one answer may take."""
    with EvilServer("answers") as server:
        line = BoundedConnection("127.0.0.1", server.port, seconds=30.0, largest=100)
        with contextlib.closing(line):
            assert [asked(line) for _ in range(5)] == [b"{}"] * 5


@pytest.mark.parametrize("way", ["drips its body", "sends without an end"])
def test_it_says_which_limit_was_met(way: str) -> None:
    """The time, or the bytes."""
    with EvilServer(way) as server:
        line = BoundedConnection("127.0.0.1", server.port, seconds=0.3 if way.startswith("drips") else 60, largest=LARGEST)
        with contextlib.closing(line), pytest.raises(Endless) as caught:
            asked(line)

    assert str(caught.value) in ("the answer was not complete after 0.3 s", "the answer has more than 1 MiB")


@pytest.mark.parametrize("way", WAYS)
def test_the_kit_of_adapters_gives_it_up(way: str) -> None:
    """Whether a server is ready is known in time."""
    with EvilServer(way) as server, contextlib.closing(HttpClient(server.url)) as client:  # noqa: SIM117 - what raises is alone
        with pytest.raises((OSError, http.client.HTTPException)):
            client.get("/", seconds=0.3)


@pytest.mark.parametrize("way", ["drips its body", "says nothing"])
@pytest.mark.parametrize("scheme", ["http://", "openai:http://"])
def test_no_target_is_waited_for_without_an_end(scheme: str, way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The message says what was asked, and that it did not end."""
    monkeypatch.setenv("BATCHPROOF_CONNECT_S", "0.3")
    with EvilServer(way) as server, pytest.raises(TargetError) as caught:
        resolve(f"{scheme}{server.address}")

    assert "the answer was not complete after 0.3 s" in str(caught.value)
    assert server.address in str(caught.value)


@pytest.mark.parametrize("way", ["drips its headers", "sends endless headers", "sends without an end"])
@pytest.mark.parametrize("scheme", ["http://", "openai:http://"])
def test_no_answer_is_read_without_an_end(scheme: str, way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nor one that never stops to send."""
    monkeypatch.setenv("BATCHPROOF_CONNECT_S", "0.5")
    with EvilServer(way) as server, pytest.raises(TargetError, match=server.address):
        resolve(f"{scheme}{server.address}")


def test_metrics_are_not_asked_for_twice_if_they_do_not_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """A connection that the server has closed meanwhile is made again, but this is not one."""
    monkeypatch.setenv("BATCHPROOF_CALL_S", "0.3")
    with EvilServer("drips its body") as server:
        metrics = Metrics(server.address)
        with contextlib.closing(metrics), pytest.raises(TargetError, match=r"was not complete after 0\.3 s"):
            metrics.pending("model")

    assert server.asked == 1
