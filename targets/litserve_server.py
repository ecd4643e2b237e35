"""The server's half of the target `litserve`: `litserve_server.py PORT BATCH DELAY_S INSTANCES TIMEOUT_S`.

With nothing but the port, nothing else is set.

It runs where LitServe is installed, and Batchproof need not be.
"""

import sys

import numpy as np
from batchproof_witness import Counted, Witnesses
from litserve import LitAPI, LitServer, server
from litserve.loops import BatchedLoop

COUNTED = Counted()


class WitnessAPI(LitAPI):
    """The witness, in each worker. Payloads and answers are nested lists."""

    def setup(self, device):
        """Open the log."""
        self.witness = Counted(Witnesses())

    def predict(self, x):
        """Run one batch: a list of payloads, one for each request -> a list of (echo, info)."""
        return [[part.tolist() for part in answer] for answer in self.witness.execute([np.array(rows) for rows in x])]


class AloneAPI(WitnessAPI):
    """The same without batches: LitServe hands over one payload at a time."""

    def predict(self, x):
        """Run one request."""
        return super().predict([x])[0]


class Counting(server.RegularRequestHandler):
    """Counts a request from the moment that it is put into the workers' queue: nothing is awaited before that."""

    async def handle_request(self, request, request_type):
        """Answer it."""
        with COUNTED.waiting(await request.json()):
            return await super().handle_request(request, request_type)


if __name__ == "__main__":
    port, *asked = map(float, sys.argv[1:])
    server.RegularRequestHandler = Counting
    if asked:
        batch, delay_s, instances, timeout_s = asked
        api = WitnessAPI(int(batch), delay_s, loop=BatchedLoop())
        lit = LitServer(api, "cpu", workers_per_device=int(instances), timeout=timeout_s or False)
        lit.run("127.0.0.1", int(port), num_api_servers=1, log_level="error", generate_client_file=False)
    else:
        LitServer(AloneAPI()).run("127.0.0.1", int(port))
