"""The adapter kit: what every adapter needs again. docs/adapters.md has it as a table.

Client side: `Folder`, `Guarded`, `free_port`, `until`, `Pool`, `Loop`, `HttpClient`, `cancel`, `Interpreter`. In the
processes of the stack: `Witnesses` and `Counted`, which need numpy only.
"""

from batchproof.targets.kit.cancelling import cancel
from batchproof.targets.kit.folder import Folder
from batchproof.targets.kit.http import HttpClient, HttpError, http_kind, http_status
from batchproof.targets.kit.interpreter import Interpreter
from batchproof.targets.kit.loop import Loop
from batchproof.targets.kit.malformed import malformed
from batchproof.targets.kit.pool import Pool
from batchproof.targets.kit.ports import free_port, free_ports
from batchproof.targets.kit.processes import Guarded
from batchproof.targets.kit.readiness import listens, until
from batchproof.targets.kit.server import Server
from batchproof.targets.kit.v2 import V2Grpc, V2Http
from batchproof.targets.witness import Counted, Witnesses, split_rows

__all__ = [
    "Counted",
    "Folder",
    "Guarded",
    "HttpClient",
    "HttpError",
    "Interpreter",
    "Loop",
    "Pool",
    "Server",
    "V2Grpc",
    "V2Http",
    "Witnesses",
    "cancel",
    "free_port",
    "free_ports",
    "http_kind",
    "http_status",
    "listens",
    "malformed",
    "split_rows",
    "until",
]
