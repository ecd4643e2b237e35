"""BentoML: is a request still executed after its client was told that it had timed out?

traffic.timeout is 0.5 s. The first request keeps the model for 1 s, the second waits behind it.
In an environment with `bentoml==1.4.39`, `python bentoml_timeout.py` starts `bentoml serve` with itself as the service.
"""

import subprocess
import sys
import threading
import time
from pathlib import Path
from urllib import error, request

import bentoml


@bentoml.service(traffic={"timeout": 0.5})
class Slow:
    @bentoml.api(batchable=True, max_batch_size=2, max_latency_ms=60_000)
    def infer(self, rows: list[str]) -> list[str]:
        print("the model runs", rows, flush=True)
        return time.sleep(1) or rows


def ask(row: str) -> None:
    url, kind, body = "http://127.0.0.1:3111/infer", {"Content-Type": "application/json"}, f'{{"rows": ["{row}"]}}'
    try:
        print(row, "is answered:", request.urlopen(request.Request(url, body.encode(), kind)).status)
    except error.HTTPError as why:
        print(row, "is refused:", why.code, why.read().decode(), flush=True)


if __name__ == "__main__":
    serve = [sys.executable, "-m", "bentoml", "serve", "bentoml_timeout:Slow", "--port", "3111", "--host", "127.0.0.1"]
    server = subprocess.Popen(serve, cwd=Path(__file__).parent, stderr=subprocess.DEVNULL)
    time.sleep(12)
    for pause, row in ((0.2, "first"), (4, "second")):
        threading.Thread(target=ask, args=(row,)).start()
        time.sleep(pause)
    server.terminate()
