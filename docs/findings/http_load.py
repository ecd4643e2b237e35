"""Shows that a load request over HTTP holds up other requests over HTTP until it is done (docs/findings.md).

    python http_load.py [host:http_port]

Needs a Triton with the Python backend and --model-control-mode=explicit, and nothing but Python. Thirty-two connections are
opened, a model is loaded that takes 5 s to initialise, and meanwhile each connection asks whether the server is live.
"""

import base64
import http.client
import json
import sys
import threading
import time

MODEL = b"""
import time
class TritonPythonModel:
    def initialize(self, args):
        time.sleep(5)
    def execute(self, requests):
        raise RuntimeError("not used")
"""
TENSOR = {"data_type": "TYPE_INT32", "dims": [1]}
CONFIG = {"backend": "python", "max_batch_size": 4, "input": [{"name": "IN", **TENSOR}],
          "output": [{"name": "OUT", **TENSOR}], "instance_group": [{"kind": "KIND_CPU", "count": 1}]}
PATHS = "/v2/health/live", "/v2"
ADDRESS = sys.argv[1] if len(sys.argv) > 1 else "localhost:8000"
BODY = json.dumps({"parameters": {"config": json.dumps(CONFIG), "file:1/model.py": base64.b64encode(MODEL).decode()}})
took: dict[str, list[float]] = {"/v2/health/live": [], "/v2": []}


def ask(connection: http.client.HTTPConnection, method: str, path: str, body: str = "") -> None:
    """Send one request, and note how long its answer took."""
    began = time.monotonic()
    connection.request(method, path, body)
    connection.getresponse().read()
    took.setdefault(path, []).append(time.monotonic() - began)


connections = [http.client.HTTPConnection(ADDRESS, timeout=60) for _ in range(32)]
for place, connection in enumerate(connections):
    ask(connection, "GET", PATHS[place % 2])
print(f"before the load: {max(map(max, took.values())):.2f} s at most")
took.clear()
load = http.client.HTTPConnection(ADDRESS, timeout=60)
loading = threading.Thread(target=ask, args=(load, "POST", "/v2/repository/models/slow/load", BODY))
loading.start()
time.sleep(1)
threads = [threading.Thread(target=ask, args=(one, "GET", PATHS[place % 2])) for place, one in enumerate(connections)]
for thread in threads:
    thread.start()
for thread in (*threads, loading):
    thread.join()
for path in PATHS:
    late = [seconds for seconds in took[path] if seconds > 1]
    at_once, longest = len(took[path]) - len(late), max(late, default=0)
    print(f"{path} during the load: {at_once} at once, {len(late)} after up to {longest:.2f} s")
ask(load, "POST", "/v2/repository/models/slow/unload")
