"""The comparison itself, inside the hub of a network: `-m batchproof.load.spread.lab.comparison ORDER`, which is JSON.

One server, which is an embedded Triton with the witness, and one schedule after another, each sent twice: by this process,
next to the server, and by the workers, each at the far end of its cable and with a clock of its own. Prints a table.
"""

from __future__ import annotations

import json
import signal
import sys
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from batchproof.load.runs import Run, open_loop
from batchproof.load.schedule import Schedule, poisson
from batchproof.load.spread.crew import Crew
from batchproof.load.spread.lab.agreement import HEAD, Round, medians, row, verdict
from batchproof.load.spread.lab.network import HUB, inside
from batchproof.load.workload import WORKS, Served, Work, serve
from batchproof.reference_batcher.config import BatcherConfig
from batchproof.targets.kit.processes import Guarded
from batchproof.targets.kit.routes import Route
from batchproof.targets.lifecycle import close
from batchproof.targets.protocol import TargetError

WAIT_NS = 30_000_000_000
AGAIN = 2  # times that a round is made again in which a run is INVALID
AHEAD_S = 1000  # by how much more each worker's clock is ahead of the hub's
SLO_NS = 200_000_000  # as for a service that promises 200 ms; it decides how punctual the generators have to be
CONFIG = BatcherConfig(max_batch_size=8, max_queue_delay_ns=5_000_000)
STATUS = {"PASS": 0, "FAIL": 1, "INCONCLUSIVE": 75}


@dataclass(frozen=True)
class Order:
    """spaces: the workers' namespaces. delay_ns: of each cable, one way. into: a file for all figures; "": none."""

    spaces: tuple[str, ...]
    delay_ns: int
    rate: float
    seconds: float
    rounds: int
    seed: int
    into: str = ""

    def to_json(self) -> str:
        """Return it as text."""
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> Order:
        """Read what `to_json` wrote."""
        given = json.loads(text)
        return cls(**{**given, "spaces": tuple(given["spaces"])})


def compare(order: Order, served: Served, crew: Crew, say: Callable[[str], None]) -> list[Round]:
    """Send each schedule twice; the two take turns in going first."""
    route = served.deployment.route
    assert route is not None
    rounds: list[Round] = []
    for number in range(order.rounds):
        schedule = poisson(order.rate, order.seconds, order.seed + number, exact=True)
        for _ in range(1 + AGAIN):
            found = _round(served, crew, route, schedule, first=bool(number % 2), way_ns=2 * order.delay_ns)
            say(row(number + 1, found))
            if found.valid or crew.lost():
                break
        rounds.append(found)
    return rounds


def _round(served: Served, crew: Crew, route: Route, schedule: Schedule, *, first: bool, way_ns: int) -> Round:
    def alone() -> Run:
        return open_loop(served.submit, served.clock, schedule, wait_ns=WAIT_NS, slo_ns=SLO_NS)

    def spread() -> Run:
        return crew.open_loop(route, schedule, wait_ns=WAIT_NS, payload=served.payload, slo_ns=SLO_NS)

    if first:
        told = spread()
        return Round(alone(), told, way_ns)
    return Round(alone(), spread(), way_ns)


def clocks(run: Run, ahead_s: dict[str, int]) -> tuple[list[str], bool]:
    """Return a line about each worker, and whether each clock is known as well as it says."""
    lines, right = [], True
    for name, told in run.host["workers"].items():
        clock = told["clock"]
        error_ns = clock["offset_ns"] - ahead_s[name] * 1_000_000_000
        right = right and abs(error_ns) <= clock["within_ns"]
        lines.append(
            f"{name:8} {told['requests']:8} {told['lag_p99_ns'] / 1e6:12.3f} {ahead_s[name]:9} {error_ns / 1e3:13.1f} "
            f"{clock['within_ns'] / 1e3:11.1f} {clock['drift_ppm']:9.2f} {clock['drift_within_ppm']:9.2f} "
            f"{clock['round_trip_ns'] / 1e6:14.3f}"
        )
    return lines, right


CLOCKS = (
    f"{'worker':8} {'requests':>8} {'lag p99, ms':>12} {'ahead, s':>9} {'estimate, us':>13} {'within, us':>11} "
    f"{'drift ppm':>9} {'within':>9} {'round trip, ms':>14}"
)


def run(order: Order, say: Callable[[str], None]) -> str:
    """Compare, and print; return the verdict."""
    from batchproof.targets.triton.embedded import EmbeddedServer
    from batchproof.targets.triton.owned import OwnTriton
    from batchproof.targets.verbs import full

    work: Work = WORKS["accelerator"]
    ahead_s = {f"worker-{place}": AHEAD_S * place for place in range(1, len(order.spaces) + 1)}
    with ExitStack() as stack:
        target = full(OwnTriton(lambda: EmbeddedServer(address=HUB), reached="triton"))
        stack.callback(close, target)
        served = stack.enter_context(serve(target, work, CONFIG, wait_ns=WAIT_NS))

        def heard(text: str) -> None:
            if "--master " in text:
                master = text.rpartition(" ")[2]
                for space, (name, ahead) in zip(order.spaces, ahead_s.items(), strict=True):
                    words = (sys.executable, "-m", "batchproof", "load-worker", "--master", master, "--name", name)
                    worker = Guarded(inside(space, *words, clock_s=ahead), name=name, grace_s=2)
                    stack.callback(worker.finish)

        crew = stack.enter_context(Crew(len(order.spaces), bind=(HUB, 0), ours=False, said=heard))
        say(f"{target.info.name} {target.info.version}, {work.says}; batches of {CONFIG.max_batch_size}, 5 ms of delay")
        far = f"{len(order.spaces)} workers, {order.delay_ns / 1e6:g} ms away each"
        say(f"{far}; {order.rate:g}/s for {order.seconds:g} s\n")
        say(HEAD)
        rounds = compare(order, served, crew, say)
    found = medians(rounds)
    told = verdict(found)
    say("median" + f"{'':57}" + " ".join(f"{value:8.4f}" for value in found.values()) if found else "too few valid rounds")
    last = next((one.spread for one in reversed(rounds) if one.spread.host["workers"]), None)
    lines, right = clocks(last, ahead_s) if last else ([], True)
    say("\n" + "\n".join([CLOCKS, *lines]))
    told = told if right else "FAIL"
    say(f"\n{told}: throughput within 2 %, p50 and p99 within 5 % once the known way is taken off"
        + ("" if right else "; and a clock is further off than its estimate says"))  # fmt: skip
    if order.into:
        facts: dict[str, Any] = {"order": asdict(order), "verdict": told, "medians": found}
        text = json.dumps(facts | {"rounds": [one.facts() for one in rounds]}, indent=1)
        Path(order.into).write_text(text, encoding="utf-8")
    return told


def main() -> None:
    """Do what the order says; the exit status is that of `batchproof lab`."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        told = run(Order.from_json(sys.argv[1]), lambda text: print(text, flush=True))
    except TargetError as error:
        sys.exit(f"batchproof: {error}")
    except KeyboardInterrupt:
        sys.exit(130)
    sys.exit(STATUS[told])


if __name__ == "__main__":
    main()
