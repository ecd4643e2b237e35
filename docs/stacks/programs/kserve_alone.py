"""KServe's Python server: are requests that wait together executed together, in which order, and does an error spread?

The first of seven requests keeps the model for 1 s, and the fourth raises. Run it in an environment with `kserve==0.21.0`.
"""

import json
import os
import threading
import time
from urllib import error, request

from kserve import Model, ModelServer

URL, HEADERS = "http://127.0.0.1:3112/v1/models/slow:predict", {"Content-Type": "application/json"}


class Slow(Model):
    def predict(self, payload: dict, headers: dict | None = None) -> dict:
        print(f"the model runs {payload['instances']}\n", end="", flush=True)
        time.sleep(1 if payload["instances"] == [0] else 0)
        return {"predictions": [100 // (3 - payload["instances"][0])]}


def ask(number: int) -> None:
    time.sleep(5 + number / 10)
    try:
        reply = request.urlopen(request.Request(URL, json.dumps({"instances": [number]}).encode(), HEADERS))
    except error.HTTPError as why:
        reply = why
    print(f"request {number}: {reply.read().decode()}\n", end="", flush=True)


for number in range(7):
    threading.Thread(target=ask, args=(number,)).start()
threading.Timer(8, os._exit, [0]).start()
model = Slow("slow")
model.ready = True
ModelServer(http_port=3112, enable_grpc=False).start([model])
