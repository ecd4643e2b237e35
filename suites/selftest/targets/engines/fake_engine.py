"""A host program without an engine: each request is a token, and its stop tokens say what goes wrong in the next step."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from typing import Any

import fake_part
from engine_host import CannotHave, Host, serve
from fake_part import BABBLES, DIES, HANGS, RAISES

LINE = os.dup(1)


class FakeHost(Host):
    """It says its first token, and how its part is called."""

    name, version = "fake", fake_part.VERSION

    def start(self, config: dict[str, Any]) -> None:
        """Refuse one thing, fail at another."""
        if config["prefix_cache"]:
            raise CannotHave("a prefix cache")
        if config["policy"] == "priority":
            raise ValueError("no such policy")
        self.requests: list[dict[str, Any]] = []
        self.child = subprocess.Popen([sys.executable, "-S", "-E", "-c", "import time; time.sleep(600)"])

    def submit(self, request: dict[str, Any]) -> None:
        """Refuse what has no prompt."""
        if not request["prompt"]:
            raise ValueError("an empty prompt")
        self.requests.append(request)

    def step(self) -> bool:
        """Do what is asked."""
        for request in self.requests:
            stop = set(request["stop"])
            if DIES in stop:
                print("the last words")
                os.abort()
            if HANGS in stop:
                time.sleep(600)
            if RAISES in stop:
                raise RuntimeError("out of blocks")
            if BABBLES in stop:
                os.write(LINE, b"neither JSON nor anything else\n")
            self.put(request["name"], request["prompt"][:1], "length")
        self.line(1, 1, 2, [[1, 0, 1, 0, []]])
        self.requests = []
        return False

    def abort(self, name: str) -> None:
        """Forget a request."""
        self.requests = [one for one in self.requests if one["name"] != name]

    def gauges(self) -> dict[str, float]:
        """Return the process that it has started, so that a test can look for it."""
        return {"waiting": len(self.requests), "child": self.child.pid}

    def stop(self) -> None:
        """Stop nothing."""


if __name__ == "__main__":
    serve(FakeHost())
