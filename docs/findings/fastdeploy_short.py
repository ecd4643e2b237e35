"""Shows that one batch with a result too few ends fastDeploy's prediction loop for good (docs/findings.md).

    pip install fastdeploy==3.1.1 && python fastdeploy_short.py

It listens on port 8097 of this host. The model leaves out the first result of a batch in which somebody asks for that.
"""

import json
import subprocess
import sys
import tempfile
import time
from http.client import HTTPConnection
from pathlib import Path

RECIPE = Path(tempfile.mkdtemp())
(RECIPE / "example.py").write_text("example = ['x']\n")
(RECIPE / "predictor.py").write_text("def predictor(values, batch_size=1):\n    return values[('short' in values):]\n")
CONFIG = "workers=1,optimal_batch_size=4,host=127.0.0.1,port=8097"
CALL = [sys.executable, "-m", "fastdeploy", "--recipe", str(RECIPE), "--config", CONFIG]


def asked(method: str, path: str, values: object = None) -> str:
    """Return what the server answers within 5 s, or the error."""
    connection = HTTPConnection("127.0.0.1", 8097, timeout=5)
    try:
        connection.request(method, path, json.dumps(values))
        return connection.getresponse().read().decode()
    except OSError as error:
        return repr(error)


loop, rest = (subprocess.Popen([*CALL, half], stderr=subprocess.DEVNULL) for half in ("--loop", "--rest"))
tries = iter(range(60))
while "prediction" not in asked("POST", "/infer", ["a"]) and next(tries, None) is not None:
    time.sleep(1)
for sent in (["short", "b"], ["c"]):
    print(sent, "->", asked("POST", "/infer", sent))
print("health:", asked("GET", "/health"), "- the loop has ended with", loop.poll())
[half.terminate() for half in (loop, rest)]
