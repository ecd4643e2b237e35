"""Shows that libhoney's client ignores two of its options, and that a batch holds an event too many (docs/findings.md).

    pip install libhoney==2.4.0 && python libhoney_options.py

Nothing leaves this process: a session that counts the events of each batch takes the place of the one that sends them.
"""

import json
import time
from types import SimpleNamespace

import libhoney
from libhoney.transmission import Transmission

sizes: list[int] = []


def post(_: str, data: str, **__: object) -> SimpleNamespace:
    """Note how many events a batch has, and say that each was accepted."""
    sizes.append(len(json.loads(data)))
    return SimpleNamespace(status_code=202, json=lambda: [{"status": 202}] * sizes[-1], raise_for_status=lambda: None)


def send(title: str, **options: object) -> None:
    """Send 20 events to a client with these options, and show in which batches they have left after 0.6 s."""
    sizes.clear()
    client = libhoney.Client(writekey="0" * 32, dataset="example", **options)
    client.xmit.session, client.xmit.gzip_enabled = SimpleNamespace(post=post, close=lambda: None), False
    for number in range(20):
        client.new_event({"number": number}).send()
    time.sleep(0.6)
    print(f"{title}: batches of {sizes}")
    client.close()


if __name__ == "__main__":
    send("max_batch_size 4 and send_frequency 30 s of the client", max_batch_size=4, send_frequency=30.0)
    send("the same of the transmission", transmission_impl=Transmission(max_batch_size=4, send_frequency=30.0))
