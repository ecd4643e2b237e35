"""The server's half of the target `mosec`: `mosec_server.py BATCH DELAY_MS INSTANCES`; the rest is in variables MOSEC_...

Without arguments, nothing is set.

It runs where mosec is installed, and Batchproof need not be.
"""

import sys

import numpy as np
from batchproof_witness import Witnesses
from mosec import Server, Worker

BATCH, *ASKED = map(int, sys.argv[1:] or [1])  # in the workers too


class WitnessWorker(Worker):
    """The witness, in a process for each instance. Payloads and answers are JSON lists."""

    def __init__(self):
        """Open the log."""
        super().__init__()
        self.witness = Witnesses()

    def forward(self, data):
        """Run one batch: a list of payloads, one for each request -> a list of (echo, info)."""
        batch = data if BATCH > 1 else [data]  # without batching, mosec hands over one payload as it is
        answers = self.witness.execute([np.array(rows) for rows in batch])
        lists = [[part.tolist() for part in answer] for answer in answers]
        return lists if BATCH > 1 else lists[0]


if __name__ == "__main__":
    server = Server()
    if ASKED:
        delay_ms, instances = ASKED
        day = 24 * 3600  # what a batch may take: it is not asked for, and the default is MOSEC_TIMEOUT
        server.append_worker(WitnessWorker, num=instances, max_batch_size=BATCH, max_wait_time=delay_ms, timeout=day)
    else:
        server.append_worker(WitnessWorker)
    server.run()
