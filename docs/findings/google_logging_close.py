"""Shows what google-cloud-logging's background thread does with entries when it is closed (docs/findings.md).

    pip install google-cloud-logging==3.17.0 && python google_logging_close.py

Nothing leaves this process: a client that prints what it is given takes the place of the real one.
"""

import logging
import time
from types import SimpleNamespace

from google.cloud.logging_v2.handlers.transports import BackgroundThreadTransport

RECORD = logging.makeLogRecord({"name": "example"})
began = time.monotonic()


def say(text: str) -> None:
    """Print a line with the time."""
    print(f"after {time.monotonic() - began:4.1f} s: {text}")


def batch() -> SimpleNamespace:
    """Return a batch that says what it commits."""
    entries: list[str] = []
    commit = lambda: say(f"committed {entries}")  # noqa: E731
    return SimpleNamespace(entries=entries, commit=commit, log=lambda message, **_: entries.append(message))


client = SimpleNamespace(logger=lambda *_, **__: SimpleNamespace(batch=batch))
for latency in (2.0, 8.0):
    print(f"max_latency {latency} s; grace period 5 s (the default)")
    began = time.monotonic()
    transport = BackgroundThreadTransport(client, "example", max_latency=latency)
    transport.send(RECORD, "first")
    transport.close()
    say("close has returned")
    transport.send(RECORD, "second")
    say("an entry was accepted")
time.sleep(5)
