"""What TorchServe does with requests of an unregistered model, and its queue limit: python torchserve_lost.py FOLDER"""

import json
import subprocess
import sys
import threading
import time
from http.client import HTTPConnection
from pathlib import Path


class Handler:
    def initialize(self, context): ...
    def handle(self, data, context):  # a number keeps the model busy for that many seconds
        return time.sleep(sum(one["body"] for one in data)) or [f"of {len(data)}" for _ in data]

def ask(port, verb, path, value):
    sent, connection = time.monotonic(), HTTPConnection("127.0.0.1", port, timeout=30)
    connection.request(verb, path, json.dumps(value), {"Content-Type": "application/json"})
    try:
        answer = " ".join(connection.getresponse().read().decode().split())
    except OSError:
        answer = "NO ANSWER"
    print(f"  {verb} {value}: {answer[:90]} after {time.monotonic() - sent:.1f} s", flush=True)

if __name__ == "__main__":
    home, run = Path(sys.argv[1]).absolute(), [sys.executable, "-m", "ts.model_server"]
    (home / "s/m/MAR-INF").mkdir(parents=True)
    (home / "s/m/MAR-INF/MANIFEST.json").write_text('{"model": {"modelName": "m", "modelVersion": "1", "handler": "h.py"}}')
    (home / "s/m/h.py").write_text((home / "c").write_text("job_queue_size=3") and Path(__file__).read_text())
    start = ["--start", "--disable-token-auth", "--enable-model-api", "--ts-config", "c", "--model-store", "s"]
    subprocess.run([*run, *start], cwd=home, stdout=subprocess.DEVNULL)
    for name, delay, items in (("idle", 2000, [0] * 6), ("busy", 1, [5, 0, 0]), ("waits", 60_000, [0, 0])):
        model = {"url": "m", "model_name": name, "batch_size": 8, "max_batch_delay": delay, "initial_workers": 1}
        ask(8081, "POST", "/models", model | {"synchronous": time.sleep(15) or True})
        for item in items:
            threading.Thread(target=ask, args=(8080, "POST", f"/predictions/{name}", item)).start() or time.sleep(0.2)
        if name != "idle":
            ask(8081, "DELETE", f"/models/{name}", "")
    subprocess.run([*run, "--stop"], cwd=(time.sleep(32), home)[1])
