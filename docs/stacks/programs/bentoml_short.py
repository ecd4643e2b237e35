"""BentoML: who gets which result if the batch function returns one too few?

Four requests are in a batch, and the function leaves out the result of the first one.
In an environment with `bentoml==1.4.39`, `python bentoml_short.py` starts `bentoml serve` with itself as the service.
"""

import subprocess
import sys
import threading
import time
from pathlib import Path
from urllib import request

import bentoml


@bentoml.service(traffic={"timeout": 30})
class Short:
    @bentoml.api(batchable=True, max_batch_size=4, max_latency_ms=60_000)
    def infer(self, rows: list[str]) -> list[str]:
        print("the model runs", rows, flush=True)
        time.sleep(1)
        return rows[1:] if len(rows) > 1 else rows


def ask(row: str) -> None:
    url, kind, body = "http://127.0.0.1:3112/infer", {"Content-Type": "application/json"}, f'{{"rows": ["{row}"]}}'
    print(f"{row} gets", request.urlopen(request.Request(url, body.encode(), kind)).read().decode(), flush=True)


if __name__ == "__main__":
    serve = [sys.executable, "-m", "bentoml", "serve", "bentoml_short:Short", "--port", "3112", "--host", "127.0.0.1"]
    server = subprocess.Popen(serve, cwd=Path(__file__).parent, stderr=subprocess.DEVNULL)
    time.sleep(12)
    for row in ("first", "Ann", "Bob", "Cid", "Dee"):
        threading.Thread(target=ask, args=(row,)).start()
        time.sleep(0.2)
    time.sleep(4)
    server.terminate()
