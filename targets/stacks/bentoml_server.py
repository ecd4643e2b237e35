"""The server's half of the target `bentoml`: `bentoml_server.py PORT JSON` becomes `bentoml serve` with this file's service.

It runs where BentoML is installed, and Batchproof need not be.
"""

import json
import os
import sys
from pathlib import Path
from typing import Annotated

import bentoml
import numpy as np
from _bentoml_impl.server.app import ServiceAppFactory
from batchproof_witness import COLUMNS, Counted, Witnesses
from bentoml.validators import DType, Shape

VARIABLE = "BATCHPROOF_BENTOML"
ASKED = json.loads(os.environ.get(VARIABLE) or sys.argv[2])
COUNTED = Counted()
QUEUE = ServiceAppFactory.batch_infer


async def counted(self, name, arguments, options):
    """Count a request from when it is decoded: nothing is awaited before it is in the batcher's queue."""
    with COUNTED.waiting([*arguments, *options.values()][0]):
        return await QUEUE(self, name, arguments, options)


ServiceAppFactory.batch_infer = counted


@bentoml.service(**ASKED.get("service", {}))
class Model:
    """The witness. There is one in each worker process."""

    def __init__(self) -> None:
        self.witness = Counted(Witnesses())

    @bentoml.api(batchable=True, **ASKED.get("batch", {}))
    def infer(self, rows: Annotated[np.ndarray, Shape((-1, len(COLUMNS))), DType("int64")]) -> np.ndarray:
        """Run one batch: the rows of all its requests -> echo and info side by side. BentoML calls it on a thread."""
        return np.concatenate(self.witness.execute_rows(np.asarray(rows, dtype=np.int64)), axis=1)


if __name__ == "__main__":
    os.environ |= {VARIABLE: sys.argv[2], "BENTOML_DO_NOT_TRACK": "True", "BENTOML_HOME": str(Path.cwd() / "home")}
    serve = ["-m", "bentoml", "serve", "bentoml_server:Model", "--host", "127.0.0.1", "--port", sys.argv[1]]
    os.execv(sys.executable, [sys.executable, *serve, "--working-dir", str(Path(__file__).parent)])  # noqa: S606 - no shell wanted
