"""Counts the batches that a backlog leaves in, and the gaps between them, driven through Batchproof (docs/findings.md).

    python pauses.py --trials 60 --busy 4 --head-ms 100

See --help for the other options.
"""

import argparse
import subprocess
import sys
from collections import Counter
from itertools import pairwise

from batchproof.fixtures.driving.script import MS, Entered, Queued, Release, Send, Step
from batchproof.fixtures.judging.patience import PATIENCE
from batchproof.fixtures.judging.session import Session
from batchproof.reference_batcher import BatcherConfig
from batchproof.targets import resolve


def main() -> None:
    """Hold every instance with a plug, queue 12 requests (20 with two instances), let go, and count."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--target", default="triton")
    for name in ("before", "pause-ms", "head-ms", "work-ms", "delay-ms", "timeout-ms", "busy"):
        parser.add_argument(f"--{name}", type=int, default=0)
    parser.add_argument("--trials", type=int, default=20)
    parser.add_argument("--instances", type=int, default=1)
    args = parser.parse_args()

    config = BatcherConfig(
        max_batch_size=4,
        max_queue_delay_ns=args.delay_ms * MS,
        queue_timeout_ns=args.timeout_ms * MS,
        instances=args.instances,
    )
    script: list[Step] = []
    for i in range(args.instances):
        script += Send(f"plug{i}", hold="gate"), Entered(f"plug{i}")
    for i in range(1, 4 + 8 * args.instances + 1):
        pause_ms, work_ms = args.pause_ms if i == args.before else 0, args.head_ms if i == 1 else args.work_ms
        script += Send(f"r{i}", after_ns=pause_ms * MS, work_ns=work_ms * MS), Queued(i)
    script.append(Release("gate"))

    busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(args.busy)]
    session, seen = Session(resolve(args.target), PATIENCE["normal"], seed=1), Counter[tuple[int, ...]]()
    gaps_ms: list[int] = []
    try:
        for _ in range(args.trials):
            timeline = session.drive(config, tuple(script))
            backlog = [run for run in timeline.executions if not timeline.names(run)[0].startswith("plug")]
            seen[tuple(sum(run.rows) for run in backlog)] += 1
            runs = timeline.executions
            gaps_ms += [(b.enter_ns - a.exit_ns) // MS for a, b in pairwise(runs) if a.exit_ns]
    finally:
        session.close()
        for process in busy:
            process.kill()
    print(dict(seen))
    if args.instances == 1:
        long = [ms for ms in gaps_ms if ms > 100]
        print(f"{len(long)} of {len(gaps_ms)} gaps between two batches are over 100 ms: {sorted(long)}")


if __name__ == "__main__":
    main()
