"""MLServer: who gets the results of what its worker has accepted when the server is stopped with SIGTERM?

Run it in an environment with `mlserver==1.7.1` and `uvloop<0.22`: `python mlserver_stop.py`.
"""
import json
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from pathlib import Path

MODEL = """
import time
from mlserver import MLModel, types
class Model(MLModel):
    async def predict(self, payload):
        time.sleep(1)
        print(f"the model has executed {payload.inputs[0].data[0]}", flush=True)
        return types.InferenceResponse(model_name="m", outputs=[])
"""
def ask(number):
    sent = json.dumps({"inputs": [{"name": "x", "datatype": "INT64", "shape": [1, 1], "data": [number]}]}).encode()
    url, head = "http://127.0.0.1:8769/v2/models/m/infer", {"Content-Type": "application/json"}
    try:
        told = urllib.request.urlopen(urllib.request.Request(url, sent, head), timeout=20).status
    except OSError as error:
        told = error
    print(f"request {number}: {told!r}", flush=True)
with tempfile.TemporaryDirectory() as folder:
    Path(folder, "settings.json").write_text('{"http_port": 8769, "host": "127.0.0.1", "parallel_workers": 1}')
    Path(folder, "model.py").write_text(MODEL)
    Path(folder, "model-settings.json").write_text('{"name": "m", "implementation": "model.Model"}')
    process = subprocess.Popen([Path(sys.executable).with_name("mlserver"), "start", folder], stderr=subprocess.DEVNULL)
    time.sleep(12)
    asking = [threading.Thread(target=ask, args=(number,)) for number in (1, 2)]
    _ = [thread.start() or time.sleep(0.2) for thread in asking]
    process.terminate()
    _ = [thread.join() for thread in asking] + [process.kill()]
