"""Shows that a Python model's process that is kept from running while it loads ends the whole server (F-2026-35).

    python slow_stub.py PID host:grpc_port [seconds]

PID is that of tritonserver, which was started with --model-control-mode=explicit. The script is run in its model repository
and puts a model into it, whose import takes two seconds. Half a second after its process has begun, that is stopped for
some seconds (2 by default), as a starved or suspended host would stop it, and then continued.
"""

import os
import signal
import sys
import threading
import time
from pathlib import Path

import tritonclient.grpc as client

SOURCE = """
import time

time.sleep(2)


class TritonPythonModel:
    def execute(self, requests):
        return []
"""
CONFIG = """
name: "slow" backend: "python" max_batch_size: 4
input { name: "x" data_type: TYPE_INT32 dims: 1 }
output { name: "y" data_type: TYPE_INT32 dims: 1 }
"""


def stub(server: int) -> int:
    """Return the process of the model, which is a child of the server; 0 if there is none."""
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            parent = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
            if parent == server and b"/slow/1/model.py" in (folder / "cmdline").read_bytes():
                return int(folder.name)
        except OSError:
            continue
    return 0


def load(address: str, said: list[str]) -> None:
    """Load the model, and note what the server says of it."""
    try:
        client.InferenceServerClient(address).load_model("slow")
        said.append("loaded")
    except client.InferenceServerException as error:
        said.append(str(error)[:200])


def main(server: int, address: str, seconds: float) -> None:
    """Load the model, stop its process for a while, and say what has become of the server."""
    Path("slow/1").mkdir(parents=True, exist_ok=True)
    Path("slow/1/model.py").write_text(SOURCE)
    Path("slow/config.pbtxt").write_text(CONFIG)
    said: list[str] = []
    loading = threading.Thread(target=load, args=(address, said))
    loading.start()
    while not (process := stub(server)):
        time.sleep(0.01)
    time.sleep(0.5)
    os.kill(process, signal.SIGSTOP)
    time.sleep(seconds)
    os.kill(process, signal.SIGCONT)
    loading.join(30)
    time.sleep(2)
    try:
        live = client.InferenceServerClient(address).is_server_live()
    except client.InferenceServerException:
        live = False
    print(f"stopped for {seconds:g} s: {said}; the server {'lives' if live else 'is dead'}")


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2], float(sys.argv[3]) if len(sys.argv) > 3 else 2.0)
