"""The folder of a deployment: its log, its gates and its count, with the witnesses in another process."""

from __future__ import annotations

import subprocess
import textwrap
from pathlib import Path

from batchproof.targets.kit import Folder, Interpreter
from batchproof.targets.protocol import Request

SERVER = textwrap.dedent("""
    import json, sys
    import numpy as np
    from batchproof_witness import Counted, Witnesses
    assert not any(name.split(".")[0] == "batchproof" for name in sys.modules)
    counted = Counted(Witnesses())
    for line in sys.stdin:
        tensor = np.array(json.loads(line))
        counted.accepted(int(tensor[0, 0]))
        print("accepted", flush=True)
        if sys.stdin.readline() == "run\\n":
            echo, info = counted.execute([tensor])[0]
            print(json.dumps([echo.tolist(), info.tolist()]), flush=True)
""")


def test_the_witness_may_be_in_another_process() -> None:
    """Without Batchproof on its path, it shares the folder: who waits, what was executed, and a gate."""
    folder, request = Folder(), Request("r0", 77, hold=5)
    environment = Interpreter().environment(folder.path, {"MORE": "1"})
    call = [Interpreter().path, "-c", SERVER]
    with subprocess.Popen(call, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdin
        assert server.stdout
        assert folder.queued() == 0
        print(request.tensor().tolist(), file=server.stdin, flush=True)
        assert server.stdout.readline() == "accepted\n"
        assert (folder.queued(), folder.log()) == (1, [])

        folder.release(5)
        print("run", file=server.stdin, flush=True)
        assert server.stdout.readline().startswith("[[[77, 5,")
        server.stdin.close()

    assert folder.queued() == 0
    assert [line.get("serials") for line in folder.log()] == [[77], None]
    assert folder.log() == []
    assert environment["MORE"] == "1"
    folder.remove()
    folder.release(6)
    assert not Path(folder.path).exists()
