"""Whether LitServe answers requests that come after Ctrl+C. Needs litserve only."""

import os
import signal
import subprocess
import sys
import time
from http.client import HTTPConnection

import litserve as ls


class Echo(ls.LitAPI):
    def setup(self, device): ...

    def predict(self, x):
        return x


def ask():
    connection = HTTPConnection("127.0.0.1", 8771, timeout=5)
    try:
        connection.request("POST", "/predict", "{}", {"Content-Type": "application/json"})
        return connection.getresponse().status
    except OSError as error:
        return type(error).__name__


if __name__ == "__main__" and sys.argv[1:]:
    ls.LitServer(Echo(), accelerator="cpu").run("127.0.0.1", 8771, generate_client_file=False, log_level="error")
elif __name__ == "__main__":
    server = subprocess.Popen([sys.executable, __file__, "serve"], stderr=subprocess.DEVNULL)
    while ask() != 200:
        time.sleep(0.2)
    began = time.monotonic()
    os.kill(server.pid, signal.SIGINT)
    while server.poll() is None:
        print(f"{time.monotonic() - began:.2f} s after Ctrl+C: {ask()}", flush=True)
        time.sleep(0.02)
    print(f"{time.monotonic() - began:.2f} s after Ctrl+C the server has ended: {ask()}")
