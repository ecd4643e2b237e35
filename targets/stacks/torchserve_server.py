"""The server's half of the target `torchserve`: `torchserve_server.py JSON` becomes `torchserve`; this file is the handler.

It runs where TorchServe is installed, and Batchproof need not be.
"""

import json
import os
import shutil
import sys
from pathlib import Path

MODEL = {"modelName": "witness", "modelVersion": "1.0", "handler": "witness_handler.py"}
QUIET = """<Configuration><Appenders><Console name="c"/></Appenders>
<Loggers><Root level="warn"><AppenderRef ref="c"/></Root></Loggers></Configuration>"""


class Handler:
    """The witness, in a process for each worker."""

    def initialize(self, context):
        """Open the log."""
        from batchproof_witness import Witnesses

        self.witness = Witnesses()

    def handle(self, data, context):
        """Run one batch: what its requests have in their bodies -> a list of (echo, info)."""
        import numpy as np

        answers = self.witness.execute([np.array(one["body"]) for one in data])
        return [[part.tolist() for part in answer] for answer in answers]


if __name__ == "__main__":
    files = {
        "models/witness/MAR-INF/MANIFEST.json": json.dumps({"model": MODEL}),
        "config.properties": "".join(f"{name}={value}\n" for name, value in json.loads(sys.argv[1]).items()),
        "log4j2.xml": QUIET,
    }
    for name, text in files.items():
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_text(text)
    shutil.copy(__file__, "models/witness/witness_handler.py")
    options = ["--start", "--foreground", "--ncs", "--disable-token-auth", "--enable-model-api", "--model-store", "models"]
    options += ["--ts-config", "config.properties", "--log-config", "log4j2.xml"]
    os.environ["TEMP"] = str(Path.cwd())  # for the sockets of the workers
    os.execv(sys.executable, [sys.executable, "-m", "ts.model_server", *options])  # noqa: S606 - no shell wanted
