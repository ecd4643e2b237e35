"""SIGTERM ends LitServe's first process and leaves the others behind, serving. Needs litserve only, on Linux."""
import os
import signal
import subprocess
import sys
import time
import urllib.request

import litserve as ls


class Echo(ls.LitAPI):
    def predict(self, x):
        return x


def healthy():
    try:
        return urllib.request.urlopen("http://127.0.0.1:8768/health").status == 200
    except OSError:
        return False


if __name__ == "__main__" and sys.argv[1:] == ["serve"]:
    server = ls.LitServer(Echo(max_batch_size=4, batch_timeout=0.1), accelerator="cpu")
    server.run(host="127.0.0.1", port=8768, log_level="error", generate_client_file=False)
elif __name__ == "__main__":
    server = subprocess.Popen([sys.executable, __file__, "serve"], start_new_session=True)
    while not healthy():
        time.sleep(0.1)
    server.terminate()
    print(f"the server's first process ended with status {server.wait()}", flush=True)
    time.sleep(40)  # longer than the 30 s that LitServe gives its HTTP side for a graceful end
    print(f"40 s later /health answers: {healthy()}", flush=True)
    os.killpg(server.pid, signal.SIGKILL)
