"""LitServe behind a busy model: python litserve_batches.py [timeout in s]. Needs litserve only, on Linux."""

import os
import signal
import sys
import threading
import time
from http.client import HTTPConnection

import litserve as ls


class Model(ls.LitAPI):
    def predict(self, x):  # a number stays in the model for that many seconds
        print("in the model:", x, flush=True)
        time.sleep(sum(item for item in x if isinstance(item, int)))
        return [f"answer {item}" for item in x if item != "bad" or 1 // 0]


def ask(item, path="/predict"):
    sent, connection = time.monotonic(), HTTPConnection("127.0.0.1", 8766)
    try:
        connection.request("POST" if item else "GET", path, item, {"Content-Type": "application/json"})
        reply = connection.getresponse()
        print(f"{item}: {reply.status} {reply.read()} after {time.monotonic() - sent:.1f} s", flush=True)
    except OSError:  # the server is not up yet
        time.sleep(0.2) or ask(item, path)


def client():
    ask(None, "/health")
    for after, item in enumerate(["2", *(f'"{name}"' for name in ("a", "b", "c", "d", "e", "bad", "f", "g", "h"))]):
        threading.Timer(after / 10, ask, (item,)).start()
    threading.Timer(5, os.kill, (os.getpid(), signal.SIGINT)).start()


if __name__ == "__main__":
    threading.Thread(target=client, daemon=True).start()
    server = ls.LitServer(Model(max_batch_size=4), "cpu", timeout=float([*sys.argv, 0][1]) or False)
    server.run(host="127.0.0.1", port=8766, log_level="error", generate_client_file=False)
