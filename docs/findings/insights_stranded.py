"""Shows that an item that comes just before applicationinsights' thread ends stays in the queue (docs/findings.md).

    pip install applicationinsights==0.11.10 && python insights_stranded.py

Nothing leaves this process: `send` notes what it is given.
"""

import time

from applicationinsights.channel import AsynchronousQueue, AsynchronousSender

began = time.monotonic()


class Sender(AsynchronousSender):
    """Says when each item is sent."""

    def send(self, data_to_send: list[object]) -> None:
        """Print a batch."""
        print(f"after {time.monotonic() - began:4.1f} s: sent {data_to_send}")


queue = AsynchronousQueue(Sender("https://localhost"))
print(f"send_interval {queue.sender.send_interval} s, send_time {queue.sender.send_time} s (the defaults)")
for item, pause in (("first", 2.5), ("second", 10.0), ("third", 0.5)):
    print(f"after {time.monotonic() - began:4.1f} s: put {item}")
    queue.put(item)
    time.sleep(pause)
