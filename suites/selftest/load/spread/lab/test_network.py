"""A network of namespaces: cables take their time, clocks are ahead, and nothing is left. It needs root."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from batchproof.load.spread.lab import network
from batchproof.load.spread.lab.network import HUB, Network, NoNetwork, inside, ip, missing

DELAY_NS = 20_000_000
LIMIT_S = 60
ANSWERS = f"""
import socket, time
with socket.create_server(("{HUB}", 5000)) as server:
    print("ready", flush=True)
    one, _ = server.accept()
    while data := one.recv(1): one.sendall(data)
"""
ASKS = f"""
import socket, time
with socket.create_connection(("{HUB}", 5000), timeout=30) as one:
    began = time.monotonic_ns()
    one.sendall(b"x"); one.recv(1)
    print(time.monotonic_ns() - began, began)
"""


def made_of(error: NoNetwork) -> None:
    """Where no network can be made there is nothing to see, and `missing` or `ip` has said why."""
    assert str(error)


def test_a_message_and_its_answer_take_both_ways_at_least() -> None:
    """Through two cables of 20 ms: not less than 40 ms; with a clock that is a day ahead, and nothing is left afterwards."""
    try:
        with Network(2, DELAY_NS) as made:
            server = subprocess.Popen(
                inside(made.hub, sys.executable, "-c", ANSWERS), stdout=subprocess.PIPE, text=True
            )
            assert server.stdout is not None
            assert server.stdout.readline() == "ready\n"
            asked = inside(made.spaces[1], sys.executable, "-c", ASKS, clock_s=86_400)
            told = subprocess.run(asked, capture_output=True, text=True, timeout=LIMIT_S, check=True).stdout.split()
            server.communicate(timeout=LIMIT_S)
            spaces = {made.hub, *made.spaces}
            assert spaces <= {line.split()[0] for line in ip("netns", "list").splitlines()}
    except NoNetwork as why:
        made_of(why)
        return
    took_ns, began_ns = map(int, told)
    assert took_ns >= 2 * DELAY_NS
    assert began_ns > 86_400 * 10**9
    assert not spaces & {line.split()[0] for line in ip("netns", "list").splitlines() if line}


def test_what_still_runs_ends_with_the_network() -> None:
    """A process of ours in a namespace is killed, and the namespace goes."""
    try:
        with Network(1, DELAY_NS) as made:
            left = subprocess.Popen(inside(made.hub, "sleep", "600"))
    except NoNetwork as why:
        made_of(why)
        return
    assert left.wait(LIMIT_S) == -9


def test_without_root_it_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    """The reason is one line."""
    monkeypatch.setattr(os, "geteuid", lambda: 1000)

    assert missing() == "it needs root, to make network namespaces"
    with pytest.raises(NoNetwork, match="it needs root"):
        Network(1, 1).__enter__()


def test_without_ip_it_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    """With the package that has it."""
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setattr(network, "which", lambda _: None)

    assert missing().startswith("it needs the programs ip and unshare (Debian's packages iproute2")
