"""How mosec forms batches. Needs mosec only: MOSEC_PORT=8770 MOSEC_TIMEOUT=3000 MOSEC_CAPACITY=5 python mosec_batches.py"""

import os
import threading
import time
from http.client import HTTPConnection

from mosec import Server, Worker


class Model(Worker):
    def forward(self, data):  # a number keeps the model busy for that many seconds
        print(f"  {time.monotonic():.1f}: in the model: {data}", flush=True)
        time.sleep(sum(one for one in data if isinstance(one, int)))
        return [f"answer {one}" for one in data if one != "bad" or 1 // 0]


def ask(item, sent):
    connection = HTTPConnection("127.0.0.1", 8770)
    connection.request("POST", "/inference", item)
    reply = connection.getresponse()
    print(f"  {sent:.1f}: {item}: {reply.status} {reply.read()} after {time.monotonic() - sent:.1f} s", flush=True)


def client():
    four = ['"a"', '"b"', '"c"', '"d"']
    for items in ([5.0], four[:1], ['"a"', 0.8, '"b"'], four, ["2", 1.2, *four, '"e"'], ['"a"', '"bad"', *four],
                  ["5", 1.2, *four], ["2", 1.2, *four, '"e"', '"f"', '"g"']):  # fmt: skip
        for item in items:
            time.sleep(item) if isinstance(item, float) else threading.Timer(0, ask, (item, time.monotonic())).start()
            time.sleep(0.02)
        print("delay 1 s, at most 4: that was", time.sleep(6) or items, flush=True)
    os.kill(os.getpid(), 2)


if __name__ == "__main__":
    threading.Thread(target=client, daemon=True).start()
    server = Server()
    server.append_worker(Model, max_batch_size=4, max_wait_time=1000, timeout=60)
    server.run()
