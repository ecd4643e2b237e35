"""LitServe gives a lone request to the model before batch_timeout is over. Needs litserve only, on Linux."""

import contextlib
import json
import os
import signal
import threading
import time
import urllib.request

import litserve as ls

URL = "http://127.0.0.1:8765"


class Waited(ls.LitAPI):
    def predict(self, x):  # a batch: the moments at which its requests were sent
        return [time.monotonic() - sent for sent in x]


def client():
    ready = False
    while not ready:
        time.sleep(0.1)
        with contextlib.suppress(OSError):
            ready = urllib.request.urlopen(f"{URL}/health").status == 200
    for pause in (0.1, 0.3, 0.5, 0.7, 0.9, 0.2, 0.4, 0.6, 0.8):
        time.sleep(pause)
        body, headers = json.dumps(time.monotonic()).encode(), {"Content-Type": "application/json"}
        with urllib.request.urlopen(urllib.request.Request(f"{URL}/predict", body, headers)) as answer:
            print(f"alone, batch_timeout 1.0 s: in the model after {float(answer.read()):.3f} s", flush=True)
    os.kill(os.getpid(), signal.SIGINT)


if __name__ == "__main__":
    api = Waited(max_batch_size=8, batch_timeout=1.0)
    threading.Thread(target=client, daemon=True).start()
    server = ls.LitServer(api, accelerator="cpu", timeout=False)
    server.run(host="127.0.0.1", port=8765, log_level="error", generate_client_file=False)
