"""How requests that wait for company end when LitServe is closed with Ctrl+C. Needs litserve only, on Linux."""
import json
import os
import signal
import subprocess
import sys
import threading
import time
import urllib.request

import litserve as ls


class Echo(ls.LitAPI):
    def predict(self, x):
        return x


def ask(number):
    began = time.monotonic()
    head = {"Content-Type": "application/json"}
    request = urllib.request.Request("http://127.0.0.1:8769/predict", json.dumps(number).encode(), head)
    try:
        told = urllib.request.urlopen(request, timeout=90).read()
    except OSError as error:
        told = error
    print(f"request {number}: {told!r} after {time.monotonic() - began:.0f} s", flush=True)


if __name__ == "__main__" and sys.argv[1:] == ["serve"]:
    server = ls.LitServer(Echo(max_batch_size=4, batch_timeout=3600), accelerator="cpu", timeout=False)
    server.run(host="127.0.0.1", port=8769, log_level="error", generate_client_file=False)
elif __name__ == "__main__":
    server = subprocess.Popen([sys.executable, __file__, "serve"], start_new_session=True)
    time.sleep(8)
    asking = [threading.Thread(target=ask, args=(number,)) for number in range(2)]
    _ = [thread.start() or time.sleep(0.5) for thread in asking]
    server.send_signal(signal.SIGINT)
    _ = [thread.join() for thread in asking]
    os.killpg(server.pid, signal.SIGKILL)
