"""`batchproof lab spread` makes the network, has the comparison run in it, and removes the network whatever happens."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from importlib.util import find_spec

from batchproof.load.spread.crew import NEEDED
from batchproof.load.spread.lab.comparison import Order
from batchproof.load.spread.lab.network import Network, NoNetwork, inside
from batchproof.targets.protocol import Misuse

END_S = 60.0  # for the comparison to end in, once it is asked to
SPARE_S = 180.0  # for the server, the workers, and what is made again


def print_comparison(order: Order, workers: int) -> int:
    """Compare, within a bounded time; return the exit status. NoNetwork where none can be made; Misuse without Locust."""
    if find_spec("locust") is None:
        raise Misuse(NEEDED)
    limit_s = SPARE_S + 6 * order.rounds * (order.seconds + 5)
    with Network(workers, order.delay_ns) as network:
        told = replace(order, spaces=tuple(network.spaces)).to_json()
        words = inside(network.hub, sys.executable, "-m", "batchproof.load.spread.lab.comparison", told)
        process = subprocess.Popen(words)
        try:
            return process.wait(limit_s)
        except subprocess.TimeoutExpired:
            raise NoNetwork(f"the comparison took longer than {limit_s:.0f} s") from None
        finally:
            process.terminate()
            try:
                process.wait(END_S)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
