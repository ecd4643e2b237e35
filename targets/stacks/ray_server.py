"""The server's half of the target `ray`: `ray_server.py HTTP_PORT CONTROL_PORT FOLDER`, a cluster of one node.

It runs where Ray Serve is installed, and Batchproof need not be. The control port takes {"deploy": NAME, ...} and
{"delete": NAME}.
"""

import json
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import ray
from ray import serve


@serve.deployment(ray_actor_options={"num_cpus": 0}, graceful_shutdown_timeout_s=1)
class Model:
    """The witness. There is one in each replica."""

    def __init__(self, folder, size=None, delay_s=None):
        from batchproof_witness import Counted, Witnesses

        self.witness = Counted(Witnesses(folder))
        if size is not None:
            self.run.set_max_batch_size(size)
            self.run.set_batch_wait_timeout_s(delay_s)

    @serve.batch
    async def run(self, requests):
        """Run one batch, without blocking the replica's event loop: Ray's documentation says to keep it free."""
        return [[part.tolist() for part in answer] for answer in await self.witness.execute_async(requests)]

    async def __call__(self, request):
        """Answer one request over HTTP."""
        rows = np.array(await request.json())
        with self.witness.waiting(rows):
            return await self.run(rows)


class Control(BaseHTTPRequestHandler):
    """Deploys applications one at a time, and deletes them without waiting for those that are being deployed."""

    deploying = threading.Lock()

    def do_POST(self):
        """Obey, and answer when it is done."""
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if name := asked.get("delete"):
            serve.delete(name)
        else:
            name, options = asked.pop("deploy"), asked.pop("options", {})
            app = Model.options(**options).bind(**asked)
            with self.deploying:
                serve.run(app, name=name, route_prefix=f"/{name}")
        self.send_response(204)
        self.end_headers()


if __name__ == "__main__":
    http, control, folder = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
    ray.init(include_dashboard=False, num_cpus=2, _temp_dir=folder, logging_level="ERROR", log_to_driver=False)
    serve.start(http_options={"host": "127.0.0.1", "port": http})
    ThreadingHTTPServer(("127.0.0.1", control), Control).serve_forever()
