"""How TorchServe forms batches. Needs Java 17, torchserve, torch and PyYAML: python torchserve_batches.py FOLDER"""

import json
import subprocess
import sys
import threading
import time
from http.client import HTTPConnection
from pathlib import Path


class Handler:
    def initialize(self, context): ...
    def handle(self, data, context):  # a number keeps the model busy for that many seconds; each answer names its batch
        items = [one["body"] for one in data]
        time.sleep(sum(one for one in items if isinstance(one, int)))
        return [f"{one} of {items}" for one in items if one != "bad" or 1 // 0]

def ask(port, path, value):
    sent, connection = time.monotonic(), HTTPConnection("127.0.0.1", port)
    connection.request("POST", path, json.dumps(value), {"Content-Type": "application/json"})
    answer = " ".join(connection.getresponse().read().decode().split()[:11])
    print(f"  {value}: {answer} after {time.monotonic() - sent:.1f} s", flush=True)

if __name__ == "__main__":
    home, four, run = Path(sys.argv[1]).absolute(), [*"abcd"], [sys.executable, "-m", "ts.model_server"]
    (home / "s/m/MAR-INF").mkdir(parents=True)
    (home / "s/m/MAR-INF/MANIFEST.json").write_text('{"model": {"modelName": "m", "modelVersion": "1", "handler": "h.py"}}')
    (home / "s/m/h.py").write_text((home / "c").write_text("job_queue_size=5") and Path(__file__).read_text())
    start = ["--start", "--disable-token-auth", "--enable-model-api", "--ts-config", "c", "--model-store", "s"]
    subprocess.run([*run, *start], cwd=home, stdout=subprocess.DEVNULL)
    for delay, items in ((1, []), (1000, "a"), (1000, ["a", 0.8, "b"]), (1000, four), (1000, [2, 1.2, *four, "e"]),
                         (0, [2, *four]), (1, [2, *four]), (1, [2, "a", "bad", *"cde"]), (1, [2, *"abcdefg"])):  # fmt: skip
        name = (f"m{time.time():.0f}", time.sleep(10))[0]
        model = {"url": "m", "model_name": name, "batch_size": 4, "max_batch_delay": delay}
        ask(8081, "/models", model | {"initial_workers": 1, "synchronous": True})
        for item in items:
            sleep = isinstance(item, float) and (time.sleep(item) or True)
            sleep or threading.Thread(target=ask, args=(8080, f"/predictions/{name}", item)).start() or time.sleep(0.1)
    subprocess.run([*run, "--stop"], cwd=(time.sleep(5), home)[1])
