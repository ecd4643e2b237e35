"""How many requests an idle mosec accepts while a batch is formed: MOSEC_PORT=8772 MOSEC_CAPACITY=2 python mosec_limit.py"""

import os
import threading
import time
from http.client import HTTPConnection

from mosec import Server, Worker


class Model(Worker):
    def forward(self, data):
        print(f"in the model: {data}", flush=True)
        return data


def ask(item):
    connection = HTTPConnection("127.0.0.1", 8772)
    connection.request("POST", "/inference", str(item))
    print(f"{item}: {connection.getresponse().status}", flush=True)


def client():
    time.sleep(5)
    for item in range(6):
        threading.Timer(item / 20, ask, (item,)).start()
    time.sleep(5)
    os.kill(os.getpid(), 2)


if __name__ == "__main__":
    threading.Thread(target=client, daemon=True).start()
    server = Server()
    server.append_worker(Model, max_batch_size=8, max_wait_time=2000)
    server.run()
