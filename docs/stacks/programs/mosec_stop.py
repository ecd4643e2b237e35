"""What becomes of requests that wait for max_wait_time when mosec gets Ctrl+C: MOSEC_PORT=8774 python mosec_stop.py 5000"""

import os
import sys
import threading
import time
from http.client import HTTPConnection

from mosec import Server, Worker


class Model(Worker):
    def forward(self, data):
        return print(f"in the model: {data}", flush=True) or data


def ask(item):
    sent, connection = time.monotonic(), HTTPConnection("127.0.0.1", 8774)
    connection.request("POST", "/inference", str(item))
    try:
        end = connection.getresponse().status
    except OSError as error:
        end = repr(error)
    print(f"{item}: {end} after {time.monotonic() - sent:.1f} s", flush=True)


def client():
    time.sleep(4)
    for item in range(2):
        threading.Thread(target=ask, args=(item,)).start()
    time.sleep(0.5)
    os.kill(os.getpid(), 2)
    print("that was Ctrl+C", flush=True)


if __name__ == "__main__":
    threading.Thread(target=client, daemon=True).start()
    server = Server()
    server.append_worker(Model, max_batch_size=8, max_wait_time=int(sys.argv[1]), timeout=7200)
    server.run()
